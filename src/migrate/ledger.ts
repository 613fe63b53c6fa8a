/**
 * Compares the ledger that `svc migrate` writes in a database with the files: files that are pending, and entries from
 * newer files. The latter occur when an old process restarts during a release.
 * Next hop: `migrate.ts`, which writes it; `src/cli/pending.ts`, which decides whether a process starts.
 */
import { hash } from "node:crypto";
import type pg from "pg";
import { isQueueCurrent, wantedRevision } from "../jobs/queue.ts";
import { sqlState } from "../postgres/errors.ts";
import { withClient } from "../postgres/with-client.ts";
import { MigrationError } from "./migration-error.ts";
import { type MigrationFile, readFolder } from "./migration-files.ts";

export type Scope = "platform" | "application";

export interface Folders {
  /** Folder that holds the platform's `migrations/` and `sql/`. */
  platform: string;
  /** The application's root; its `migrations/` and `sql/` may be absent. */
  application?: string;
}

export interface Ledger {
  /** Checksums by `scope/name`. */
  migrations: Map<string, string>;
  /** Checksum of the last applied text, by `scope/path`. */
  sql: Map<string, string>;
  /** Checksums of texts applied before, by `scope/path`. */
  earlier: Map<string, readonly string[]>;
  /** The objects that a file of policies/ created when it was applied, by `scope/path` (sql/migrate/access_state.sql). */
  states: Map<string, string>;
  /** When each was last applied, by `scope/migrations/name` and `scope/sql/path`. */
  appliedAt: Map<string, Date>;
}

export interface Comparison {
  /** Files that were not applied yet. */
  pending: string[];
  /** Entries without a matching file: unknown migrations, and files of sql/ with a newer text. */
  newer: string[];
}

/**
 * The entries of newer files, if they forbid these files to migrate in production; else none. A release of svc without a
 * migration shows in its functions. An application may return to an earlier text of its own.
 */
export function refusedFor({ pending, newer }: Comparison): readonly string[] {
  const isNewer = (path: string) =>
    /^\w+\/migrations\//.test(path) || (pending.length === 0 && path.startsWith("platform/"));
  return newer.some(isNewer) ? newer : [];
}

export const checksum = (text: string) => hash("sha256", text);

/** Whether this text was applied, also by a version of svc that read it with the line ends of Windows. */
export const isApplied = (recorded: string, text: string): boolean =>
  recorded === checksum(text) || recorded === checksum(text.replaceAll("\n", "\r\n"));

/** @param migrations checksums of those applied, by `scope/name` @throws MigrationError when it was edited since */
export function isNew(scope: Scope, file: MigrationFile, migrations: Map<string, string>): boolean {
  const recorded = migrations.get(`${scope}/${file.path}`);
  if (recorded === undefined || isApplied(recorded, file.text)) return recorded === undefined;
  const folder = scope === "application" ? "" : `${scope}/`;
  throw new MigrationError(`${folder}migrations/${file.path} was edited after it had been applied.`, {
    hint: "Restore its text and write a new migration for the change.",
  });
}

export function scopes({ platform, application }: Folders): { scope: Scope; folder: string }[] {
  const own = { scope: "platform" as const, folder: platform };
  return application ? [own, { scope: "application", folder: application }] : [own];
}

export async function readLedger(client: pg.Client): Promise<Ledger> {
  const { rows } = await client.query("select to_regclass('svc_private.applied_sql') is not null as exists");
  if (!rows[0].exists) {
    return { migrations: new Map(), sql: new Map(), earlier: new Map(), states: new Map(), appliedAt: new Map() };
  }
  const migrations = await client.query(
    `select scope || '/' || name as key, scope || '/migrations/' || name as path, checksum, applied_at
       from svc_private.applied_migrations`,
  );
  // Not by column name: the migration that adds the column may be pending.
  const sql = await client.query(
    `select scope || '/' || path as key, scope || '/sql/' || path as path, checksum, applied_at,
            coalesce(to_jsonb(a) -> 'earlier', '[]') as earlier, to_jsonb(a) ->> 'state' as state
       from svc_private.applied_sql a`,
  );
  return {
    migrations: new Map(migrations.rows.map((row) => [row.key, row.checksum])),
    sql: new Map(sql.rows.map((row) => [row.key, row.checksum])),
    earlier: new Map(sql.rows.map((row) => [row.key, row.earlier])),
    states: new Map(sql.rows.filter((row) => row.state !== null).map((row) => [row.key, row.state])),
    appliedAt: new Map([...migrations.rows, ...sql.rows].map((row) => [row.path, row.applied_at])),
  };
}

/** A file of a scope, with its names. */
export interface ScopeFile extends MigrationFile {
  scope: Scope;
  kind: "migrations" | "sql";
  /** `scope/path`, as in the ledger. */
  key: string;
  /** `scope/migrations/path` or `scope/sql/path`. */
  whole: string;
}

/** The files in the order in which they are applied: the platform's first, migrations before `sql/`. */
export async function readFiles(
  folders: Folders,
  kinds: readonly ScopeFile["kind"][] = ["migrations", "sql"],
  only?: Scope,
): Promise<ScopeFile[]> {
  const files: ScopeFile[] = [];
  for (const { scope, folder } of scopes(folders)) {
    for (const kind of only === undefined || only === scope ? kinds : []) {
      for (const file of await readFolder(`${folder}/${kind}`)) {
        files.push({ ...file, scope, kind, key: `${scope}/${file.path}`, whole: `${scope}/${kind}/${file.path}` });
      }
    }
  }
  return files;
}

