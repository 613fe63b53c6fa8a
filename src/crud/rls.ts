/**
 * Row-level security declared by the author: helpers that return Drizzle policies for a table. They do nothing at run
 * time. The policies are written to the application's migrations, where a DBA can read them.
 * Next hop: the `create policy` statements in the application's `migrations/`.
 */
import { Column, getTableColumns, getTableName, is, type SQL, sql } from "drizzle-orm";
import { type AnyPgColumn, type PgPolicy, type PgPolicyToOption, PgTable, pgPolicy, pgRole } from "drizzle-orm/pg-core";
import { z } from "zod";
import { DefinitionError } from "../kit/definition-error.ts";
import { checkOptions } from "../kit/options.ts";
import { tableConfig } from "../kit/table-config.ts";
import { platformSql } from "../postgres/anonymous-gate.ts";

export const authenticated = pgRole("svc_authenticated").existing();
const everybody = [pgRole("svc_anonymous").existing(), authenticated];

/** The columns with the ids of the users who read a row by a policy. */
const owners = new WeakMap<PgPolicy, readonly string[]>();

/** Whose rows a policy of `memberRls` or `orgRls` shows: those whose `column` holds a team of the caller in a table of memberships. */
export interface TeamScope {
  /** Of the table with the rows. */
  column: string;
  /** The table of memberships, and its columns. */
  schema: string;
  table: string;
  team: string;
  user: string;
  /** Whether the ids of users are UUIDs. */
  isUuid: boolean;
}

/** The scope of a policy for reading. */
const scopes = new WeakMap<PgPolicy, TeamScope>();

/** Records that a policy shows rows only to the members of their team. */
export const readsTeams = (policy: PgPolicy, scope: TeamScope) => scopes.set(policy, scope);

/** What the linter would ask about, by policy: the helper's options say that it is meant. */
const meanings = new WeakMap<PgPolicy, string>();

/** The comment by which a migration tells the linter what the author has declared. */
export const meaningOf = (policy: PgPolicy): string | undefined => meanings.get(policy);

/** @param rules that the linter need not report, because `said` declares them */
function meant(policy: PgPolicy, said: string, rules: readonly string[]): PgPolicy {
  meanings.set(policy, rules.map((rule) => `lint:allow ${rule}: ${said}.`).join(" "));
  return policy;
}

/**
 * The columns with the ids of those who read a row, for realtime: events about a row go only to them.
 *
 * @returns none when others may read rows too, or the author wrote the policies
 */
export function ownerColumns(policies: readonly PgPolicy[]): string[] {
  const columns = reading(policies).map((policy) => owners.get(policy));
  if (columns.some((names) => names === undefined)) return [];
  return [...new Set(columns.flatMap((names) => names ?? []))];
}

/** The same for rows of teams: null unless one policy of `memberRls` or `orgRls` alone says who reads. */
export function teamScope(policies: readonly PgPolicy[]): TeamScope | null {
  const [policy, ...others] = reading(policies);
  return (policy && others.length === 0 && scopes.get(policy)) || null;
}

/** A restrictive policy shows nobody a row that the others hide. */
const reading = (policies: readonly PgPolicy[]) =>
  policies.filter((policy) => (!policy.for || ["select", "all"].includes(policy.for)) && policy.as !== "restrictive");

/** Records that a policy shows rows only to those whose ids are in these columns. */
export const readsOwn = (policy: PgPolicy, ...columns: AnyPgColumn[]) =>
  owners.set(
    policy,
    columns.map(({ name }) => name),
  );

/**
 * Rows belong to the user in `userIdColumn`: only the owner may create, change and remove them.
 *
 * @param userIdColumn     text, or uuid where ids of users are UUIDs; compared with the caller's id
 * @param options.read     `"public"` lets everybody read; columns with ids of users let these read, such as the
 *   recipient of a message. (Default: only the owner reads)
 * @param options.write    `"nobody"`: not even the owner writes, for what the application decides, such as memberships,
 *   credits and plans. Another policy may allow more. (Default: the owner writes)
 * @example
 * export const notes = pgTable("notes", { … }, (t) => ownerRls(t.userId));
 */
