/**
 * Backup and restore beside what somebody would type instead: `pg_dump -Fc` and `pg_restore --single-transaction` for rows,
 * `cp` and `sync` for files. Two sets of data, so that neither hides the other; sides take turns. `--mb N` is the size of
 * each (Default: 200).
 */
import { execFileSync } from "node:child_process";
import { randomBytes, randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import pg from "pg";
import { checkBackup } from "../src/backup/check.ts";
import { findPrograms } from "../src/backup/programs.ts";
import { restoreBackup } from "../src/backup/restore.ts";
import { takeBackup } from "../src/backup/take.ts";
import { openCluster } from "../src/postgres/cluster.ts";
import { migrate } from "../src/postgres/migrate.ts";
import { DiskDriver } from "../src/storage/drivers/disk.ts";
import { putBytes } from "../src/storage/storage.ts";
import { alternate } from "./measure.ts";

const platform = resolve(import.meta.dirname, "..");
const rounds = 3;

export async function run(): Promise<void> {
  const { values } = parseArgs({
    options: { mb: { type: "string", default: "200" } },
    allowPositionals: true,
    strict: false,
  });
  const megabytes = Number(values.mb);
  const work = mkdtempSync(join(tmpdir(), "svc-bench-backup-"));
  const cluster = await openCluster({ directory: join(platform, ".svc"), name: "bench-backup" });
  const admin = new pg.Client({ connectionString: cluster.urls.admin });
  await admin.connect();
  try {
    const { folder } = await findPrograms(Number.parseInt(cluster.serverVersion, 10), [cluster.binDir]);
    const at = (database: string) => Object.assign(new URL(cluster.urls.admin), { pathname: `/${database}` }).href;
    const anew = async (database: string) => {
      await admin.query(`drop database if exists ${database} with (force)`);
      await admin.query(`create database ${database} template template0`);
      return at(database);
    };
    for (const kind of ["rows", "files"] as const) {
      const url = await anew("bench_backup");
      await migrate({ adminUrl: url, platform });
      const bytes = join(work, `${kind}-bytes`);
      const disk = new DiskDriver(bytes);
      if (kind === "rows") await fillRows(url, megabytes);
      else await fillFiles(url, disk, megabytes);

      const backup = join(work, kind);
      const copy = join(work, `${kind}-copy`);
      const taken = await alternate(
        [
          async () => {
            rmSync(backup, { recursive: true, force: true });
            await takeBackup({ adminUrl: url, driver: disk, folder: backup, version: "0" });
          },
          async () => {
            rmSync(copy, { recursive: true, force: true });
            if (kind === "rows") execFileSync(join(folder, "pg_dump"), ["-Fc", `--file=${copy}`, url]);
            else execFileSync("cp", ["-a", bytes, copy]);
            flush(copy);
          },
        ],
        rounds,
      );
      print(`backup of ${megabytes} MB of ${kind}`, megabytes, taken, kind === "rows" ? "pg_dump" : "cp");

      const { manifest } = await checkBackup(backup);
      const back = join(work, `${kind}-back`);
      const restored = await alternate(
        [
          async () => {
            rmSync(back, { recursive: true, force: true });
            const adminUrl = await anew("bench_restored");
            await restoreBackup({ folder: backup, manifest, adminUrl, platform, driver: new DiskDriver(back) });
          },
          async () => {
            rmSync(back, { recursive: true, force: true });
            const target = await anew("bench_restored");
            // As whoever restores by hand would: rows are nothing without their statistics.
            if (kind === "rows") {
              execFileSync(join(folder, "pg_restore"), ["--single-transaction", `--dbname=${target}`, copy]);
              execFileSync(join(folder, "psql"), ["--quiet", "--command=analyze", target]);
            } else {
              execFileSync("cp", ["-a", bytes, back]);
              flush(back);
            }
          },
        ],
        rounds,
      );
      print(`restore of ${megabytes} MB of ${kind}`, megabytes, restored, kind === "rows" ? "pg_restore" : "cp");
    }
  } finally {
    for (const name of ["bench_backup", "bench_restored"])
      await admin.query(`drop database if exists ${name} with (force)`);
    await admin.end();
    await cluster.stop();
    rmSync(work, { recursive: true, force: true });
  }
}

/** What a backup that outlives a power cut has to do; no more, for others on this machine write as well. */
const flush = (path: string) => execFileSync("find", [path, "-exec", "sync", "{}", "+"]);

function print(title: string, megabytes: number, [ours = 0, theirs = 0]: number[], peer: string): void {
  const rate = (milliseconds: number) => `${(megabytes / (milliseconds / 1000)).toFixed(0)} MB/s`;
  console.info(`${title}: ${rate(ours)}, ${peer} ${rate(theirs)}: ${(theirs / ours).toFixed(2)}x`);
}

/** Rows of a kilobyte, which compress by half. */
async function fillRows(url: string, megabytes: number): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(
    "create table bench_rows (id bigint primary key, at timestamptz not null default now(), body text not null)",
  );
  await client.query(
    `insert into bench_rows (id, body)
     select n, (select string_agg(md5(n::text || k::text), ' ') from generate_series(1, 30) k)
       from generate_series(1, $1::int) n`,
    [megabytes * 1000],
  );
  await client.query("analyze");
  await client.end();
}

/** Half of the bytes in files of 5 MB, half in files of 50 kB. */
async function fillFiles(url: string, disk: DiskDriver, megabytes: number): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  for (const [size, count] of [
    [5_000_000, megabytes / 10],
    [50_000, megabytes * 10],
  ] as const) {
    for (let n = 0; n < count; n++) {
      const id = randomUUID();
      const { sha256 } = await putBytes(disk, `objects/${id}`, [randomBytes(size)] as never, { durable: false });
      await client.query(
        "insert into svc.storage_objects (id, name, size, type, sha256) values ($1, 'x', $2, 'application/octet-stream', $3)",
        [id, size, sha256],
      );
    }
  }
  await client.end();
}
