/**
 * `svc policies`: access rules of tables and views, in words and in SQL, read from the database.
 * Next hop: `sql/catalog/list_access_rules.sql`; `src/postgres/functions.ts` for functions.
 */
import type pg from "pg";
import { DefinitionError } from "../kit/definition-error.ts";
import { type Access, oneLine, wordsOf } from "../postgres/access-rules.ts";
import { callersOf, type DatabaseFunction, listFunctions } from "../postgres/functions.ts";
import { rowsOf, systemCommand } from "./inspect.ts";
import { flag, optionalWord } from "./options.ts";
import { print } from "./output.ts";
import { paint } from "./table.ts";

export const command = systemCommand({
  args: {
    table: optionalWord("Only this table or view. (Default: the application's)"),
    all: flag("The platform's tables, or functions, too."),
    functions: flag("What requests may execute, and what runs with its owner's rights, and why."),
  },
  run: async (pool, args) => {
    if (args.functions) {
      const functions = (await listFunctions(pool)).filter(({ is_platform }) => args.all || !is_platform);
      print(functions, () => functions.map(describeFunction).join(""));
      return;
    }
    const access = await listAccess(pool, args.table ?? null);
    const shown = access.filter(({ is_platform }) => args.all || args.table || !is_platform);
    const tables = Map.groupBy(shown, ({ name }) => name);
    print(shown, () => [...tables].map(([name, rows]) => describe(name, rows)).join("\n"));
  },
});

function describeFunction(one: DatabaseFunction): string {
  const kind = one.is_trigger ? "a trigger" : callersOf(one);
  const rights = !one.is_definer
    ? "with the caller's rights"
    : `with the rights of ${one.owner}${one.reason ? `: ${oneLine(one.reason)}` : paint("; its comment gives no reason (Definer: …)", 33)}`;
  return `${paint(one.name, 1)}\n  ${kind}, ${rights}\n`;
}

/** @throws DefinitionError for an unknown table */
export async function listAccess(pool: pg.Pool, table: string | null): Promise<Access[]> {
  const found = await pool.query("select to_regclass($1)::oid as oid", [table]);
  const oid = found.rows[0].oid;
  const rows = await rowsOf<Access>(pool, "list_access_rules", oid);
  if (table === null || (oid !== null && rows.length > 0)) return rows;
  throw new DefinitionError(`There is no table or view ${table}.`, {
    hint: "Name it as in SQL: tasks, or schema.tasks.",
  });
}

function describe(name: string, rows: readonly Access[]): string {
  const { kind, has_rls } = rows[0] as Access;
  const problem =
    kind === "table"
      ? "row-level security is off: a grant is for all rows"
      : "it lacks security_invoker, or a view beneath it does: policies do not count";
  const said = `${kind === "view" ? "  view" : ""}${has_rls ? "" : paint(`  ${problem}`, 31)}`;
  return `${paint(name, 1)}${said}\n${rows.map(sentence).join("")}`;
}

function sentence(rule: Access): string {
  const { sentence, conditions } = wordsOf(rule);
  const lines = conditions.map(
    ({ link, text, policy, says }) => `    ${link}${text}  -- ${says ? `${policy}: ${says}` : policy}\n`,
  );
  return `  ${sentence}\n${lines.join("")}`;
}
