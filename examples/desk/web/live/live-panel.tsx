/**
 * The start page: two people on one table in one window, and SQL on the same table. Nobody has to sign in.
 * Next hop: `guests.ts` creates the two, `person-pane.tsx` is what each sees.
 */
import { SvcProvider } from "@svc/react";
import { useCallback, useEffect, useRef, useState } from "react";
import policies from "../../sql/policies/public.cards.sql?raw";
import { Problem } from "../parts/problem.tsx";
import { Skeleton } from "../parts/skeleton.tsx";
import { Approval } from "./approval.tsx";
import { GlassStrip } from "./glass-strip.tsx";
import { enterGuests, type Guest, type Name, names } from "./guests.ts";
import { Handbook } from "./handbook.tsx";
import { type Card, PersonPane } from "./person-pane.tsx";
import { SqlBox } from "./sql-box.tsx";
import lines from "./use-cards.ts?raw";

type ByName<T> = Partial<Record<Name, T>>;

export function LivePanel() {
  const [guests, setGuests] = useState<Guest[]>();
  const [error, setError] = useState<Error>();
  const [cards, setCards] = useState<ByName<Card[]>>({});
  const [times, setTimes] = useState<ByName<number>>({});
  const started = useRef<number>(undefined);

  const enter = useCallback(() => {
    setError(undefined);
    guestsOfPage().then(setGuests, setError);
  }, []);
  useEffect(enter, [enter]);

  const onCards = useCallback((name: Name, seen: Card[]) => {
    setCards((before) => ({ ...before, [name]: seen }));
    const start = started.current;
    if (start !== undefined) setTimes((before) => ({ [name]: performance.now() - start, ...before }));
  }, []);
  const onStart = useCallback(() => {
    started.current = performance.now();
    setTimes({});
  }, []);

  const known = new Set(Object.values(cards).flatMap((seen) => seen.map(({ id }) => id)));
  return (
    <div className="live">
      <h2 tabIndex={-1}>Two people, one table</h2>
      <p className="soft">
        Ann and Bob are signed in here, each with a session. Change something on one side: the other side follows.
      </p>
      {error && <Problem error={error} retry={enter} />}
      {!guests && !error && (
        <div className="panes">
          {names.map((name) => (
            <div key={name} className="card pane">
              <Skeleton rows={4} />
            </div>
          ))}
        </div>
      )}
      {guests && (
        <>
          <div className="panes">
            {guests.map(({ name, client }) => (
              <SvcProvider key={name} apiClient={client}>
                <PersonPane name={name} hidden={known.size - (cards[name]?.length ?? known.size)} onCards={onCards} />
              </SvcProvider>
            ))}
          </div>
          <GlassStrip times={times} onStart={onStart} />
          <SqlBox guests={guests} times={times} />
          <Approval guests={guests} />
          <Handbook />
          <details className="card">
            <summary>The lines that make it</summary>
            <h3>In the browser</h3>
            <pre>{lines}</pre>
            <h3>In PostgreSQL</h3>
            <pre>{policies}</pre>
          </details>
        </>
      )}
      {guests && location.hostname === "localhost" && (
        <p className="soft">
          <code>npm run studio</code> in another terminal opens Studio: this table as Ann, as Bob or as nobody, the rows
          that are hidden and why, jobs and sessions.
        </p>
      )}
    </div>
  );
}

let entered: Promise<Guest[]> | undefined;

/** Once for the page, also when the section is left and comes back. */
function guestsOfPage(): Promise<Guest[]> {
  entered ??= enterGuests();
  entered.catch(() => (entered = undefined));
  return entered;
}
