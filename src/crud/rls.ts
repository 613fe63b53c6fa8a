/**
 * Row-level security as an author declares it: helpers that return Drizzle policies for the table's own definition.
 * They decide nothing at run time. The policies stand in the application's migrations, where a DBA reads them.
 * Next hop: the `create policy` statements in the application's `migrations/`.
 */
import { getTableColumns, getTableName, type SQL, sql } from "drizzle-orm";
import { type AnyPgColumn, type PgPolicy, type PgTable, pgPolicy, pgRole } from "drizzle-orm/pg-core";
import { DefinitionError } from "../kit/definition-error.ts";

const anonymous = pgRole("svc_anonymous").existing();
const authenticated = pgRole("svc_authenticated").existing();
const everybody = [anonymous, authenticated];

/** The owner's column, by the policy that says so. */
const owners = new WeakMap<PgPolicy, string>();

/**
 * Whose rows a table holds, for realtime: events about them go to their owners alone.
 *
 * @returns the column with the owner's id; null when others may read rows too, or the policies are the author's own
 */
export function ownerColumn(policies: readonly PgPolicy[]): string | null {
  const reading = policies.filter((policy) => policy.for === "select" || policy.for === "all" || !policy.for);
  const columns = new Set(reading.map((policy) => owners.get(policy) ?? null));
  return columns.size === 1 ? ([...columns][0] ?? null) : null;
}

/** Notes that a policy shows rows to their owners alone. */
export const readsOwn = (policy: PgPolicy, owner: AnyPgColumn) => owners.set(policy, owner.name);

/**
 * Rows belong to the user in `userIdColumn`: only the owner may create, change and remove them.
 *
 * @param userIdColumn     text, or uuid where ids of users are UUIDs; compared with the caller's id
 * @param options.read     `"public"` lets everybody read. (Default: only the owner reads)
 * @example
 * export const notes = pgTable("notes", { … }, (t) => ownerRls(t.userId));
 */
export function ownerRls(userIdColumn: AnyPgColumn, options: { read?: "public" } = {}): PgPolicy[] {
  checkOne("ownerRls", "read", options.read, [undefined, "public"]);
  const own = isCaller(userIdColumn);
  const select =
    options.read === "public"
      ? pgPolicy("select_anyone", { for: "select", to: everybody, using: sql`true` })
      : pgPolicy("select_owner", { for: "select", to: authenticated, using: own });
  if (options.read !== "public") readsOwn(select, userIdColumn);
  return [
    select,
    pgPolicy("insert_owner", { for: "insert", to: authenticated, withCheck: own }),
    pgPolicy("update_owner", { for: "update", to: authenticated, using: own, withCheck: own }),
    pgPolicy("delete_owner", { for: "delete", to: authenticated, using: own }),
  ];
}

/** Who may do something with every row of an open table. */
export type Audience = "anyone" | "authenticated" | "nobody";

/** Whoever writes also reads. */
type OpenAudience = { read: "anyone"; write: Audience } | { read: "authenticated"; write: Exclude<Audience, "anyone"> };

/**
 * Rows belong to nobody in particular: what you may do with one, you may do with all.
 *
 * @throws DefinitionError where anyone could write and only people with an account read: an update or delete reaches
 *   every row, read or not, so a stranger could overwrite or remove what he is kept from seeing
 * @example
 * export const guestbook = pgTable("guestbook", { … }, () => openRls({ read: "anyone", write: "authenticated" }));
 */
