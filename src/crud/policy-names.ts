/**
 * The names that policies of the schema pass to functions of svc: roles to `svc.my_orgs('…')`, scopes to
 * `svc.has_scope('…')`. PostgreSQL takes any text, and a misspelt one would shut people or keys out without a word.
 * Next hop: `src/organizations/check-organizations.ts` and `src/app/check-scope-names.ts` compare them with auth.ts.
 */
import { getTableName, is, type SQL } from "drizzle-orm";
import { PgTable } from "drizzle-orm/pg-core";
import { sqlText, tableConfig } from "../kit/table-config.ts";

const textOf = (condition: SQL | undefined) => (condition ? sqlText(condition) : "");

/** @returns the application's tables whose policies call the function, with the texts among its arguments */
export function namesPassedTo(
  name: "my_orgs" | "has_scope",
  schema: Readonly<Record<string, unknown>>,
): { table: string; names: string[] }[] {
  const calls = new RegExp(`\\bsvc\\.${name}\\s*\\(([^()]*)\\)`, "g");
  return Object.values(schema).flatMap((table) => {
    if (!is(table, PgTable)) return [];
    const { schema: space, policies } = tableConfig(table);
    if (space === "svc") return [];
    const text = policies.map(({ using, withCheck }) => `${textOf(using)} ${textOf(withCheck)}`).join(" ");
    const given = [...text.matchAll(calls)].map(([, passed = ""]) => passed);
    if (given.length === 0) return [];
    const names = given.flatMap((passed) => [...passed.matchAll(/'([^']*)'/g)].map(([, one = ""]) => one));
    return [{ table: getTableName(table), names: [...new Set(names)] }];
  });
}
