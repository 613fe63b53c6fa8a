/** Opens an external server, named by DATABASE_URL. It is checked before use, and never silently replaced by another server. */
import { Client } from "pg";
import { ClusterError } from "./error.ts";
import type { Cluster, DatabaseUrls } from "./types.ts";
import { isAtLeast, oldestMajor, oldestVector } from "./versions.ts";

/** The facts that are checked, read in one query per connection. */
export interface ServerFacts {
  version: string;
  /** As in 150018. */
  versionNumber: number;
  walLevel: string;
  vector: string | null;
  database: string;
  login: string;
  mayCreate: boolean;
  mayReplicate: boolean;
  /** The server and the database on it, whatever a pooler calls it; null where the host does not tell. */
  identity: string | null;
  /** What svc asks of a login, as soon as `svc migrate` has made the objects that it asks about. */
  mayServe: { request: boolean; auth: boolean; system: boolean };
  /** The role that owns functions of readers, if it is no reader. */
  wrongOwner: string | null;
}

/** The logins that a command needs: those of serving processes, svc_system's alone, the administrator's alone, or all. */
export type Logins = "all" | "serving" | "system" | "admin";

/** @throws ClusterError for the first problem, with its remedy */
export async function openExternal(url: string, env: NodeJS.ProcessEnv, logins: Logins): Promise<Cluster> {
  const nameOf = (...variables: string[]) => variables.find((name) => env[name]) ?? "DATABASE_URL";
  const names: Record<keyof DatabaseUrls, string> = {
    request: "DATABASE_URL",
    system: nameOf("DATABASE_SYSTEM_URL"),
    queue: nameOf("DATABASE_QUEUE_URL", "DATABASE_SYSTEM_URL"),
    auth: nameOf("DATABASE_AUTH_URL"),
    admin: nameOf("DATABASE_ADMIN_URL"),
    replication: nameOf("DATABASE_REPLICATION_URL"),
  };
  const urlOf = (pool: keyof DatabaseUrls) => (names[pool] === "DATABASE_URL" ? url : (env[names[pool]] as string));
  const all = Object.keys(names) as (keyof DatabaseUrls)[];
  const urls = Object.fromEntries(all.map((pool) => [pool, urlOf(pool)])) as unknown as DatabaseUrls;
  // The first migration, or a restore, creates the other logins.
  const pools = logins === "admin" || logins === "system" ? [logins] : all;
  const facts = await askEach(new Map(pools.map((pool) => [names[pool], urls[pool]])));
  const of = (pool: keyof DatabaseUrls) => facts.get(names[pool]) as ServerFacts;
  const any = logins === "system" ? "system" : "admin";
  checkServer(of(any), names[any]);
  checkOwner(of(any));
  if (logins === "all" || logins === "admin") checkAdmin(of("admin"), names.admin);
  if (logins === "system") checkServing(of("system"), names.system, "system");
  if (pools === all) {
    for (const pool of all) checkIdentity(of(pool), names[pool], of("request"));
    for (const pool of ["request", "auth", "system"] as const) checkServing(of(pool), names[pool], pool);
    checkReplication(of("replication"), names.replication);
  }

  const { version, vector } = of(any);
  return {
    urls,
    studio: null,
    serverVersion: version,
    origin: "external",
    reason: `DATABASE_URL names a PostgreSQL ${version} server.`,
    vector,
    binDir: null,
    directory: null,
    owned: false,
    failed: new Promise(() => {}),
    async stop() {}, // svc did not start it
  };
}

