/**
 * Takes a backup. One snapshot defines its rows and files. At the same time, while the service runs, pg_dump writes the
 * snapshot, SQL counts and hashes its rows, and its files are copied. Bytes of files deleted meanwhile are kept until
 * the end (sql/backup/hold_bytes.sql). The folder is renamed to its final name when everything is on disk, so a crash
 * leaves no partial backup.
 * Next hop: `manifest.ts` for what it consists of, `copy-files.ts` for the bytes.
 */
import { createHash } from "node:crypto";
import { createWriteStream } from "node:fs";
import { readdir, realpath, rename, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type pg from "pg";
import { makeFolder } from "../kit/make-folder.ts";
import { namePath } from "../kit/name-path.ts";
import { breakConnection } from "../postgres/silence.ts";
import { withClient } from "../postgres/with-client.ts";
import { liftSessionLimits } from "../postgres/without-limits.ts";
import type { StorageDriver } from "../storage/drivers/driver.ts";
import { copyFiles, sync } from "./copy-files.ts";
import { BackupError } from "./error.ts";
import {
  type Checked,
  type ClusterState,
  type Definition,
  dumpName,
  filesName,
  formatVersion,
  type Manifest,
  majorOf,
  manifestName,
  storageName,
  type TableRows,
  writeManifest,
} from "./manifest.ts";
import { ended, findPrograms, type Programs, start } from "./programs.ts";

export interface TakeOptions {
  /** The administrator's, direct and not through a pooler. */
  adminUrl: string;
  driver: StorageDriver;
  /** A folder that does not exist or is empty. */
  folder: string;
  /** Of svc. */
  version: string;
  /** Where the server's own programs may be. */
  binDir?: string | null;
  /** Called with a line per step. (Default: no output) */
  report?: (line: string) => void;
  /** Aborts the backup and removes its files. */
  signal?: AbortSignal;
}

/**
 * @returns the manifest; `files.damaged` counts files that were already missing or damaged
 * @throws BackupError when the folder is not empty, pg_dump is missing, or another backup runs
 */
export async function takeBackup(options: TakeOptions): Promise<Manifest> {
  const named = resolve(options.folder);
  const folder = await realpath(named).catch(() => named); // a link stays, and what it leads to is filled
  await refuseFull(folder);
  return withClient(options.adminUrl, "svc db backup", async (client) => {
    await client.query(liftSessionLimits);
    const serverVersion = await versionOfPrimary(client);
    const programs = await findPrograms(majorOf(serverVersion), [options.binDir ?? null]);
    await holdBytes(client);
    return fill(folder, (work) => write({ ...options, folder: work }, client, programs, serverVersion));
  });
}

/** Only under the lock of `holdBytes`: otherwise the files of a running backup would be taken for those of a killed one. */
async function fill(folder: string, take: (work: string) => Promise<Manifest>): Promise<Manifest> {
  const work = `${folder}.incomplete`;
  try {
    await rm(work, { recursive: true, force: true }); // left by a backup that was killed
    await makeFolder(work, 0o700);
    const manifest = await take(work);
    await writeFile(join(work, manifestName), writeManifest(manifest), { mode: 0o600, flush: true });
    await sync(work);
    await refuseFull(folder); // somebody may have put files there meanwhile
    await rename(work, folder); // takes the place of an empty folder, and of no other
    await sync(dirname(folder));
    return manifest;
  } catch (error) {
    await rm(work, { recursive: true, force: true, maxRetries: 3 });
    throw namePath(error, work);
  }
}

async function write(
  options: TakeOptions,
  client: pg.Client,
  programs: Programs,
  serverVersion: string,
): Promise<Manifest> {
  const { folder, driver, report = () => {} } = options;
  await client.query("begin isolation level repeatable read read only");
  const facts = "select pg_export_snapshot() as snapshot, current_database() as name, clock_timestamp() as at";
  const { snapshot, name, at } = (await client.query(facts)).rows[0];
  report(`A snapshot of ${name}; pg_dump ${programs.version}.`);

  const abort = new AbortController();
  const signal = options.signal ? AbortSignal.any([options.signal, abort.signal]) : abort.signal;
  return withClient(options.adminUrl, "svc db backup", async (reader) => {
    // Waiting for a long query would delay the abort.
    signal.addEventListener("abort", () => breakConnection(reader), { once: true });
    signal.throwIfAborted(); // nobody hears of an abort that came before
    await reader.query(liftSessionLimits);
    await reader.query("begin isolation level repeatable read read only");
    await reader.query(`set transaction snapshot ${reader.escapeLiteral(snapshot)}`);
    // Before the dump: snapshots do not cover sequences, and restored ones must not be behind the values recorded here.
    const clusterState = await reader.query<{ found: ClusterState }>(
      "select svc_private.describe_surroundings() as found",
    );
    const parts = [
      dump(programs, options.adminUrl, snapshot, join(folder, dumpName), signal).then((checked) => {
        report(`The database: ${megabytes(checked.size)}.`);
        return checked;
      }),
      describe(reader),
      copyFiles({
        client,
        from: driver,
        folder: join(folder, storageName),
        list: join(folder, filesName),
        signal,
      }).then((copied) => {
        report(`${copied.count} files: ${megabytes(copied.bytes)}.`);
        return copied;
      }),
    ] as const;
    for (const part of parts) part.catch((error) => abort.abort(error));
    await Promise.allSettled(parts);
    signal.throwIfAborted(); // throws the first failure, not a consequence of it
    const [dumped, described, files] = await Promise.all(parts);
    // Lock and snapshot end with this connection. If it had broken, a file might be missing.
    await client.query("commit");
    return {
      format: formatVersion,
      version: options.version,
      takenAt: at.toISOString(),
      database: { name, serverVersion, dumpedBy: programs.version },
      dump: dumped,
      files,
      ...described,
      clusterState: (clusterState.rows[0] as { found: ClusterState }).found,
    };
  });
}

async function refuseFull(folder: string): Promise<void> {
  const there = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    throw error.code === "ENOTDIR" ? new BackupError(`${folder} is a file.`) : error;
  });
  if (there.length === 0) return;
  throw new BackupError(`${folder} is not empty. Nothing was done.`, {
    hint: `Name a folder that does not exist yet, such as ${basename(folder)}-2.`,
  });
}

