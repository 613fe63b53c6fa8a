/**
 * `svc audit`: what changed in audited tables, newest first, also in rows that are gone.
 * Next hop: `sql/history/list_history.sql`.
 */
import type pg from "pg";
import { DefinitionError } from "../kit/definition-error.ts";
import { byNearness } from "../kit/nearest.ts";
import { short } from "../postgres/schema-names.ts";
import { say } from "./command.ts";
import { rowsOf, systemCommand, tableNamed, withoutQuotes } from "./inspect.ts";
import { before, limit, moment, optionalWord, text } from "./options.ts";
import { printRows } from "./output.ts";
import { type Columns, paint } from "./table.ts";

interface Entry {
  id: string;
  at: Date;
  relation: string;
  row_id: string | null;
  operation: keyof typeof colours;
  actor: string | null;
  login: string;
  via: string | null;
  request: string | null;
  trace: string | null;
  changed: Record<string, [unknown, unknown] | null>;
}

const colours = { insert: 32, update: 36, delete: 31, truncate: 31 } as const;

export const command = systemCommand({
  args: {
    table: optionalWord("A table, by its name in the database. (Default: all that are or were audited)"),
    row: text("Only this row: its id; of a key of several columns a JSON array. (Default: all)", { mayBeEmpty: true }),
    actor: text("Only changes by the user with this id. (Default: all)"),
    since: moment('Only changes since a time: ISO 8601, or how long ago, such as "1 day". (Default: all)'),
    before: before("svc audit"),
    limit,
  },
  run: async (pool, { table, row, actor, since, before, limit }) => {
    const name = table === undefined ? null : await nameOf(pool, table);
    const from = since === undefined ? null : new Date(since);
    const rows = await rowsOf<Entry>(pool, "list_history", name, row, actor, from, before, limit);
    printRows(rows, columns);
    if (rows.length === limit) say(`Older entries: --before ${rows.at(-1)?.id}`);
  },
});

const columns: Columns<Entry> = {
  entry: "id",
  "at (UTC)": "at",
  table: "relation",
  row: "row_id",
  operation: ({ operation }) => paint(operation, colours[operation]),
  by: ({ actor, login }) => actor ?? login,
  via: ({ via, request }) => [via, request].filter((part) => part !== null).join(" ") || null,
  changed: summary,
};

/** Of an update what was and is, each value on one line and shortened. */
function summary({ operation, changed }: Entry): string {
  const names = Object.keys(changed);
  if (operation !== "update") return names.join(", ");
  return names
    .map((name) => {
      const values = changed[name];
      return values ? `${name}: ${values.map(shortened).join(" → ")}` : name;
    })
    .join(", ");
}

function shortened(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length > 40 ? `${text.slice(0, 39)}…` : text;
}

/** The table's name as entries have it. @throws DefinitionError for one that never was audited */
async function nameOf(pool: pg.Pool, name: string): Promise<string> {
  const rows = await rowsOf<{ name: string }>(pool, "list_audited");
  const found = tableNamed(rows, name);
  if (found) return found.name;
  const names = rows.map((row) => short(withoutQuotes(row.name)));
  const [nearest] = byNearness(name, names);
  throw new DefinitionError(`${name} is not audited, and never was.`, {
    hint: nearest
      ? `Did you mean ${nearest}? There are: ${names.join(", ")}.`
      : "No table is: declare one with audited(), then run svc codegen and svc migrate.",
  });
}
