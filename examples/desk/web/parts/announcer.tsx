/**
 * Says results and failures, on the screen and to screen readers. Results go away by themselves; failures stay until
 * they are closed, or something else is said.
 */
import { createContext, type ReactNode, useCallback, useContext, useEffect, useState } from "react";
import { linesOf } from "./problem.tsx";

type Announce = (what: string | Error) => void;

const AnnounceContext = createContext<Announce>(() => {});

/** Gives a function that says a sentence, or what is wrong. */
export const useAnnounce = () => useContext(AnnounceContext);

/** In milliseconds. */
const shownFor = 5_000;

export function Announcer({ children }: { children: ReactNode }) {
  const [said, setSaid] = useState<{ what: string | Error }>();
  const announce = useCallback<Announce>((what) => setSaid({ what }), []);
  const failed = said?.what instanceof Error;

  useEffect(() => {
    if (!said || failed) return;
    const timer = setTimeout(() => setSaid(undefined), shownFor);
    return () => clearTimeout(timer);
  }, [said, failed]);

  const close = () => setSaid(undefined);
  // Both regions are always there: readers follow the ones they know.
  return (
    <AnnounceContext value={announce}>
      {children}
      <div role="status" className="toast">
        {said && !failed && String(said.what)}
      </div>
      <div role="alert" className="toast failure">
        {said?.what instanceof Error && (
          <>
            <span>{linesOf(said.what).join(" ")}</span>
            <button type="button" onClick={close}>
              Close
            </button>
          </>
        )}
      </div>
    </AnnounceContext>
  );
}