/** Applied migrations without a file. */
export function unknownMigrations({ migrations }: Ledger, files: readonly ScopeFile[]): string[] {
  const names = new Set(files.filter(({ kind }) => kind === "migrations").map(({ key }) => key));
  return [...migrations.keys()].filter((name) => !names.has(name)).map((name) => name.replace("/", "/migrations/"));
}

/** @param options.adminUrl any login that can read the ledger: the administrator's, or the system's */
export async function compareFiles({ adminUrl, ...folders }: Folders & { adminUrl: string }): Promise<Comparison> {
  return withClient(adminUrl, "svc migrate status", (client) => compareLedger(client, folders));
}

export async function compareLedger(client: pg.Client, folders: Folders): Promise<Comparison> {
  const ledger = await readLedger(client);
  const files = await readFiles(folders);
  const pending = (await isQueueCurrent(client)) ? [] : ["platform/queue"];
  const newer = unknownMigrations(ledger, files);
  for (const file of files) {
    if (isRecorded(file, ledger)) continue;
    const isEarlier = file.kind === "sql" && ledger.earlier.get(file.key)?.includes(checksum(file.text));
    (isEarlier ? newer : pending).push(file.whole);
  }
  return { pending, newer };
}

/** Whether a migration has been applied, or a file of `sql/` in its present text. */
const isRecorded = ({ kind, key, text }: ScopeFile, ledger: Ledger): boolean =>
  kind === "migrations" ? ledger.migrations.has(key) : ledger.sql.get(key) === checksum(text);

/** Whether a migration applies files of the application. @param folders.again also those of `sql/` that are recorded */
export async function appliesApplication(client: pg.Client, folders: Folders & { again?: boolean }): Promise<boolean> {
  const files = await readFiles(folders, ["migrations", "sql"], "application");
  const ledger = await readLedger(client);
  return files.some((file) => (folders.again && file.kind === "sql") || !isRecorded(file, ledger));
}

/** Of files, by `scope/path` as in the ledger. */
export type Checksums = Record<"migrations" | "sql", ReadonlyMap<string, string>>;

export async function readChecksums(folders: Folders): Promise<Checksums> {
  const files = await readFiles(folders);
  const of = (wanted: keyof Checksums) =>
    new Map(files.filter(({ kind }) => kind === wanted).map(({ key, text }) => [key, checksum(text)]));
  return { migrations: of("migrations"), sql: of("sql") };
}

/** Whether a database has exactly these files, and none was edited since. Each start waits for it: it asks once. */
export async function isCurrent(client: pg.Client, { migrations, sql }: Checksums): Promise<boolean> {
  const text = `select 'migrations/' || scope || '/' || name, checksum from svc_private.applied_migrations
    union all select 'sql/' || scope || '/' || path, checksum from svc_private.applied_sql where checksum <> ''
    union all select 'queue', max(id)::text from graphile_worker.migrations`; // an empty checksum is that of a deleted file
  const { rows } = await client.query<[string, string]>({ text, rowMode: "array" }).catch((error) => {
    if (sqlState(error) === undefinedTable) return { rows: [] };
    throw error;
  });
  const applied = new Map(rows);
  const hasAll = (kind: string, wanted: ReadonlyMap<string, string>) =>
    [...wanted].every(([key, sum]) => applied.get(`${kind}/${key}`) === sum);
  const isWhole = applied.size === migrations.size + sql.size + 1 && Number(applied.get("queue")) >= wantedRevision;
  return isWhole && hasAll("migrations", migrations) && hasAll("sql", sql);
}

/** SQLSTATE, in a new database. */
const undefinedTable = "42P01";

/** @param repeated of `sql/` @param fresh migrations */
export async function recordApplied(
  client: pg.Client,
  scope: Scope,
  repeated: readonly MigrationFile[],
  fresh: readonly MigrationFile[],
): Promise<void> {
  await client.query(
    `insert into svc_private.applied_sql (scope, path, checksum) select $1, * from unnest($2::text[], $3::text[])
     on conflict (scope, path) do update set checksum = excluded.checksum, applied_at = excluded.applied_at`,
    [scope, repeated.map(({ path }) => path), repeated.map(({ text }) => checksum(text))],
  );
  await client.query(
    "insert into svc_private.applied_migrations (scope, name, checksum) select $1, * from unnest($2::text[], $3::text[])",
    [scope, fresh.map(({ path }) => path), fresh.map(({ text }) => checksum(text))],
  );
}

/** Has watched queries run again when this commits: the log says nothing of the rows of a table that is dropped or made again. */
export async function tellMigrated(client: pg.Client): Promise<void> {
  // In one text, which is a transaction where none is open.
  await client.query(`set local role svc_owner; select svc.emit_message('{"migrated":true}'); reset role`);
}

/**
 * Records the applied files and keeps the checksums that they replace. When an earlier text is applied again, the later checksums
 * are removed. A deleted file has no entry: if it returns unchanged it is applied again, because its objects may be gone.
 */
export async function noteApplied(client: pg.Client, scope: Scope, files: readonly MigrationFile[]): Promise<void> {
  await client.query(
    `update svc_private.applied_sql a
        set earlier = case when b.place is not null then a.earlier[:b.place - 1]
                           when a.checksum = '' then a.earlier
                           else array_append(a.earlier, a.checksum) end,
            checksum = coalesce(b.checksum, '')
       from (select old.path, f.checksum, array_position(old.earlier, f.checksum) as place
               from svc_private.applied_sql old left join unnest($2::text[], $3::text[]) as f (path, checksum) using (path)
              where old.scope = $1) b
      where a.scope = $1 and a.path = b.path and a.checksum is distinct from coalesce(b.checksum, '')`,
    [scope, files.map(({ path }) => path), files.map(({ text }) => checksum(text))],
  );
}
