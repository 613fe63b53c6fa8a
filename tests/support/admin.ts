/** What tests do as the administrator: databases come and go. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import pg from "pg";

const grants = join(import.meta.dirname, "../../sql/grants.sql");

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
 * Creates a database from one of the templates above, with the privileges on it, which a template does not include. The
 * files are copied: otherwise 8 MB go through the log, which every reader of changes on the server would read.
 */
export async function clone(admin: string, name: string, template: string): Promise<void> {
  await execute(
    admin,
    `create database ${name} template ${template} strategy file_copy`,
    `grant create on database ${name} to svc_owner`,
  );
  await execute(inDatabase(admin, name), await readFile(grants, "utf8"));
}
