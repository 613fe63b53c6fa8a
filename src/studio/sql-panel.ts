/**
 * SQL: one statement as a viewer, in the transaction that a call of this user gets, which is read-only. Cells are cut
 * by the server, as in Data.
 * Next hop: `view.ts`.
 */
import pg from "pg";
import { z } from "zod";
import { SvcError } from "../kit/svc-error.ts";
import type { RequestTransaction } from "../postgres/transaction.ts";
import { panel } from "./panel.ts";
import { beginningOf } from "./rows.ts";
import { viewAs, viewer } from "./view.ts";

const mostRows = 200;
const mostCharacters = 400;

const input = z.strictObject({
  as: viewer,
  text: z.string().min(1).max(20_000).describe("One statement: SELECT, WITH, VALUES or TABLE."),
  plan: z.boolean().default(false).describe("Whether to answer the plan of PostgreSQL instead of the rows."),
});

/**
 * What may stand in parentheses; the transaction refuses the writes among them. A comment must not contain its own end:
 * otherwise the number of ways to split a row of comments would make the search endless.
 */
const isQuery = /^(\s|\(|--.*(\n|$)|\/\*(?:(?!\*\/)[\s\S])*\*\/)*(select|with|values|table)\b/i;

/** The end of a statement, with comments behind it. Without quotes and dollars: a text may hold what looks like it. */
const end = /;(?:\s|--[^\n'"$]*(?:\n|$)|\/\*[^*'"$]*\*\/)*$/;

export const sqlPanel = panel(input, ({ as, text, plan }, { read }): Promise<unknown> => {
  const statement = text.replace(end, "");
  if (!isQuery.test(statement)) {
    throw new SvcError("BAD_REQUEST", "This panel reads: it takes SELECT, WITH, VALUES and TABLE.", {
      hint: "Rows are changed by the application's own mutations, or with svc db psql.",
    });
  }
  return viewAs<unknown>(read, as, (transaction) =>
    plan ? explain(transaction, statement) : run(transaction, statement),
  );
});

async function explain(transaction: RequestTransaction, statement: string) {
  const { rows } = await transaction.query({ text: `explain (verbose)\n${statement}` });
  return { plan: rows.map((row) => row["QUERY PLAN"]).join("\n") };
}

async function run(transaction: RequestTransaction, statement: string) {
  const began = performance.now();
  // The line break ends a comment at the statement's end.
  const { fields } = await transaction.query({ text: `select * from (\n${statement}\n) as q limit 0` });
  const names = fields.map((_, index) => `c${index}`);
  const cells = names.map((name) => `left(q.${pg.escapeIdentifier(name)}::text, ${mostCharacters + 1})`);
  const columns = names.length > 0 ? `(${names})` : "";
  const { rows } = await transaction.query({
    text: `select array[${cells}]::text[] as cells from (\n${statement}\n) as q ${columns} limit ${mostRows + 1}`,
  });
  return {
    columns: fields.map(({ name }) => name),
    rows: rows.slice(0, mostRows).map((row) => row.cells.map(shorten)),
    isCut: rows.length > mostRows,
    ms: Math.round(performance.now() - began),
  };
}

function shorten(text: string | null): string | null {
  const { cell, isCut } = beginningOf(text, mostCharacters);
  return isCut ? `${cell} …` : cell;
}
