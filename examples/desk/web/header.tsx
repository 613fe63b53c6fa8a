/** The top of the page: where one is, whether changes arrive, who is signed in. */
import { useAuth } from "@svc/react";
import { useAnnounce } from "./parts/announcer.tsx";
import { StatusLight } from "./parts/status-light.tsx";
import type { View } from "./use-view.ts";

export function Header({ view }: { view: View }) {
  const { user, signOut } = useAuth();
  const announce = useAnnounce();
  // Signed out here in any case; what fails is only telling the service.
  const leave = () => signOut().then(() => announce("Signed out."), announce);
  const here = (one: View) => (view === one ? "page" : undefined);
  return (
    <header>
      <h1>
        <svg aria-hidden="true" viewBox="0 0 16 16">
          <rect width="16" height="16" rx="4.5" />
          <path d="M4.3 8.4 7 11l4.8-5.6" />
        </svg>
        Desk
      </h1>
      <StatusLight />
      <nav aria-label="Sections">
        <a href="#/mine" aria-current={here("mine")}>
          {user ? "My tasks" : "Sign in"}
        </a>
        <a href="#/board" aria-current={here("board")}>
          Board
        </a>
        <a href="#/docs" aria-current={here("docs")}>
          Docs
        </a>
      </nav>
      {user && (
        <p className="account">
          <span title={user.email}>{user.name}</span>
          <button type="button" className="quiet" onClick={leave}>
            Sign out
          </button>
        </p>
      )}
    </header>
  );
}
