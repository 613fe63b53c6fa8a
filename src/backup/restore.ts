/**
 * Restores a backup. Files first, as always when storing; then the database in one transaction: it is emptied, filled,
 * compared with the backup row by row, and only then committed. On any failure or kill the database is unchanged; files
 * without rows are swept later.
 * Next hop: `cluster-state.ts` for roles, `sql/backup/require_restored.sql` for the comparison.
 */
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createReadStream } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import pg from "pg";
import { run } from "../cluster/run.ts";
import { applyRoles } from "../migrate/apply-roles.ts";
import { dropEverything } from "../migrate/migration-reset.ts";
import { withClient } from "../postgres/with-client.ts";
import { liftLimits, liftSessionLimits } from "../postgres/without-limits.ts";
import { DiskDriver } from "../storage/drivers/disk.ts";
import type { StorageDriver } from "../storage/drivers/driver.ts";
import { putBytes } from "../storage/storage.ts";
import { backedUpFiles } from "./check.ts";
import { createRoles, furnishDatabase } from "./cluster-state.ts";
import { inParallel, syncFiles } from "./copy-files.ts";
import { withDropsRepaired } from "./drop-sql.ts";
import { BackupError } from "./error.ts";
import { dumpName, type Manifest, majorOf, storageName } from "./manifest.ts";
import { ended, findPrograms, type Programs, start } from "./programs.ts";
import { explain, marks } from "./restore-error.ts";

export interface RestoreOptions {
  /** The folder of a checked backup. */
  folder: string;
  manifest: Manifest;
  /** The administrator's, for the target database. */
  adminUrl: string;
  /** Folder with svc's own `sql/roles.sql`. */
  platform: string;
  /** Target of the files; without it only the database is restored. */
  driver?: StorageDriver;
  /** Replaces existing data. (Default: a database with tables is refused) */
  force?: boolean;
  /** Ends all sessions. Otherwise sessions that ended after the backup would be valid again. (Default: false) */
  endSessions?: boolean;
  /** Nothing that waits will be run or sent (sql/backup/silence_copy.sql). (Default: false) */
  asCopy?: boolean;
  /** Statements that run before the commit, as the administrator. (Default: none) */
  sql?: string | undefined;
  binDir?: string | null;
  /** Called with a line per step. (Default: no output) */
  report?: (line: string) => void;
}

/** @throws BackupError; the database is then unchanged */
export async function restoreBackup(options: RestoreOptions): Promise<void> {
  const { manifest, adminUrl, driver, report = () => {} } = options;
  const target = await inspect(adminUrl);
  refuseTarget(target, manifest, options.force === true);
  const programs = await findPrograms(majorOf(target.serverVersion), [options.binDir ?? null]);
  await ensureRoles(options, target.roles);
  if (driver) report(`${await putFiles(options.folder, driver)} files restored.`);
  await restoreDatabase(options, programs, target);
  report(`${manifest.tables.length} tables restored, their rows equal to the backup's.`);
}

interface Target {
  name: string;
  serverVersion: string;
  tables: number;
  /** Names of connected svc processes. */
  users: string[];
  roles: string[];
  /** Who restores. */
  login: string;
  /** Extensions that this login may not drop, with the schemas they are in: a superuser has created them. */
  kept: { name: string; schema: string }[];
}

async function inspect(adminUrl: string): Promise<Target> {
  const { rows } = await withClient(adminUrl, "svc db restore", (client) =>
    client.query<Target>(`
      select current_database() as name, current_setting('server_version') as "serverVersion",
             (select count(*)::int from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
               where c.relkind in ('r', 'p') and n.nspname !~ '^pg_' and n.nspname <> 'information_schema'
                 and not exists (select from pg_catalog.pg_depend d
                       where d.classid = 'pg_catalog.pg_class'::regclass and d.objid = c.oid and d.deptype = 'e')) as tables,
             array(select distinct a.application_name from pg_catalog.pg_stat_activity a
                    where a.datname = current_database() and a.pid <> pg_backend_pid()
                      and a.application_name like 'svc %') as users,
             array(select r.rolname::text from pg_catalog.pg_roles r) as roles,
             current_user::text as login,
             (select coalesce(json_agg(json_build_object('name', e.extname, 'schema', n.nspname)), '[]')
                from pg_catalog.pg_extension e join pg_catalog.pg_namespace n on n.oid = e.extnamespace
               where not pg_catalog.pg_has_role(e.extowner, 'usage')) as kept`),
  );
  return rows[0] as Target;
}

