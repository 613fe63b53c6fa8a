/**
 * Row-level security of rows that belong to organizations. The policies ask `svc.my_orgs()`, which reads the memberships.
 * Next hop: `sql/organizations/my_orgs.sql`; `src/organizations/check-organizations.ts` compares the roles with those of auth.ts.
 */
import { Column, is, sql } from "drizzle-orm";
import { type AnyPgColumn, type PgPolicy, pgPolicy } from "drizzle-orm/pg-core";
import { DefinitionError } from "../kit/definition-error.ts";
import { platformSql } from "../postgres/anonymous-gate.ts";
import { authenticated, checkKeys, isCaller, readsTeams, writes } from "./rls.ts";

/** The name of a role, as the tables accept it (`migrations/0067_create_organizations.sql`). */
const rolePattern = /^[a-z][a-z0-9_-]{0,30}$/;

/** Which members: all, or those with one of the roles. */
export type OrgMembers = "member" | readonly string[];

/**
 * Rows belong to organizations: each row names one in `orgColumn`, and its members read and write the row. All
 * organizations of the caller count, so one page can show several.
 *
 * @param orgColumn     text, with the id of the organization
 * @param options.read  `"member"`: all members; or a list of roles. (Default: `"member"`)
 * @param options.write the same, or `"nobody"`; who writes must read, too. (Default: who reads)
 * @param options.author a column with the id of a user: rows are written by this user alone, while the user is one of those
 *   that `write` names, such as comments. (Default: all of those write every row)
 * @throws DefinitionError for a column that is no text, and for a list that is empty or names no roles. A role that auth.ts
 *   does not declare is refused when the application is loaded
 * @example
 * export const invoices = pgTable("invoices", { … }, (t) => orgRls(t.orgId, { write: ["owner", "admin", "editor"] }));
 */
export function orgRls(
  orgColumn: AnyPgColumn,
  options: { read?: OrgMembers; write?: OrgMembers | "nobody"; author?: AnyPgColumn } = {},
): PgPolicy[] {
  checkKeys("orgRls", options, ["read", "write", "author"]);
  const { read = "member", write = read, author } = options;
  checkColumn(orgColumn);
  checkMembers("read", read, ["member"]);
  checkMembers("write", write, ["member", "nobody"]);
  checkReaders(read, write);
  const own = author && isCaller(author, "orgRls");
  const reads = isOfCaller(orgColumn, read);
  const select = pgPolicy("select_org", { for: "select", to: authenticated, using: reads });
  readsTeams(select, { column: orgColumn.name, ...memberships });
  if (write === "nobody") {
    if (!own) return [select];
    throw new DefinitionError('orgRls: author says who writes rows, and write is "nobody".', {
      hint: "Leave one out.",
    });
  }
  const member = isOfCaller(orgColumn, write);
  return [select, ...writes("org", authenticated, own ? sql`${own} and ${member}` : member)];
}

/** The table of memberships, for realtime. */
const memberships = {
  schema: "svc",
  table: "organization_members",
  team: "org_id",
  user: "user_id",
  isUuid: false,
} as const;

/** An array, for the reason in `memberRls`. The names of roles need no quoting. */
function isOfCaller(column: AnyPgColumn, members: OrgMembers) {
  const roles = members === "member" ? "" : members.map((role) => `'${role}'`).join(", ");
  return sql`${column} = any (array(select svc.my_orgs(${platformSql(roles)})))`;
}

function checkColumn(column: AnyPgColumn): void {
  if (is(column, Column) && ["PgText", "PgVarchar"].includes(column.columnType)) return;
  const given = is(column, Column) ? `column "${column.name}"` : "no column";
  throw new DefinitionError(`orgRls got ${given}, which cannot hold the id of an organization.`, {
    hint: 'Name the property of a column such as orgId: text("org_id").notNull().references(() => organizations.id, { onDelete: "cascade" }).',
  });
}

/** Types are not checked at run time. */
function checkMembers(option: string, given: unknown, words: readonly string[]): void {
  if (words.includes(given as string)) return;
  const isList = Array.isArray(given) && given.length > 0;
  if (isList && given.every((role) => typeof role === "string" && rolePattern.test(role))) return;
  throw new DefinitionError(`orgRls: ${option} is ${JSON.stringify(given) ?? typeof given}.`, {
    hint: `Give ${words.map((word) => JSON.stringify(word)).join(", ")} or a list of roles that auth.ts declares, such as ["owner", "admin"].`,
  });
}

/** PostgreSQL finds a row to change by the policy for reading. */
function checkReaders(read: OrgMembers, write: OrgMembers | "nobody"): void {
  if (read === "member" || write === "nobody") return;
  const blind = write === "member" ? ["every member"] : write.filter((role) => !read.includes(role));
  if (blind.length === 0) return;
  throw new DefinitionError(`orgRls: ${blind.join(", ")} may write rows, but not read them.`, {
    hint: "Add the roles to read, or leave them out of write.",
  });
}
