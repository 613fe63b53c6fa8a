/**
 * `svc search TABLE QUERY`: the best rows by keyword, as a user or an anonymous caller gets them. `--explain` shows the
 * score: rarity, frequency, length and addend of each term. Next hop: `sql/search/find_matches.sql`,
 * `explain_match.sql`.
 */
import type pg from "pg";
import { DefinitionError } from "../kit/definition-error.ts";
import { cwdArgument, say } from "./command.ts";
import { defineCommand } from "./define.ts";
import { findUser, withSystem } from "./inspect.ts";
import { oneOf, wholeNumber } from "./options.ts";
import { conclude, output } from "./output.ts";
import { printable, table } from "./table.ts";

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

export const command = defineCommand({
  args: {
    table: { type: "positional", description: "A searchable table, by its name in the database.", required: true },
    query: { type: "positional", description: "What to look for.", required: true },
    ...cwdArgument,
    corpus: { type: "string", description: "The collection. (Default: default)", default: "default" },
    visibility: {
      type: "string",
      description: "private, shared or public. (Default: the table's fixed visibility, else public)",
    },
    user: {
      type: "string",
      description: "Who searches, by id or e-mail address; required for private and shared. (Default: nobody)",
    },
    fields: { type: "string", description: "Columns, separated by commas. (Default: all that are declared)" },
    limit: { type: "string", description: "Rows at most. (Default: 10)", default: "10" },
    prefix: { type: "boolean", description: "The last word also finds what begins with it." },
    explain: { type: "boolean", description: "Show what each term adds to each score." },
  },
  run: async ({ args }) => {
    const limit = wholeNumber("limit", args.limit, 1, 100);
    const visibilityAsked = oneOf("visibility", args.visibility, ["private", "shared", "public"]);
    await withSystem(args.cwd, async (pool) => {
      const declared = await tableOf(
        pool,
        args.table,
        args.fields?.split(",").map((field) => field.trim()),
      );
      const visibility = visibilityOf(declared, visibilityAsked, args.user);
      const user = args.user === undefined ? null : await findUser(pool, args.user, "--user");
      const asked = [declared.name, declared.fields, args.query, args.corpus, visibility, user];
      const found = await find(pool, asked, limit, args.prefix);
      const addends = args.explain ? await explain(pool, asked, args.prefix, found) : [];
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
        process.stdout.write(`\n${printable(row_id)}: ${score.toFixed(4)}\n${table(head, ofRow(row_id).map(line))}`);
      }
      say("\nadds = in query × idf × tf / (tf + norm); norm = k1 × (1 - b + b × length / average).");
    });
  },
});

/** The requested visibility; when the table has only one for all rows, that one. */
function visibilityOf(declared: Declared, asked: string | null, user: string | undefined): string {
  const { name, always } = declared;
  if (always !== null && asked !== null && asked !== always) {
    throw new DefinitionError(`All rows of ${plain(name)} are ${always}: do not pass --visibility.`);
  }
  const visibility = asked ?? always ?? "public";
  if (visibility !== "public" && !user) {
    throw new DefinitionError(
      `Searching ${visibility} rows needs --user: the id or e-mail address of the user who searches.`,
    );
  }
  return visibility;
}

const plain = (quoted: string) => quoted.replaceAll('"', "");

async function tableOf(pool: pg.Pool, name: string, chosen: string[] | undefined): Promise<Declared> {
  const { rows } = await pool.query<Declared>("select name, fields, always from svc_private.list_searchable()");
  const found = rows.find((row) =>
    [row.name, plain(row.name), plain(row.name).replace(/^public\./, "")].includes(name),
  );
  if (!found) {
    const there = rows.map((row) => plain(row.name)).join(", ") || "none: declare one with searchable()";
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

/** @param asked the first six arguments of `find_matches` and `explain_match` */
async function find(pool: pg.Pool, asked: unknown[], limit: number, prefix: boolean): Promise<Found[]> {
  const { rows } = await pool.query<Found>(
    `select row_id, score
       from svc_private.find_matches($1, $2, $3, $4, $5, $6, $7, $8) as m, unnest(m.row_ids, m.scores) as u (row_id, score)`,
    [...asked, limit, prefix],
  );
  return rows;
}

async function explain(pool: pg.Pool, asked: unknown[], prefix: boolean, found: Found[]): Promise<Addend[]> {
  const text = "select * from svc_private.explain_match($1, $2, $3, $4, $5, $6, $7, $8)";
  return (await pool.query<Addend>(text, [...asked, prefix, found.map(({ row_id }) => row_id)])).rows;
}

const head = ["term", "in query", "in rows", "idf", "tf", "length", "average", "norm", "adds"];

const line = (row: Addend): string[] => [
  row.term,
  row.n,
  `${row.holding} of ${row.documents}`,
  row.idf.toFixed(4),
  row.tf,
  row.length,
  row.average.toFixed(1),
  row.norm.toFixed(4),
  row.contribution.toFixed(4),
];