export function ownerRls(
  userIdColumn: AnyPgColumn,
  options: { read?: "public" | readonly AnyPgColumn[]; write?: "nobody" } = {},
): PgPolicy[] {
  checkKeys("ownerRls", options, ["read", "write"]);
  const readers = Array.isArray(options.read) ? (options.read as AnyPgColumn[]) : [];
  if (readers.length === 0) checkOne("ownerRls", "read", options.read, [undefined, "public"], ["[a column]"]);
  checkOne("ownerRls", "write", options.write, [undefined, "nobody"]);
  const own = isCaller(userIdColumn);
  const reads = [own, ...readers.map((column) => isCaller(column))];
  const select =
    options.read === "public"
      ? meant(
          pgPolicy("select_anyone", { for: "select", to: everybody, using: sql`true` }),
          'ownerRls with read: "public"',
          ["world_readable_table"],
        )
      : pgPolicy("select_owner", { for: "select", to: authenticated, using: sql.join(reads, sql` or `) });
  if (options.read !== "public") readsOwn(select, userIdColumn, ...readers);
  if (options.write === "nobody") return [select];
  return [select, ...writes("owner", authenticated, own)];
}

/** The policies by which rows are written that fulfil the condition. @param who ends their names */
export const writes = (who: string, to: PgPolicyToOption, rows: SQL): PgPolicy[] => [
  pgPolicy(`insert_${who}`, { for: "insert", to, withCheck: rows }),
  pgPolicy(`update_${who}`, { for: "update", to, using: rows, withCheck: rows }),
  pgPolicy(`delete_${who}`, { for: "delete", to, using: rows }),
];

/** Who may access the rows of an open table. */
export type Audience = "anyone" | "authenticated" | "nobody";

/** Everybody who may write may also read. */
type OpenAudience = { read: "anyone"; write: Audience } | { read: "authenticated"; write: Exclude<Audience, "anyone"> };

/**
 * Rows without owners: each permission applies to all rows.
 *
 * @throws DefinitionError where anyone could write but only signed-in users read: an update or delete reaches every
 *   row, so a stranger could overwrite or remove rows that he cannot read
 * @example
 * export const guestbook = pgTable("guestbook", { … }, () => openRls({ read: "anyone", write: "authenticated" }));
 */
export function openRls(options: OpenAudience): PgPolicy[] {
  checkKeys("openRls", options, ["read", "write"]);
  checkOne("openRls", "read", options.read, ["anyone", "authenticated"]);
  checkOne("openRls", "write", options.write, ["anyone", "authenticated", "nobody"]);
  if (options.read === "authenticated" && (options.write as Audience) === "anyone") {
    throw new DefinitionError("openRls: anyone could change and delete rows that only signed-in users may read.", {
      hint: 'Make it read: "anyone" or write: "authenticated"; to let anonymous users only add rows, declare pgPolicy(…) yourself.',
    });
  }
  const said = `openRls with read: "${options.read}", write: "${options.write}"`;
  const select = pgPolicy(`select_${options.read}`, { for: "select", to: roles(options.read), using: sql`true` });
  const policies = [options.read === "anyone" ? meant(select, said, ["world_readable_table"]) : select];
  if (options.write === "nobody") return policies;

  const rules = ["always_true_policy", ...(options.write === "anyone" ? ["anonymous_write"] : [])];
  const writing = writes(options.write, roles(options.write), sql`true`);
  return [...policies, ...writing.map((policy) => meant(policy, said, rules))];
}

/**
 * Rows belong to teams: each member of a row's team reads and writes it.
 *
 * The table of memberships needs policies of its own: a membership that the caller cannot read does not count, and one
 * that the caller can write lets everybody join. `ownerRls(t.userId, { write: "nobody" })` is both.
 *
 * @param options.through table of memberships, with one row per team and user
 * @param options.team    this table's column with the team: its id in the table of teams itself. The memberships have a
 *   foreign key to it, or a column of the same name
 * @param options.user    the memberships' column with the user's id
 * @param options.write   `"nobody"`: members only read, for what the application decides, such as scores. Another policy
 *   may allow more. (Default: members write)
 * @throws DefinitionError when the memberships have no such column, or are a table of the authentication library
 * @example
 * export const boards = pgTable("boards", { … }, (t) =>
 *   memberRls({ through: memberships, team: t.teamId, user: memberships.userId }));
 */
