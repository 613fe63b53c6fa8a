/** SQL as one of the two people, and how long until each of them sees what it changed. */
import type { OutputOf } from "@svc/client";
import { type FormEvent, useId, useState } from "react";
import { Problem } from "../parts/problem.tsx";
import { api } from "../svc/api.ts";
import { type Guest, type Name, names } from "./guests.ts";

const examples = [
  { label: "Change a shared card", text: "update cards set title = title || ' !' where title like 'Order%'" },
  { label: "Read all of them", text: "select title, is_shared from cards order by id" },
  { label: "Read private cards", text: "select title from cards where not is_shared" },
  { label: "Make others' cards private", text: "update cards set is_shared = false" },
];

interface Props {
  guests: Guest[];
  /** Milliseconds from the last click until each person's cards changed. */
  times: Partial<Record<Name, number>>;
}

type Answer = OutputOf<typeof api.cards.run> & { milliseconds: number };

export function SqlBox({ guests, times }: Props) {
  const [who, setWho] = useState<Name>("Bob");
  const [statement, setStatement] = useState(examples[0]?.text ?? "");
  const [answer, setAnswer] = useState<Answer>();
  const [error, setError] = useState<Error>();
  const title = useId();

  const run = async (event: FormEvent) => {
    event.preventDefault();
    const client = guests.find(({ name }) => name === who)?.client;
    setError(undefined);
    const start = performance.now();
    try {
      const given = await client?.mutate(api.cards.run, { statement });
      if (given) setAnswer({ ...given, milliseconds: performance.now() - start });
    } catch (cause) {
      setAnswer(undefined);
      setError(cause as Error);
    }
  };

  return (
    <section className="card sql-box" aria-labelledby={title}>
      <h3 id={title}>SQL on the same table</h3>
      <p className="soft">It runs in PostgreSQL as the person you choose. The policies decide, here too.</p>
      <form onSubmit={run}>
        <fieldset className="segments">
          <legend className="unseen">Run as</legend>
          {names.map((name) => (
            <label key={name}>
              <input type="radio" name="who" checked={who === name} onChange={() => setWho(name)} />
              <span>As {name}</span>
            </label>
          ))}
        </fieldset>
        <p className="examples">
          {examples.map(({ label, text }) => (
            <button key={label} type="button" className="quiet" onClick={() => setStatement(text)}>
              {label}
            </button>
          ))}
        </p>
        <textarea
          aria-label="SQL"
          rows={3}
          spellCheck={false}
          value={statement}
          onChange={(event) => setStatement(event.target.value)}
        />
        <button type="submit">Run</button>
      </form>
      <div aria-live="polite">
        {error && <Problem error={error} />}
        {answer && (
          <>
            <p>
              <strong>{answer.count === 1 ? "1 row" : `${answer.count} rows`}</strong>, {answer.milliseconds.toFixed(0)}{" "}
              ms.
              {names.map(
                (name) => times[name] !== undefined && ` ${name}’s cards changed after ${times[name]?.toFixed(0)} ms.`,
              )}
            </p>
            {answer.rows.length > 0 && <Rows rows={answer.rows} />}
          </>
        )}
      </div>
    </section>
  );
}

function Rows({ rows }: { rows: Record<string, unknown>[] }) {
  const columns = Object.keys(rows[0] ?? {});
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrolls, also by keyboard
    <section className="table" tabIndex={0} aria-label="Rows">
      <table>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column}>{column}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: rows of an answer have no key
            <tr key={index}>
              {columns.map((column) => (
                <td key={column}>{String(row[column])}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
