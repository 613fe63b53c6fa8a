/**
 * Data and Policies: rows as a viewer gets them, and the rules that decide it.
 * Next hop: `rows.ts` for Data; `src/postgres/row-access.ts` for Policies.
 */
import { z } from "zod";
import { SvcError } from "../kit/svc-error.ts";
import { type Access, wordsOf } from "../postgres/access-rules.ts";
import { verdict } from "../postgres/row-access.ts";
import { panel, type Tools } from "./panel.ts";
import { columnsOf, operators, readCell, readRows } from "./rows.ts";
import { viewAs } from "./view.ts";

const name = z.string().min(1).max(200);
/** The descriptions are for coding agents. */
const tableName = name.describe("With its schema, such as public.tasks.");
export const viewer = z
  .string()
  .max(200)
  .nullable()
  .describe("The id of a user; null is a visitor without an account.");
const key = z.array(z.string().max(10_000)).min(1).max(32).describe("The values of the primary key, as text.");
const filter = z.strictObject({ column: name, operator: z.enum(operators), value: z.string().max(10_000) });

const page = z.strictObject({
  table: tableName,
  as: viewer,
  after: key.nullable().default(null),
  filter: filter.nullable().default(null),
  limit: z.int().min(1).max(200).default(50),
  ghosts: z.boolean().default(false),
});

const listAccess = async ({ ask }: Tools, table: string | null): Promise<Access[]> =>
  (await ask("select svc_private.studio_access($1) as rule", [table])).map(({ rule }) => rule);

export const dataPanels = {
  users: panel(z.strictObject({ search: z.string().max(200) }), ({ search }, { ask }) =>
    ask("select * from svc_private.studio_users($1, 20)", [search]),
  ),
  tables: panel(z.strictObject({}), (_, { ask }) => ask("select * from svc_private.studio_tables()")),
  rows: panel(page, (input, { read }) => readRows(read, input)),
  cell: panel(z.strictObject({ table: tableName, as: viewer, key, column: name }), (input, { read }) =>
    readCell(read, input),
  ),
  policies: panel(z.strictObject({ table: tableName.nullable().default(null) }), async ({ table }, tools) =>
    (await listAccess(tools, table)).map((rule) => ({ ...rule, words: wordsOf(rule) })),
  ),
  explain: panel(z.strictObject({ table: tableName, as: viewer, key }), async ({ table, as, key }, tools) => {
    const role = as === null ? "svc_anonymous" : "svc_authenticated";
    const rules = (await listAccess(tools, table)).filter((rule) => rule.role === role);
    return viewAs(tools.read, as, async (transaction) => {
      await columnsOf(transaction, table);
      const found = await transaction.asLogin({ text: "select svc_private.studio_record($1, $2) as row" }, [
        table,
        key,
      ]);
      const row: string | null = found.rows[0].row;
      if (row === null) throw new SvcError("NOT_FOUND", `${table} has no such row at all.`);
      const verdicts = [];
      for (const rule of rules)
        verdicts.push(
          await verdict(rule, row, async (text, values) => (await transaction.query({ text }, values)).rows[0] ?? {}),
        );
      return verdicts;
    });
  }),
};