export function memberRls(options: {
  through: PgTable;
  team: AnyPgColumn;
  user: AnyPgColumn;
  write?: "nobody";
}): PgPolicy[] {
  checkKeys("memberRls", options, ["through", "team", "user", "write"]);
  const { through, team, user, write } = options;
  checkOne("memberRls", "write", write, [undefined, "nobody"]);
  if (!is(through, PgTable)) throw notThere("memberRls: through is not a table.");
  for (const [option, column] of Object.entries({ team, user })) {
    if (!is(column, Column)) throw notThere(`memberRls: ${option} is not a column.`);
  }
  const { schema = "public" } = tableConfig(through);
  if (schema === "auth") {
    throw new DefinitionError(`memberRls: requests cannot read auth.${getTableName(through)}.`, {
      hint: "Use orgRls (docs/how-to/organizations.md), or keep memberships in a table of your own.",
    });
  }
  const theirs = teamOfMembership(through, team);
  // An array, not `in (select …)`: PostgreSQL can then use an index on the team. A sub-select in a policy would be
  // compared with the rows of all teams.
  const isMember = sql`${team} = any (array(select ${theirs} from ${through} where ${isCaller(user)}))`;
  const select = pgPolicy("select_member", { for: "select", to: authenticated, using: isMember });
  // As text these are the same in the log and in a query; other types may be written in several ways.
  if (comparedAsText.test(team.columnType)) {
    const isUuid = user.columnType === "PgUUID";
    const table = getTableName(through);
    scopes.set(select, { column: team.name, schema, table, team: theirs.name, user: user.name, isUuid });
  }
  if (write === "nobody") return [select];
  return [select, ...writes("member", authenticated, isMember)];
}

const notThere = (problem: string) =>
  new DefinitionError(problem, {
    hint: "Name one that exists. Look for a circular import: a value imported in a circle is undefined here.",
  });

/** A key of the memberships that has the name of the team's column, such as `id`, is no team. */
function teamOfMembership(through: PgTable, team: AnyPgColumn): AnyPgColumn {
  for (const { reference } of tableConfig(through).foreignKeys) {
    const { columns, foreignColumns } = reference();
    const [column, foreign] = [columns[0], foreignColumns[0]];
    if (columns.length === 1 && column && foreign?.table === team.table && foreign.name === team.name) return column;
  }
  const named = Object.values(getTableColumns(through)).find(({ name }) => name === team.name);
  if (named && !named.primary) return named;
  const memberships = getTableName(through);
  const problem = named
    ? `"${team.name}" of ${memberships} is its own key, and says nothing about teams.`
    : `${memberships} has no column "${team.name}".`;
  throw new DefinitionError(`memberRls: ${problem}`, {
    hint: `Give the column with the team the same name in both tables, or let ${memberships} refer to ${getTableName(team.table)}: .references(() => …).`,
  });
}

const comparedAsText = /^Pg(Text|Varchar|UUID|Integer|BigInt53|BigInt64|EnumColumn)$/;

/** Types are not checked at run time: rows must not be open to others because an option is misspelt. */
export function checkKeys(helper: string, options: object, keys: readonly string[]): void {
  checkOptions(helper, z.strictObject(Object.fromEntries(keys.map((key) => [key, z.unknown()]))).partial(), options);
}

/** The same: a misspelt audience must not become another one. */
function checkOne(
  helper: string,
  option: string,
  given: unknown,
  allowed: readonly (string | undefined)[],
  more: readonly string[] = [],
): void {
  if (allowed.includes(given as string | undefined)) return;
  const choices = [...allowed.map((one) => (one === undefined ? "nothing" : JSON.stringify(one))), ...more];
  const said = typeof given === "object" && given ? "an object" : JSON.stringify(given); // a column refers to itself
  throw new DefinitionError(`${helper}: ${option} is ${said}.`, {
    hint: `Give ${choices.join(", ").replace(/, ([^,]*)$/, " or $1")}.`,
  });
}

const roles = (audience: Exclude<Audience, "nobody">) => (audience === "anyone" ? everybody : authenticated);

/** As a sub-select it runs once per statement, not once per row. */
export function isCaller(column: AnyPgColumn, helper = "ownerRls"): SQL {
  return sql`${column} = (select svc.current_user_id())${platformSql(cast(column, helper))}`;
}

/** The caller's id is text, so it may need a cast. In a table's definition Drizzle only knows the column's builder name. */
function cast(column: AnyPgColumn, helper: string): string {
  // Types are not checked at run time.
  if (!is(column, Column)) {
    const given = typeof column === "string" ? JSON.stringify(column) : `${column}: the table has none of that name`;
    throw new DefinitionError(`${helper} got no column, but ${given}.`, {
      hint: "Name the property of the column with the user's id, as in (t) => ownerRls(t.userId).",
    });
  }
  if (column.columnType === "PgUUID") return "::uuid";
  if (["PgText", "PgVarchar", "PgChar"].includes(column.columnType)) return "";
  throw new DefinitionError(`${helper}: column "${column.name}" cannot hold the id of a user.`, {
    hint: 'Make it text("user_id"); or uuid("user_id") where the betterAuth hook makes ids UUIDs.',
  });
}
