/** What a click did: the call, the function and the policies in PostgreSQL, the answer, the frame, and when each person saw it. */
import { useEffect, useState } from "react";
import policies from "../../sql/policies/public.cards.sql?raw";
import { type Call, onCall, onFrame } from "./calls.ts";
import { type Name, names } from "./guests.ts";

/** The names of the policies, by command. */
const byCommand = Object.groupBy(
  policies.matchAll(/create policy (\w+) on \S+\s+for (\w+)/g),
  ([, , command]) => `${command}`,
);
const named = (command: string) => (byCommand[command] ?? []).map(([, name]) => `${name}`);

/** What runs in PostgreSQL: a function of sql/crud/cards.sql, or of sql/run_statement.sql. */
const within: Record<string, { runs: string; policies: string[] }> = {
  "cards.create": { runs: "svc_crud.cards_create($1)", policies: named("insert") },
  "cards.update": { runs: "svc_crud.cards_update($1, $2)", policies: [...named("select"), ...named("update")] },
  "cards.remove": { runs: "svc_crud.cards_remove($1)", policies: [...named("select"), ...named("delete")] },
  "cards.run": { runs: "public.run_statement($1)", policies: ["those of the tables that it names"] },
};

interface Props {
  /** Milliseconds from the call until each person's cards changed. */
  times: Partial<Record<Name, number>>;
  onStart: () => void;
}

export function GlassStrip({ times, onStart }: Props) {
  const [call, setCall] = useState<Call>();
  const [frame, setFrame] = useState("");
  useEffect(() => onFrame((who, text) => setFrame((before) => before || `${who}: ${text}`)), []);
  useEffect(
    () =>
      onCall((next) => {
        if (next.status === undefined) {
          onStart();
          setFrame("");
        }
        setCall(next);
      }),
    [onStart],
  );
  const inside = call && within[call.name];
  return (
    <section className="card glass" aria-label="What the last click did">
      {!inside && <p className="soft">Click something above: this strip shows what it does.</p>}
      {inside && (
        <dl>
          <dt>Call</dt>
          <dd>
            {call.who}: <code>{call.name}</code> <code>{call.args}</code>
          </dd>
          <dt>In PostgreSQL</dt>
          <dd>
            <code>{inside.runs}</code> in one transaction, as <code>svc_authenticated</code> with {call.who}’s id
          </dd>
          <dt>Policies</dt>
          <dd>
            <code>{inside.policies.join(", ")}</code>
          </dd>
          <dt>Answer</dt>
          <dd>{call.status === undefined ? "…" : `${call.status} after ${call.milliseconds?.toFixed(0)} ms`}</dd>
          <dt>First frame</dt>
          <dd>{frame ? <code>{frame}</code> : "…"}</dd>
          <dt>Seen</dt>
          <dd>
            {names
              .flatMap((name) => (times[name] === undefined ? [] : `${name} after ${times[name].toFixed(0)} ms`))
              .join(", ") || "by nobody yet"}
          </dd>
        </dl>
      )}
    </section>
  );
}
