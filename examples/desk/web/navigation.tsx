/**
 * What is always there: the name, whether changes arrive, the sections, who is signed in. On wide screens it stands at the
 * side; on narrow ones the sections are at the bottom, in reach of a thumb.
 */
import { useAuth } from "@svc/react";
import { useAnnounce } from "./parts/announcer.tsx";
import { StatusLight } from "./parts/status-light.tsx";
import { type Section, sections } from "./sections.tsx";

export function Navigation({ section }: { section: Section }) {
  const { user, signOut } = useAuth();
  const announce = useAnnounce();
  // Signed out here in any case; what fails is only telling the service.
  const leave = () => signOut().then(() => announce("Signed out."), announce);
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
        {sections.map(({ id, name, icon }) => (
          <a key={id} href={`#/${id}`} aria-current={section.id === id ? "page" : undefined}>
            <svg aria-hidden="true" viewBox="0 0 24 24">
              {icon}
            </svg>
            {name}
          </a>
        ))}
      </nav>
      <p className="account">
        {user ? (
          <>
            <span title={user.email}>{user.name}</span>
            <button type="button" className="quiet" onClick={leave}>
              Sign out
            </button>
          </>
        ) : (
          !section.isPrivate && <a href="#/tasks">Sign in</a>
        )}
      </p>
    </header>
  );
}
