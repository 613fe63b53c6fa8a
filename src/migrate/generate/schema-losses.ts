/** Writes a comment above a statement that loses data or may fail on existing rows. */
import { dependents, type Snapshot, type Table } from "./snapshot.ts";

const name = '(?<table>(?:"[^"]+"\\.)?"[^"]+")';

interface Rule {
  pattern: RegExp;
  note: (match: RegExpExecArray) => string;
  /** Statements that avoid it. */
  remedy?: (match: RegExpExecArray) => string;
}

const rules: Rule[] = [
  { pattern: new RegExp(`^DROP TABLE ${name}`), note: ([, table]) => `Loses the table ${table} and every row in it.` },
  {
    pattern: new RegExp(`^ALTER TABLE ${name} DROP COLUMN (?<part>"[^"]+")`, "i"),
    note: ([, table, column]) => `Loses the values of ${column} in every row of ${table}.`,
  },
  {
    pattern: new RegExp(`^DROP TYPE ${name}`),
    note: ([, type]) => `Loses the type ${type}; no column uses it any more.`,
  },
  { pattern: new RegExp(`^DROP SEQUENCE ${name}`), note: ([, sequence]) => `Loses the current value of ${sequence}.` },
  {
    pattern: new RegExp(`^ALTER TABLE ${name} ADD COLUMN ("[^"]+")(?!.*(DEFAULT|GENERATED|serial)).* NOT NULL`),
    note: ([, table]) =>
      `Fails when ${table} has rows, because they would have null there: give it a default, or fill it.`,
    remedy: ([, table, column]) =>
      `To fill it, leave out NOT NULL, and write below: UPDATE ${table} SET ${column} = …; ` +
      `ALTER TABLE ${table} ALTER COLUMN ${column} SET NOT NULL;`,
  },
  {
    pattern: new RegExp(`^ALTER TABLE ${name} ADD CONSTRAINT (?<part>"[^"]+") (UNIQUE|CHECK|FOREIGN KEY)`),
    note: ([, table, constraint]) => `Fails when a row of ${table} does not comply with ${constraint}.`,
  },
  {
    pattern: new RegExp(`^CREATE UNIQUE INDEX (?<part>"[^"]+") ON ${name}`),
    note: ([, , table]) => `Fails when two rows of ${table} have equal values.`,
  },
];

/**
 * @param before a table that is not in it has no rows, so nothing can fail
 * @param after  a constraint that is the same in both is only made again, and a generated column computed again
 */
export function explainLosses(statement: string, before: Snapshot, after: Snapshot): string {
  for (const { pattern, note, remedy } of rules) {
    const match = pattern.exec(statement);
    if (!match) continue;
    const { table = "", part = "" } = match.groups ?? {};
    const key = keyOf(table);
    // Only existing tables can lose data or make a statement fail.
    const isKnown = /^drop /i.test(statement) || key in before.tables;
    const isSafe = isMadeAgain(part.slice(1, -1), before.tables[key], after.tables[key]);
    if (!isKnown || isSafe) return statement;
    const lines = [note(match).replaceAll('"', ""), ...(remedy ? [remedy(match)] : [])];
    return [...lines.map((line) => `-- ${line}`), statement].join("\n");
  }
  return statement;
}

/** Whether a generated column, or a constraint or index that is the same in both. */
function isMadeAgain(name: string, old: Table | undefined, wanted: Table | undefined): boolean {
  const isSame = dependents.some((part) => {
    const [had, has] = [old?.[part][name], wanted?.[part][name]];
    return had !== undefined && JSON.stringify(had) === JSON.stringify(has);
  });
  return isSame || old?.columns[name]?.generated !== undefined;
}

/** The snapshot's key of a table as drizzle-kit writes it: `"notes"`, `"auth"."user"`. */
function keyOf(written: string): string {
  const [first = "", second] = [...written.matchAll(/"([^"]+)"/g)].map(([, part]) => part);
  return second === undefined ? `public.${first}` : `${first}.${second}`;
}