export function openRls(options: OpenAudience): PgPolicy[] {
  checkOne("openRls", "read", options.read, ["anyone", "authenticated"]);
  checkOne("openRls", "write", options.write, ["anyone", "authenticated", "nobody"]);
  if (options.read === "authenticated" && (options.write as Audience) === "anyone") {
    throw new DefinitionError("openRls: anyone could change and delete rows that only signed-in users may read.", {
      hint: 'Make it read: "anyone" or write: "authenticated"; to let anonymous users only add rows, declare pgPolicy(…) yourself.',
    });
  }
  const policies = [pgPolicy(`select_${options.read}`, { for: "select", to: roles(options.read), using: sql`true` })];
  if (options.write === "nobody") return policies;

  const to = roles(options.write);
  return [
    ...policies,
    pgPolicy(`insert_${options.write}`, { for: "insert", to, withCheck: sql`true` }),
    pgPolicy(`update_${options.write}`, { for: "update", to, using: sql`true`, withCheck: sql`true` }),
    pgPolicy(`delete_${options.write}`, { for: "delete", to, using: sql`true` }),
  ];
}

/**
 * Rows belong to teams: whoever is a member of a row's team may do everything with it.
 *
 * The table of memberships needs policies of its own, `ownerRls` on its user column as a rule: what a caller may not see
 * of it makes no member of anybody.
 *
 * @param options.through table of memberships, with one row per team and user
 * @param options.team    this table's column with the team; the memberships have one of the same name
 * @param options.user    the memberships' column with the user's id
 * @example
 * export const boards = pgTable("boards", { … }, (t) =>
 *   memberRls({ through: memberships, team: t.teamId, user: memberships.userId }));
 */
export function memberRls(options: { through: PgTable; team: AnyPgColumn; user: AnyPgColumn }): PgPolicy[] {
  const { through, team, user } = options;
  const theirs = Object.values(getTableColumns(through)).find(({ name }) => name === team.name);
  if (!theirs) {
    throw new DefinitionError(`memberRls: ${getTableName(through)} has no column "${team.name}".`, {
      hint: "Give the column with the team the same name in both tables.",
    });
  }
  // An array and not `in (select …)`: PostgreSQL asks an index on the team for the members of an array, and compares the
  // rows of all teams with a sub-select in a policy.
  const isMember = sql`${team} = any (array(select ${theirs} from ${through} where ${isCaller(user)}))`;
  return [
    pgPolicy("select_member", { for: "select", to: authenticated, using: isMember }),
    pgPolicy("insert_member", { for: "insert", to: authenticated, withCheck: isMember }),
    pgPolicy("update_member", { for: "update", to: authenticated, using: isMember, withCheck: isMember }),
    pgPolicy("delete_member", { for: "delete", to: authenticated, using: isMember }),
  ];
}

/** Types are stripped and not checked: a misspelt audience must not become another one. */
function checkOne(helper: string, option: string, given: unknown, allowed: readonly (string | undefined)[]): void {
  if (allowed.includes(given as string | undefined)) return;
  const choices = allowed.map((one) => (one === undefined ? "nothing" : JSON.stringify(one)));
  throw new DefinitionError(`${helper}: ${option} is ${JSON.stringify(given)}.`, {
    hint: `Give ${choices.join(" or ")}.`,
  });
}

const roles = (audience: Exclude<Audience, "nobody">) => (audience === "anyone" ? everybody : authenticated);

/** The sub-select makes PostgreSQL ask once per statement instead of once per row. */
export function isCaller(column: AnyPgColumn, helper = "ownerRls"): SQL {
  return sql`${column} = (select svc.current_user_id())${sql.raw(cast(column, helper))}`;
}

/** The caller's id is text. Inside a table's definition Drizzle knows a column by its builder's name only. */
function cast(column: AnyPgColumn, helper: string): string {
  // Types are stripped and not checked.
  if (!column) {
    throw new DefinitionError(`${helper} got no column, but ${column}: the table has none of that name.`, {
      hint: "Name the property of the column with the user's id, as in (t) => ownerRls(t.userId).",
    });
  }
  if (column.columnType === "PgUUID") return "::uuid";
  if (["PgText", "PgVarchar", "PgChar"].includes(column.columnType)) return "";
  throw new DefinitionError(`${helper}: column "${column.name}" cannot hold the id of a user.`, {
    hint: 'Make it text("user_id"); or uuid("user_id") where the betterAuth hook makes ids UUIDs.',
  });
}
