/**
 * `svc audit`: what changed in audited tables, newest first, also in rows that are gone.
 * Next hop: `sql/history/list_history.sql`.
 */
import type pg from "pg";
import { DefinitionError } from "../kit/definition-error.ts";
import { byNearness } from "../kit/nearest.ts";
import { cwdArgument, say } from "./command.ts";
import { defineCommand } from "./define.ts";
import { withSystem } from "./inspect.ts";
import { limitArgument, timeOf, wholeNumber } from "./options.ts";
import { print } from "./output.ts";
import { paint, printable, table, time } from "./table.ts";

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

export const command = defineCommand({
  args: {
    table: {
      type: "positional",
      description: "A table, by its name in the database. (Default: all that are or were audited)",
      required: false,
    },
    ...cwdArgument,
    row: {
      type: "string",
      description: "Only this row: its id; of a key of several columns a JSON array. (Default: all)",
    },
    actor: { type: "string", description: "Only changes by the user with this id. (Default: all)" },
    since: {
      type: "string",
      description: 'Only changes since a time: ISO 8601, or how long ago, such as "1 day". (Default: all)',
    },
    before: {
      type: "string",
      description: "Only entries before this one: the last of the page before. (Default: none)",
    },
    ...limitArgument,
  },
  run: async ({ args }) => {
    const limit = wholeNumber("limit", args.limit);
    const since = timeOf("since", args.since);
    const before = args.before === undefined ? null : entryOf(args.before);
    await withSystem(args.cwd, async (pool) => {
      const name = args.table === undefined ? null : await nameOf(pool, args.table);
      const values = [
        name,
        args.row ?? null,
        args.actor ?? null,
        since === undefined ? null : new Date(since),
        before,
        limit,
      ];
      const text = "select * from svc_private.list_history($1, $2, $3, $4, $5, $6)";
      const { rows } = await pool.query<Entry>(text, values);
      print(rows, () => table(head, rows.map(line)));
      if (rows.length === limit) say(`Older entries: --before ${rows.at(-1)?.id}`);
    });
  },
});

const head = ["entry", "at (UTC)", "table", "row", "operation", "by", "via", "changed"];

const line = (entry: Entry): string[] => [
  entry.id,
  time(entry.at),
  entry.relation,
  printable(entry.row_id ?? "-"),
  paint(entry.operation, colours[entry.operation]),
  printable(entry.actor ?? entry.login),
  printable([entry.via, entry.request].filter((part) => part !== null).join(" ") || "-"),
  printable(summary(entry)),
];

/** Of an update what was and is, each value on one line and shortened. */
function summary({ operation, changed }: Entry): string {
  const names = Object.keys(changed);
  if (operation !== "update") return names.join(", ");
  return names
    .map((name) => {
      const values = changed[name];
      return values ? `${name}: ${values.map(short).join(" → ")}` : name;
    })
    .join(", ");
}

function short(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length > 40 ? `${text.slice(0, 39)}…` : text;
}

function entryOf(text: string): string {
  if (/^[1-9]\d{0,17}$/.test(text)) return text;
  throw new DefinitionError(`--before ${text} is not an entry.`, { hint: "Entries are numbers: see `svc audit`." });
}

/** The table's name as entries have it. @throws DefinitionError for one that never was audited */
async function nameOf(pool: pg.Pool, name: string): Promise<string> {
  const { rows } = await pool.query<{ name: string }>("select name from svc_private.list_audited()");
  const plain = (quoted: string) => quoted.replaceAll('"', "");
  const found = rows.find((row) =>
    [row.name, plain(row.name), plain(row.name).replace(/^public\./, "")].includes(name),
  );
  if (found) return found.name;
  const names = rows.map((row) => plain(row.name).replace(/^public\./, ""));
  const [nearest] = byNearness(name, names);
  throw new DefinitionError(`${name} is not audited, and never was.`, {
    hint: nearest
      ? `Did you mean ${nearest}? There are: ${names.join(", ")}.`
      : "No table is: declare one with audited(), then run svc codegen and svc migrate.",
  });
}
