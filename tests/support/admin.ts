/** What tests do as the administrator: databases come and go. */
import pg from "pg";

/** One per run: two runs on one machine must not clone each other's. */
export const templateName = () => `svc_template_${process.env.SVC_TEST_RUN}`;

/** Only the platform, migrated: for applications that a test brings. Also one per run. */
export const platformName = () => `svc_platform_${process.env.SVC_TEST_RUN}`;

/** The same server and login, with another database. */
export function inDatabase(url: string, database: string): string {
  const changed = new URL(url);
  changed.pathname = `/${database}`;
  return changed.href;
}

/** Runs statements one after the other, each in its own transaction. */
export async function execute(url: string, ...statements: string[]): Promise<pg.QueryResult[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const results: pg.QueryResult[] = [];
    for (const statement of statements) results.push(await client.query(statement));
    return results;
  } finally {
    await client.end();
  }
}

/**
 * Creates a database from one of the templates above, with the privileges that sql/schemas.sql and sql/grants.sql set on
 * the database itself, which a template does not include. The files are copied: otherwise 8 MB go through the log, which
 * every reader of changes on the server would read.
 */
export async function clone(admin: string, name: string, template: string): Promise<void> {
  await maintain(admin, `create database ${name} template ${template} strategy file_copy`);
  await maintain(admin, `grant create on database ${name} to svc_owner`);
  await maintain(admin, `revoke temporary on database ${name} from public`);
}

/** Runs a statement on a connection that this process keeps: a new one takes 45 ms of processor time on CI's machine. */
export async function maintain(admin: string, statement: string): Promise<void> {
  kept ??= keep(admin);
  await kept.query(statement);
}
let kept: pg.Pool | undefined;

function keep(admin: string): pg.Pool {
  const pool = new pg.Pool({ connectionString: admin, max: 1, idleTimeoutMillis: 0, allowExitOnIdle: true });
  pool.on("error", () => {}); // the server stops before the process ends
  return pool;
}
