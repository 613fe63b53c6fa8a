/**
 * Who sees what: one section at a time, the one that the address names. Private ones begin with the entrance.
 * Next hop: `sections.tsx` for what there is, `entrance.tsx`.
 */
import { useAuth } from "@svc/react";
import { useEffect, useRef } from "react";
import { Entrance } from "./entrance.tsx";
import { Navigation } from "./navigation.tsx";
import { useSection } from "./sections.tsx";

export function App() {
  const { user } = useAuth();
  const section = useSection();
  const main = useRef<HTMLElement>(null);
  const shown = useRef(section);

  // After a navigation, screen readers announce the section and read from the top. The page was not loaded again, so the
  // browser does not do this.
  useEffect(() => {
    document.title = `${section.name} · Desk`;
    if (shown.current === section) return;
    shown.current = section;
    scrollTo(0, 0);
    main.current?.querySelector<HTMLElement>("h2")?.focus({ preventScroll: true });
  }, [section]);

  // The key: whatever a panel still holds of one person, the next one gets a new panel.
  const key = `${section.id} of ${user?.id}`;
  return (
    <>
      <Navigation section={section} />
      <main ref={main}>
        {!section.isPrivate ? (
          <section.Panel key={key} user={user} />
        ) : user ? (
          <section.Panel key={key} user={user} />
        ) : (
          <Entrance />
        )}
      </main>
    </>
  );
}
