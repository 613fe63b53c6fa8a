/**
 * Makes databases quickly: a template is migrated once for each state of `migrations/` and `sql/`, and every test file
 * gets a copy within some hundredths of a second.
 */
import { createHash, randomBytes } from "node:crypto";
import { join } from "node:path";
import { type Cluster, type DatabaseUrls, migrate, platformRoot, processExists, readFolder } from "@svc/core/internal";
import pg from "pg";

// Used by no other lock (sql/README.md), and the same for all test runs on a server.
const advisoryLock = 7_265_021_846_116;

/** The SQLSTATE of a name that is taken. */
const duplicateDatabase = "42P04";

const logins = ["request", "system", "auth", "admin", "replication"] as const;

/** `removeRests` finds the process in it. */
const temporaryName = () => `svc_test_${process.pid}_${randomBytes(5).toString("hex")}`;

export interface TestDatabase {
  urls: DatabaseUrls;
  drop(): Promise<void>;
}

/** Creates a migrated database like the application's. @param cwd the application's folder */
export async function cloneDatabase(cluster: Cluster, cwd: string): Promise<TestDatabase> {
  const template = `svc_template_${await fingerprint(cwd)}`;
  const name = temporaryName();
  await asAdmin(cluster.urls.admin, async (admin) => {
    await admin.query("select pg_advisory_lock($1)", [advisoryLock]); // until the connection ends
    if (!(await databases(admin)).includes(template)) await build(admin, cluster, cwd, template);
    if (cluster.origin !== "external") await removeRests(admin, template);
    await admin.query(`create database ${name} template ${template}`);
  });
  // Privileges on a database are not copied from a template.
  await asAdmin(inDatabase(cluster.urls.admin, name), (admin) =>
    admin.query(`revoke temporary on database ${name} from public`),
  );
  return {
    urls: Object.fromEntries(logins.map((login) => [login, inDatabase(cluster.urls[login], name)])) as never,
    drop: () => asAdmin(cluster.urls.admin, (admin) => drop(admin, name)),
  };
}

/**
 * Built under a temporary name, so that an interrupted run leaves no incomplete template. Logins of other databases do
 * not share the lock: of two templates, the first counts.
 */
async function build(admin: pg.Client, cluster: Cluster, cwd: string, template: string): Promise<void> {
  const draft = temporaryName();
  await admin.query(`create database ${draft}`);
  try {
    await migrate({ adminUrl: inDatabase(cluster.urls.admin, draft), platform: platformRoot, application: cwd });
    await admin.query(`alter database ${draft} rename to ${template}`);
  } catch (error) {
    await drop(admin, draft);
    if ((error as { code?: unknown }).code !== duplicateDatabase) throw error;
  }
}

/** Removes templates of earlier states, and databases of killed processes. */
async function removeRests(admin: pg.Client, template: string): Promise<void> {
  for (const name of await databases(admin)) {
    const [, pid] = /^svc_test_(\d+)_/.exec(name) ?? [];
    const isRest = pid ? !processExists(Number(pid)) : name.startsWith("svc_template_") && name !== template;
    if (isRest) await drop(admin, name);
  }
}

async function databases(admin: pg.Client): Promise<string[]> {
  const { rows } = await admin.query<{ name: string }>(
    "select datname::text as name from pg_database where datname like 'svc\\_te%'",
  );
  return rows.map(({ name }) => name);
}

/** Waits for a stopped reader of the log that still holds its slot. */
async function drop(admin: pg.Client, name: string): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await admin.query(`drop database if exists ${name} with (force)`);
      return;
    } catch (error) {
      if (attempt === 50 || (error as { code?: unknown }).code !== "55006") throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}

async function fingerprint(cwd: string): Promise<string> {
  const hash = createHash("sha256");
  for (const folder of [platformRoot, cwd].flatMap((root) => [join(root, "migrations"), join(root, "sql")])) {
    for (const { path, text } of await readFolder(folder)) hash.update(JSON.stringify([path, text]));
    hash.update("/");
  }
  return hash.digest("hex").slice(0, 16);
}

async function asAdmin(url: string, work: (admin: pg.Client) => Promise<unknown>): Promise<void> {
  const admin = new pg.Client({ connectionString: url, application_name: "svc testing" });
  await admin.connect();
  try {
    await work(admin);
  } finally {
    await admin.end();
  }
}

/** The same server and login, with another database. */
function inDatabase(url: string, database: string): string {
  const changed = new URL(url);
  changed.pathname = `/${database}`;
  return changed.href;
}
