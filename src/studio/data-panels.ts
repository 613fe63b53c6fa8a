/**
 * Data and Policies: rows as a viewer gets them, and the rules that decide it.
 * Next hop: `rows.ts` for Data; `src/postgres/row-access.ts` for Policies.
 */
import { z } from "zod";
import { SvcError } from "../kit/svc-error.ts";
import { type Access, wordsOf } from "../postgres/access-rules.ts";
import { type AsCaller, type Verdict, verdict } from "../postgres/row-access.ts";
import { panel, type Tools } from "./panel.ts";
import { cellInput, columnsOf, key, pageInput, readCell, readRows, tableName } from "./rows.ts";
import { viewAs, viewer } from "./view.ts";

const listAccess = async ({ ask }: Tools, table: string | null): Promise<Access[]> =>
  (await ask("select svc_private.studio_access($1) as rule", [table])).map(({ rule }) => rule);

export const dataPanels = {
  users: panel(z.strictObject({ search: z.string().max(200) }), ({ search }, { ask }) =>
    ask("select * from svc_private.studio_users($1, 20)", [search]),
  ),
  tables: panel(z.strictObject({}), (_, { ask }) => ask("select * from svc_private.studio_tables()")),
  rows: panel(pageInput, (input, { read }) => readRows(read, input)),
  cell: panel(cellInput, (input, { read }) => readCell(read, input)),
  policies: panel(z.strictObject({ table: tableName.nullable().default(null) }), async ({ table }, tools) =>
    (await listAccess(tools, table)).map((rule) => ({ ...rule, words: wordsOf(rule) })),
  ),
  explain: panel(z.strictObject({ table: tableName, as: viewer, key }), async ({ table, as, key }, tools) => {
    const role = as === null ? "svc_anonymous" : "svc_authenticated";
    const rules = (await listAccess(tools, table)).filter((rule) => rule.role === role);
    return viewAs(tools.read, as, async (transaction) => {
      await columnsOf(transaction, table);
      const text = "select svc_private.studio_record($1, $2) as row";
      const row: string | null = (await transaction.asLogin({ text }, [table, key])).rows[0].row;
      if (row === null) throw new SvcError("NOT_FOUND", `${table} has no such row at all.`);
      const ask: AsCaller = async (text, values) => (await transaction.query({ text }, values)).rows[0] ?? {};
      const verdicts: Verdict[] = [];
      for (const rule of rules) verdicts.push(await verdict(rule, row, ask));
      return verdicts;
    });
  }),
};