function refuseTarget(target: Target, manifest: Manifest, force: boolean): void {
  const refuse = (message: string, hint: string) => {
    throw new BackupError(`${message} Nothing was done.`, { hint });
  };
  if (target.tables > 0 && !force) {
    refuse(
      `The database ${target.name} is not empty: it has ${target.tables} tables.`,
      "Name an empty one in the administrator's URL (DATABASE_ADMIN_URL, without it DATABASE_URL); or pass --force to delete every row in it.",
    );
  }
  if (target.users.length > 0) {
    refuse(`${target.name} is in use (${target.users.join(", ")}).`, "Stop svc start and svc worker, then restore.");
  }
  const [ours, theirs] = [majorOf(target.serverVersion), majorOf(manifest.database.serverVersion)];
  if (ours < theirs) {
    refuse(
      `The backup is of PostgreSQL ${theirs}, and this server is ${ours}.`,
      "Restore it into the same or a newer one.",
    );
  }
}

/** Roles belong to the server: existing ones stay unchanged. */
async function ensureRoles({ manifest, adminUrl, platform }: RestoreOptions, there: readonly string[]): Promise<void> {
  if (createRoles(manifest.clusterState, there).length === 0) return;
  await withClient(adminUrl, "svc db restore", async (client) => {
    await client.query("begin");
    // svc's own roles, as this server allows them: some hosts reserve BYPASSRLS and REPLICATION.
    await applyRoles(client, await readFile(join(platform, "sql/roles.sql"), "utf8"));
    const { rows } = await client.query<{ name: string }>("select rolname as name from pg_catalog.pg_roles");
    const now = rows.map(({ name }) => name);
    for (const statement of createRoles(manifest.clusterState, now)) await client.query(statement);
    await client.query("commit");
  });
}

async function putFiles(folder: string, driver: StorageDriver): Promise<number> {
  const source = new DiskDriver(join(folder, storageName));
  const isDisk = driver instanceof DiskDriver;
  let count = 0;
  for await (const files of backedUpFiles(folder)) {
    await inParallel(
      files,
      async ({ key, sha256 }) => {
        const bytes = createReadStream(source.pathOf(key), { highWaterMark: 256 * 1024 });
        const put = await putBytes(driver, key, bytes, { durable: !isDisk });
        if (put.sha256 !== sha256) throw new BackupError(`${key} is damaged in the backup.`);
      },
      8,
    );
    if (isDisk) await syncFiles(files.map(({ key }) => driver.pathOf(key)));
    count += files.length;
  }
  return count;
}

/** psql gets the commit only after all of pg_restore's output. If it ends earlier, everything is rolled back. */
async function restoreDatabase(options: RestoreOptions, programs: Programs, target: Target): Promise<void> {
  const { folder, manifest, adminUrl } = options;
  const { tables, definitions, clusterState } = manifest;
  const sameMajor = majorOf(target.serverVersion) === majorOf(manifest.database.serverVersion);
  const json = (value: unknown) => (value === null ? "null" : `${pg.escapeLiteral(JSON.stringify(value))}::jsonb`);

  const psql = start(
    programs,
    "psql",
    ["--no-psqlrc", "--quiet", "--set=ON_ERROR_STOP=1", "--output=/dev/null"],
    adminUrl,
  );
  const restored = ended(psql, "psql");
  let said = "";
  psql.stdout?.setEncoding("utf8").on("data", (text: string) => {
    said += text;
  });
  restored.catch(() => {}); // psql may end while pg_restore starts, before anything awaits it
  const input = psql.stdin as Writable;
  input.on("error", () => {}); // psql ended early and reports the reason itself
  const say = async (...statements: string[]) => {
    for (const statement of statements) if (!input.write(`${statement};\n`)) await drained(input);
  };
  try {
    await say("begin", liftLimits, "set local client_min_messages = warning", "set local lock_timeout = '10s'");
    if (target.tables > 0) await say(dropEverything);
    await say(...furnishDatabase(clusterState, target.name));
    await say(...ownersMayCreate);
    await pour(programs, join(folder, dumpName), input, target, sameMajor);
    await say("reset all", liftLimits); // undoes settings of the dump's text
    await say(...ownersMayCreateNoMore);
    // Some of PostgreSQL's own functions have other arguments in another version: the dump's privileges would fail.
    if (!sameMajor) await say(await readFile(join(options.platform, "sql/grants.sql"), "utf8"));
    await say(
      `select svc_private.require_restored(${json(tables)}, ${json(sameMajor ? definitions : null)}, ${json(clusterState.sequences)})`,
    );
    if (options.endSessions) await say("delete from auth.session");
    // As a value: psql reads no commands of its own in it, such as \q.
    if (options.sql !== undefined) await say(`select ${pg.escapeLiteral(options.sql)}\n\\gexec\n`);
    if (options.asCopy) await say("select svc_private.silence_copy()"); // after triggers that these changes fire
    await say(`\\echo ${marks.committing}\ncommit`);
    input.write(`\\echo ${marks.committed}\n`);
    // The rows are back: statistics that fail, for want of disk space, come with autovacuum.
    await say(`\\set ON_ERROR_STOP off\n${liftSessionLimits}`, "analyze");
    input.end();
  } catch (error) {
    psql.kill();
    await restored.catch((cause) => {
      if (said.includes(marks.committed)) return;
      // psql's own error explains the broken pipe, so it is reported first.
      if (!/ended with SIGTERM/.test(String(cause))) throw explain(cause, target, said);
    });
    if (!said.includes(marks.committed)) throw error;
  }
  await restored.catch((error) => {
    if (!said.includes(marks.committed)) throw explain(error, target, said); // otherwise only the statistics are missing
  });
  if (!said.includes(marks.committed)) throw explain("psql ended before the commit.", target, said);
}