/** Checks version, replication level and pgvector. No login can make up for them. */
export function checkServer(facts: ServerFacts, name: string): void {
  if (facts.versionNumber < oldestMajor * 10_000) {
    throw new ClusterError(
      `${name} names a PostgreSQL ${facts.version} server, and svc needs ${oldestMajor} or newer.`,
      "Upgrade that server, or unset DATABASE_URL and svc runs one of its own.",
    );
  }
  if (facts.walLevel !== "logical") {
    throw new ClusterError(
      `${name} names a server with wal_level=${facts.walLevel}, and realtime needs logical.`,
      "Run `alter system set wal_level = logical` as a superuser and restart the server (managed hosts have a switch, " +
        "such as rds.logical_replication or cloudsql.logical_decoding).",
    );
  }
  if (facts.vector === null || !isAtLeast(facts.vector, oldestVector)) {
    const state = facts.vector === null ? "has no pgvector" : `has pgvector ${facts.vector}`;
    const major = Math.floor(facts.versionNumber / 10_000);
    throw new ClusterError(
      `${name} names a server that ${state}, and svc needs ${oldestVector} or newer.`,
      `Install it on that machine (for example \`apt install postgresql-${major}-pgvector\` from apt.postgresql.org), ` +
        "use the image pgvector/pgvector, or unset DATABASE_URL and svc runs a server of its own.",
    );
  }
}

/** Policies do not apply to the owner of the tables, nor to a superuser: the functions of readers would show rows of others. */
function checkOwner({ database, wrongOwner }: ServerFacts): void {
  if (wrongOwner === null) return;
  throw new ClusterError(
    `Functions of svc in the database ${database} belong to ${wrongOwner}, and policies would not apply in searches.`,
    "It was restored without its owners, by --no-owner or before the roles existed. Restore it again with them: " +
      "docs/how-to/move-the-database.md, step 1.",
  );
}

function checkAdmin(facts: ServerFacts, name: string): void {
  if (facts.mayCreate) return;
  throw new ClusterError(
    `The login ${facts.login} of ${name} may not create schemas in the database ${facts.database}.`,
    "Set DATABASE_ADMIN_URL, the administrator's login; or, where one login does everything, run " +
      `\`grant create on database ${facts.database} to ${facts.login}\`.`,
  );
}

/** With a URL that was forgotten, as after a restore, changes and revocations of another database would be read. */
function checkIdentity(facts: ServerFacts, name: string, { database, identity }: ServerFacts): void {
  if (facts.identity === identity || facts.identity === null || identity === null) return;
  throw new ClusterError(
    `${name} leads to another database (${facts.database}) than DATABASE_URL (${database}).`,
    "Change one of them: all DATABASE_*_URL lead to one database.",
  );
}

function checkServing({ login, mayServe }: ServerFacts, name: string, pool: keyof ServerFacts["mayServe"]): void {
  if (mayServe[pool]) return;
  throw new ClusterError(
    `The login ${login} of ${name} lacks the rights of svc_${pool}.`,
    `Name svc_${pool} there, or, where one login does everything, the administrator.`,
  );
}

function checkReplication(facts: ServerFacts, name: string): void {
  if (facts.mayReplicate) return;
  throw new ClusterError(
    `The login ${facts.login} of ${name} may not read the replication stream, which realtime needs.`,
    `Run \`alter role ${facts.login} replication\` as a superuser, or name a login that may in DATABASE_REPLICATION_URL.`,
  );
}

/** Remedies for the server's own errors, by SQLSTATE. LOGIN is that of the URL. */
const refusals: Record<string, string> = {
  "28P01":
    "Check the password. Logins that `svc migrate` creates have none until the administrator sets one: " +
    "alter role LOGIN password '…'.",
  "53100": "The disk of PostgreSQL is full: make room.",
  "53300":
    "All connections are taken: raise max_connections, or the limit of the role or the database that the message names; let " +
    "processes open fewer (`pool` in svc.config.ts), or " +
    "put PgBouncer in between. pg_stat_activity shows who uses them.",
  "57P03": "The server starts, stops or recovers: try again shortly.",
};

/** At once: a new connection takes several round trips, and the server may be far. @param urls by variable */
async function askEach(urls: ReadonlyMap<string, string>): Promise<Map<string, ServerFacts>> {
  const asked = await Promise.allSettled([...urls].map(async ([name, url]) => [name, await ask(url, name)] as const));
  return new Map(
    asked.map((outcome) => {
      if (outcome.status === "rejected") throw outcome.reason;
      return outcome.value;
    }),
  );
}

