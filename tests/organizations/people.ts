/** People of organizations, whose statements run as requests do: the login of requests, with role and identity. */
import type pg from "pg";
import type { Database } from "../support/database.ts";

export interface Person {
  id: string;
  email: string;
}

let count = 0;

export function people(db: Database) {
  /** New users, with verified addresses. */
  async function users(...names: string[]): Promise<Person[]> {
    const made = names.map((name) => ({ id: `${name}-${++count}`, email: `${name}-${count}@example.com` }));
    for (const { id, email } of made) {
      await db.sql('insert into auth."user" (id, name, email, email_verified) values ($1, $1, $2, true)', [id, email]);
    }
    return made;
  }

  /** A transaction of a user, on a connection of its own. */
  async function begin(who: Person | null): Promise<pg.Client> {
    const client = await db.connect("request");
    await enter(client, who);
    return client;
  }

  async function enter(client: pg.Client, who: Person | null): Promise<void> {
    await client.query("begin");
    const role = who ? "svc_authenticated" : "svc_anonymous";
    await client.query("select set_config('svc.user_id', $1, true), set_config('role', $2, true)", [
      who?.id ?? "",
      role,
    ]);
  }

  let shared: Promise<pg.Client> | undefined;
  /** One statement as a user. @returns its rows, or the SQLSTATE of its error */
  async function run(who: Person | null, text: string, values: unknown[] = []): Promise<pg.QueryResultRow[] | string> {
    shared ??= db.connect("request");
    const client = await shared;
    await enter(client, who);
    return outcome(client, text, values);
  }

  /** Runs the last statement of a transaction, and ends it. */
  async function outcome(
    client: pg.Client,
    text: string,
    values: unknown[] = [],
  ): Promise<pg.QueryResultRow[] | string> {
    try {
      const { rows } = await client.query(text, values);
      await client.query("commit");
      return rows;
    } catch (error) {
      await client.query("rollback");
      return (error as { code: string }).code;
    }
  }

  /** @returns the id of the organization */
  async function found(who: Person, name = "Acme"): Promise<string> {
    const rows = await run(who, "select svc.create_organization($1) as id", [name]);
    if (typeof rows === "string") throw new Error(rows);
    return rows[0]?.id;
  }

  /** As the system does, without an invitation. */
  const add = (org: string, who: Person, role = "member") =>
    db.sql("insert into svc.organization_members (org_id, user_id, role) values ($1, $2, $3)", [org, who.id, role]);

  const invite = (by: Person, org: string, email: string, role = "member") =>
    run(by, "select svc.invite_to_organization($1, $2, $3) as id", [org, email, role]);

  /** @returns the id of the invitation */
  async function invited(by: Person, org: string, email: string, role = "member"): Promise<string> {
    const rows = await invite(by, org, email, role);
    if (typeof rows === "string") throw new Error(rows);
    return rows[0]?.id;
  }

  const accepting = "select svc.accept_invitation($1) as org";
  /** @returns the organization, or null */
  async function accept(who: Person, invitation: string): Promise<string | null> {
    const rows = await run(who, accepting, [invitation]);
    if (typeof rows === "string") throw new Error(rows);
    return rows[0]?.org;
  }

  /** The members with their roles, by the names of the users. */
  async function members(org: string): Promise<Record<string, string>> {
    const rows = await db.sql("select user_id, role from svc.organization_members where org_id = $1", [org]);
    return Object.fromEntries(rows.map(({ user_id, role }) => [user_id.split("-")[0], role]));
  }

  return { users, begin, run, outcome, found, add, invite, invited, accept, accepting, members };
}
