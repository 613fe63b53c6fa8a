/** Writes a comment above a statement that loses data or may fail on existing rows. */
import type { Snapshot } from "./snapshot.ts";

const name = '((?:"[^"]+"\\.)?"[^"]+")';

const rules: { pattern: RegExp; note: (match: RegExpExecArray) => string }[] = [
  { pattern: new RegExp(`^DROP TABLE ${name}`), note: ([, table]) => `Loses the table ${table} and every row in it.` },
  {
    pattern: new RegExp(`^ALTER TABLE ${name} DROP COLUMN ("[^"]+")`, "i"),
    note: ([, table, column]) => `Loses the values of ${column} in every row of ${table}.`,
  },
  {
    pattern: new RegExp(`^DROP TYPE ${name}`),
    note: ([, type]) => `Loses the type ${type}; no column uses it any more.`,
  },
  { pattern: new RegExp(`^DROP SEQUENCE ${name}`), note: ([, sequence]) => `Loses the current value of ${sequence}.` },
  {
    pattern: new RegExp(`^ALTER TABLE ${name} ADD COLUMN (?!.*(DEFAULT|GENERATED|serial)).* NOT NULL`),
    note: ([, table]) =>
      `Fails when ${table} has rows, because they would have null there: give it a default, or fill it.`,
  },
  {
    pattern: new RegExp(`^ALTER TABLE ${name} ADD CONSTRAINT ("[^"]+") (UNIQUE|CHECK|FOREIGN KEY)`),
    note: ([, table, constraint]) => `Fails when a row of ${table} does not comply with ${constraint}.`,
  },
  {
    pattern: new RegExp(`^CREATE UNIQUE INDEX .* ON ${name}`),
    note: ([, table]) => `Fails when two rows of ${table} have equal values.`,
  },
];

/** @param before a table that is not in it has no rows, so nothing can fail */
export function explainLosses(statement: string, before: Snapshot): string {
  for (const { pattern, note } of rules) {
    const match = pattern.exec(statement);
    // Only existing tables can lose data or make a statement fail.
    const isKnown = /^drop /i.test(statement) || keyOf(match?.[1] ?? "") in before.tables;
    if (match && isKnown) return `-- ${note(match).replaceAll('"', "")}\n${statement}`;
  }
  return statement;
}

/** The snapshot's key of a table as drizzle-kit writes it: `"notes"`, `"auth"."user"`. */
function keyOf(written: string): string {
  const [first = "", second] = [...written.matchAll(/"([^"]+)"/g)].map(([, part]) => part);
  return second === undefined ? `public.${first}` : `${first}.${second}`;
}
