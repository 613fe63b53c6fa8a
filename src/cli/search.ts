/**
 * `svc search TABLE QUERY`: the best rows by keyword, as a user or an anonymous caller gets them. `--explain` shows the score:
 * rarity, frequency, length and addend of each term. Next hop: `sql/search/find_matches.sql`, `explain_match.sql`.
 */
import type pg from "pg";
import { DefinitionError } from "../kit/definition-error.ts";
import { say } from "./command.ts";
import { findUser, rowsOf, systemCommand, tableNamed, withoutQuotes } from "./inspect.ts";
import { choice, flag, number, text, word } from "./options.ts";
import { conclude, output } from "./output.ts";
import { type Columns, printable, tableOf } from "./table.ts";

interface Found {
  row_id: string;
  score: number;
}
interface Addend {
  row_id: string;
  term: string;
  n: string;
  holding: string;
  documents: string;
  idf: number;
  tf: string;
  length: string;
  average: number;
  norm: number;
  contribution: number;
}
interface Declared {
  name: string;
  fields: string[];
  /** The visibility of all rows, when no column defines it. */
  always: string | null;
}

export const command = systemCommand({
  args: {
    table: word("A searchable table, by its name in the database."),
    query: word("What to look for."),
    corpus: text("The collection.", { default: "default" }),
    visibility: choice(
      ["private", "shared", "public"],
      "private, shared or public. (Default: the table's fixed visibility, else public)",
    ),
    user: text("Who searches, by id or e-mail address; required for private and shared. (Default: nobody)"),
    fields: text("Columns, separated by commas. (Default: all that are declared)"),
    limit: number("Rows at most.", { default: 10, most: 100 }),
    prefix: flag("The last word also finds what begins with it."),
    explain: flag("Show what each term adds to each score."),
  },
  run: async (pool, args) => {
    const fields = args.fields?.split(",").map((field) => field.trim());
    const declared = await declaredTable(pool, args.table, fields);
    const visibility = visibilityOf(declared, args.visibility, args.user);
    const user = args.user === undefined ? null : await findUser(pool, args.user, "--user");
    const asked = [declared.name, declared.fields, args.query, args.corpus, visibility, user];
    const found = await find(pool, asked, args.limit, args.prefix);
    const rows = found.map(({ row_id }) => row_id);
    const addends = args.explain ? await rowsOf<Addend>(pool, "explain_match", ...asked, args.prefix, rows) : [];
    const ofRow = (id: string) => addends.filter(({ row_id }) => row_id === id);
    conclude(
      found.map(({ row_id: id, score }) => ({ id, score, ...(args.explain && { terms: ofRow(id) }) })),
      ...(found.length === 0
        ? [`Nothing found in the corpus "${args.corpus}" with the visibility "${visibility}".`]
        : []),
      ...found.map(({ row_id, score }) => `${score.toFixed(4)}  ${row_id}`),
    );
    if (output.json || !args.explain || found.length === 0) return;
    for (const { row_id, score } of found) {
      process.stdout.write(`\n${printable(row_id)}: ${score.toFixed(4)}\n${tableOf(columns, ofRow(row_id))}`);
    }
    say("\nadds = in query × idf × tf / (tf + norm); norm = k1 × (1 - b + b × length / average).");
  },
});

/** The requested visibility; when the table has only one for all rows, that one. */
function visibilityOf(declared: Declared, asked: string | undefined, user: string | undefined): string {
  const { name, always } = declared;
  if (always !== null && asked !== undefined && asked !== always) {
    throw new DefinitionError(`All rows of ${withoutQuotes(name)} are ${always}: do not pass --visibility.`);
  }
  const visibility = asked ?? always ?? "public";
  if (visibility !== "public" && !user) {
    throw new DefinitionError(
      `Searching ${visibility} rows needs --user: the id or e-mail address of the user who searches.`,
    );
  }
  return visibility;
}

async function declaredTable(pool: pg.Pool, name: string, chosen: string[] | undefined): Promise<Declared> {
  const { rows } = await pool.query<Declared>("select name, fields, always from svc_private.list_searchable()");
  const found = tableNamed(rows, name);
  if (!found) {
    const there = rows.map((row) => withoutQuotes(row.name)).join(", ") || "none: declare one with searchable()";
    throw new DefinitionError(`${name} is not a searchable table. There are: ${there}.`);
  }
  const unknown = chosen?.find((field) => !found.fields.includes(field));
  if (unknown !== undefined) {
    throw new DefinitionError(
      `${unknown} is not a searchable field of ${name}. There are: ${found.fields.join(", ")}.`,
    );
  }
  return { ...found, fields: chosen ?? found.fields };
}

/** @param asked the first six arguments of `find_matches` */
async function find(pool: pg.Pool, asked: unknown[], limit: number, prefix: boolean): Promise<Found[]> {
  const { rows } = await pool.query<Found>(
    `select row_id, score
       from svc_private.find_matches($1, $2, $3, $4, $5, $6, $7, $8) as m, unnest(m.row_ids, m.scores) as u (row_id, score)`,
    [...asked, limit, prefix],
  );
  return rows;
}

const columns: Columns<Addend> = {
  term: "term",
  "in query": "n",
  "in rows": ({ holding, documents }) => `${holding} of ${documents}`,
  idf: ({ idf }) => idf.toFixed(4),
  tf: "tf",
  length: "length",
  average: ({ average }) => average.toFixed(1),
  norm: ({ norm }) => norm.toFixed(4),
  adds: ({ contribution }) => contribution.toFixed(4),
};