// An object gets its owner only where that role may create objects, and the dump grants privileges last. Superusers need neither.
const readers = "svc_reader_anonymous, svc_reader_authenticated";
const ownersMayCreate = [
  "grant usage, create on schema public to svc_owner",
  `alter default privileges grant create on schemas to ${readers}`,
];
const ownersMayCreateNoMore = [
  `alter default privileges revoke create on schemas from ${readers}`,
  `do $$
declare
  found record;
begin
  for found in select n.nspname as name from pg_catalog.pg_namespace n where pg_catalog.pg_has_role(n.nspowner, 'usage') loop
    execute format('revoke create on schema %I from ${readers}', found.name);
  end loop;
end
$$`,
];

/** Pipes the output of pg_restore into psql. @param all false leaves out the privileges on PostgreSQL's own functions */
async function pour(programs: Programs, file: string, input: Writable, target: Target, all: boolean): Promise<void> {
  const options = ["--clean", "--if-exists", "--no-tablespaces", "--no-subscriptions", "--file=-"];
  const own = await mkdtemp(join(tmpdir(), "svc-restore-"));
  // What the login may not drop stays, with the schema that it is in.
  const kept = target.kept.flatMap(({ name, schema }) => [` EXTENSION - ${name} `, ` SCHEMA - ${schema} `]);
  // An extension brings its comment, which on some hosts only a superuser may set.
  const isWanted = (line: string) =>
    !line.includes(" COMMENT - EXTENSION ") &&
    (all || !line.includes(" ACL pg_catalog ")) &&
    !kept.some((part) => line.includes(part));
  try {
    const list = join(own, "list");
    const { stdout: content } = await run(join(programs.folder, "pg_restore"), ["--list", file]);
    await writeFile(list, content.split("\n").filter(isWanted).join("\n"));
    const args = [...options, `--use-list=${list}`, file];
    await pipeInto(input, majorOf(target.serverVersion), start(programs, "pg_restore", args));
  } finally {
    await rm(own, { recursive: true });
  }
}

async function pipeInto(input: Writable, server: number, child: ChildProcess): Promise<void> {
  const over = ended(child, "pg_restore");
  over.catch(() => {});
  // A newer program sets parameters that an older server does not know, in the first lines.
  const known = (text: string) => (server < 17 ? text.replace(/^SET transaction_timeout = 0;$/m, "") : text);
  for await (const chunk of withDropsRepaired(child.stdout as Readable, known)) {
    if (!input.write(chunk)) await drained(input);
  }
  await over;
}

async function drained(input: Writable): Promise<void> {
  const over = new AbortController();
  const { signal } = over;
  if (!input.destroyed) await Promise.race([once(input, "drain", { signal }), once(input, "close", { signal })]);
  over.abort(); // removes the other listener
  if (input.destroyed) throw new BackupError("psql ended before the restore was complete.");
}