/** @throws BackupError on a standby: `holdBytes` would not keep the primary from removing bytes */
async function versionOfPrimary(client: pg.Client): Promise<string> {
  const text = "select current_setting('server_version') as version, pg_is_in_recovery() as is_standby";
  const { version, is_standby } = (await client.query(text)).rows[0];
  if (!is_standby) return version;
  throw new BackupError(
    "The server is a standby. Files that are deleted meanwhile would be missing. Nothing was done.",
    { hint: "Name the primary in DATABASE_ADMIN_URL." },
  );
}

async function holdBytes(client: pg.Client): Promise<void> {
  try {
    // Removal of bytes holds the lock briefly, another backup for long.
    await client.query("set lock_timeout = '500ms'");
    await client.query("select svc_private.hold_bytes()");
    await client.query("set lock_timeout = 0");
  } catch (cause) {
    const { code } = cause as pg.DatabaseError;
    if (code === "55P03") throw new BackupError("Another backup of this database runs. Nothing was done.", { cause });
    if (code !== "42883" && code !== "3F000") throw cause;
    throw new BackupError("This database lacks the functions for backups.", { hint: "Run svc migrate first.", cause });
  }
}

/** Output passes through this process: if it is killed, pg_dump ends with a broken pipe. */
async function dump(
  programs: Programs,
  url: string,
  snapshot: string,
  file: string,
  signal: AbortSignal,
): Promise<Checked> {
  const child = start(programs, "pg_dump", ["--format=custom", `--snapshot=${snapshot}`], url);
  const stop = () => child.kill();
  signal.addEventListener("abort", stop, { once: true });
  const hash = createHash("sha256");
  let size = 0;
  const over = ended(child, "pg_dump");
  over.catch(() => {});
  await pipeline(
    child.stdout as Readable,
    async function* (chunks: AsyncIterable<Buffer>) {
      for await (const chunk of chunks) {
        hash.update(chunk);
        size += chunk.length;
        yield chunk;
      }
    },
    createWriteStream(file, { mode: 0o600, flush: true }),
  );
  await over;
  signal.removeEventListener("abort", stop);
  return { size, sha256: hash.digest("hex") };
}

async function describe(reader: pg.Client) {
  const tables = await reader.query(
    "select name, rows::float8 as rows, hash from svc_private.describe_rows() order by 1",
  );
  const definitions = await reader.query("select name, hash from svc_private.describe_definitions() order by 1");
  return { tables: tables.rows as TableRows[], definitions: definitions.rows as Definition[] };
}

export const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(bytes < 1e7 ? 2 : 0)} MB`;
