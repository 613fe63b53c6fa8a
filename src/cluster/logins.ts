/**
 * Creates the database `svc` and the login roles of the process pools, with random passwords. `sql/roles.sql` sets
 * their rights; they are created here, because a server without logins cannot be migrated.
 */
import { randomBytes } from "node:crypto";
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "pg";

const databaseName = "svc";

/** The attributes of each role. */
const logins = {
  svc_request: "noinherit",
  svc_auth: "",
  svc_system: "bypassrls",
  svc_replicator: "replication",
  svc_studio_read: "noinherit",
  svc_studio_act: "",
} as const;

type Login = "postgres" | keyof typeof logins;

/** The server's address and passwords, stored in a file that only its owner can read. */
export interface Access {
  port: number;
  passwords: Record<Login, string>;
}

export function readAccess(directory: string): Access | null {
  const file = join(directory, "access.json");
  return existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as Access) : null;
}

export function writeAccess(directory: string, access: Access): void {
  const file = join(directory, "access.json");
  writeFileSync(`${file}.new`, `${JSON.stringify(access, null, 2)}\n`, { mode: 0o600 });
  renameSync(`${file}.new`, file);
}

export const newAccess = (): Access => withEveryLogin({ port: 0, passwords: {} as Access["passwords"] });

/** Adds passwords of logins that a newer version has. @returns the same object when none is missing */
export function withEveryLogin(access: Access): Access {
  const names: Login[] = ["postgres", ...(Object.keys(logins) as (keyof typeof logins)[])];
  const missing = names.filter((name) => access.passwords[name] === undefined);
  if (missing.length === 0) return access;
  const added = Object.fromEntries(missing.map((name) => [name, randomBytes(24).toString("hex")]));
  return { ...access, passwords: { ...access.passwords, ...added } };
}

export function loginUrl(access: Access, login: Login, database: string = databaseName): string {
  return `postgres://${login}:${access.passwords[login]}@127.0.0.1:${access.port}/${database}`;
}

/**
 * Creates missing logins and the database, with one query when nothing is missing.
 *
 * @param renew the passwords are new, so existing roles get them
 */
export async function ensureLogins(access: Access, renew: boolean): Promise<void> {
  const client = new Client({ connectionString: loginUrl(access, "postgres", "postgres") });
  client.on("error", () => {}); // the interrupted query reports it
  await client.connect();
  try {
    const found = await client.query<{ name: string }>(
      "select rolname as name from pg_catalog.pg_roles union all select datname from pg_catalog.pg_database",
    );
    const names = new Set(found.rows.map((row) => row.name));
    for (const [role, attributes] of Object.entries(logins)) {
      const password = client.escapeLiteral(access.passwords[role as Login]);
      if (!names.has(role)) await client.query(`create role ${role} login ${attributes} password ${password}`);
      else if (renew) await client.query(`alter role ${role} login password ${password}`);
    }
    if (!names.has(databaseName)) await client.query(`create database ${databaseName}`);
  } finally {
    await client.end();
  }
}