async function ask(url: string, name: string): Promise<ServerFacts> {
  let client: Client;
  try {
    client = new Client({ connectionString: url, connectionTimeoutMillis: 10_000, application_name: "svc setup" });
    client.on("error", () => {}); // the interrupted query reports it
    await client.connect();
  } catch (error) {
    throw new ClusterError(
      `${name} does not lead to a database: ${reasonOf(error)}.`,
      refusals[(error as { code?: string }).code ?? ""]?.replace("LOGIN", () => new URL(url).username) ??
        `Check its host, port, database, user and password, and that the server runs${
          name === "DATABASE_URL" ? "; or unset DATABASE_URL and svc runs a server of its own" : ""
        }.`,
      { cause: error },
    );
  }
  try {
    const { rows } = await client.query<Omit<ServerFacts, "identity">>(factsQuery);
    const facts = rows[0] as Omit<ServerFacts, "identity">;
    const identity = await client.query(identityQuery).then(
      ({ rows }) => rows[0].identity as string,
      () => null, // a host may have revoked the function
    );
    return { ...facts, identity, vector: facts.vector ?? (await tryVector(client)) };
  } finally {
    await client.end();
  }
}

/**
 * Tests whether `create extension` works, and rolls it back. Debian's `extension_destdir` hides extensions from the
 * list, so only creating it tells. Elsewhere the list is complete, and nothing is created.
 */
async function tryVector(client: Client): Promise<string | null> {
  const { rowCount } = await client.query(
    "select from pg_catalog.pg_settings where name = 'extension_destdir' and setting <> ''",
  );
  if (rowCount === 0) return null;
  try {
    await client.query("begin");
    await client.query("create extension if not exists vector");
    const { rows } = await client.query("select extversion from pg_catalog.pg_extension where extname = 'vector'");
    return rows[0]?.extversion ?? null;
  } catch {
    return null;
  } finally {
    await client.query("rollback");
  }
}

// On Amazon RDS replication is a role membership, not an attribute.
const factsQuery = `
  select current_setting('server_version') as "version",
         current_setting('server_version_num')::int as "versionNumber",
         current_setting('wal_level') as "walLevel",
         coalesce(
           (select extversion from pg_catalog.pg_extension where extname = 'vector'),
           (select default_version from pg_catalog.pg_available_extensions where name = 'vector')
         ) as "vector",
         current_database()::text as "database",
         current_user::text as "login",
         has_database_privilege(current_database(), 'CREATE') as "mayCreate",
         r.rolsuper or r.rolreplication or exists (
           select from pg_catalog.pg_roles g where g.rolname = 'rds_replication' and pg_has_role(g.oid, 'member')
         ) as "mayReplicate",
         json_build_object(
           'request', coalesce(
             (select pg_has_role(g.oid, 'member') from pg_catalog.pg_roles g where g.rolname = 'svc_authenticated'), true),
           'auth', coalesce(
             (select has_schema_privilege(n.oid, 'usage') and has_table_privilege(c.oid, 'insert')
                from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
               where n.nspname = 'auth' and c.relname = 'session'), true),
           'system', coalesce(
             (select has_schema_privilege(n.oid, 'usage') and has_table_privilege(c.oid, 'select')
                from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
               where n.nspname = 'svc_private' and c.relname = 'applied_sql'), true)
         ) as "mayServe",
         (select pg_get_userbyid(p.proowner)::text
            from pg_catalog.pg_proc p join pg_catalog.pg_namespace n on n.oid = p.pronamespace
           where n.nspname in ('svc_hidden', 'svc_private') and p.proname ~ '_as_(anonymous|authenticated)$'
             and pg_get_userbyid(p.proowner) !~ '^svc_reader_' limit 1) as "wrongOwner"
    from pg_catalog.pg_roles r where r.rolname = current_user`;

const identityQuery = `
  select s.system_identifier || '/' || d.oid as "identity"
    from pg_catalog.pg_control_system() s, pg_catalog.pg_database d where d.datname = current_database()`;

/** A refused connection to a name with two addresses is an AggregateError with an empty message. */
function reasonOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(reasonOf).join(", ");
  return error instanceof Error ? error.message : String(error);
}
