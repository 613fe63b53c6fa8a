/**
 * Backup and restore beside what somebody would type instead: `pg_dump -Fc` and `pg_restore --single-transaction` for rows,
 * `cp` and `sync` for files. Two sets of data, so that neither hides the other; sides take turns. `--mb N` is the size of
 * each (Default: 200).
 */
import { execFileSync } from "node:child_process";
import { randomBytes, randomUUID } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import pg from "pg";
import { checkBackup } from "../src/backup/check.ts";
import { findPrograms } from "../src/backup/programs.ts";
import { restoreBackup } from "../src/backup/restore.ts";
import { takeBackup } from "../src/backup/take.ts";
import { openCluster } from "../src/cluster/open-cluster.ts";
import { migrate } from "../src/migrate/migrate.ts";
import { DiskDriver } from "../src/storage/drivers/disk.ts";
import { putBytes } from "../src/storage/storage.ts";
import { median } from "./measure.ts";

const platform = resolve(import.meta.dirname, "..");
const rounds = 2;

export async function run(): Promise<void> {
  const { values } = parseArgs({
    options: { mb: { type: "string", default: "200" } },
    allowPositionals: true,
    strict: false,
  });
  const megabytes = Number(values.mb);
  // In memory where that is possible, and without flushes: what the sides do is compared, and not the disk, to which others
  // write as well.
  const work = mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "svc-bench-backup-"));
  const settings = { fsync: "off" };
  const cluster = await openCluster({ directory: join(platform, ".svc"), name: "bench-backup", settings });
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
      const taken = await alternate([
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
      ]);
      print(`backup of ${megabytes} MB of ${kind}`, megabytes, taken, kind === "rows" ? "pg_dump" : "cp");

      const { manifest } = await checkBackup(backup);
      const back = join(work, `${kind}-back`);
      const restored = await alternate([
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
      ]);
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

interface Cost {
  /** In seconds. */
  wall: number;
  /** In seconds, of this process and the programs that it started; not the server's. */
  cpu: number;
}

/** Sides take turns; the first round is not counted. @returns the median of each */
async function alternate(sides: (() => Promise<void>)[]): Promise<Cost[]> {
  const costs = sides.map((): Cost[] => []);
  for (let round = 0; round <= rounds; round++) {
    for (const [at, side] of sides.entries()) {
      const [start, before] = [performance.now(), cpuSeconds()];
      await side();
      if (round > 0) costs[at]?.push({ wall: (performance.now() - start) / 1000, cpu: cpuSeconds() - before });
    }
  }
  return costs.map((all) => ({ wall: median(all.map(({ wall }) => wall)), cpu: median(all.map(({ cpu }) => cpu)) }));
}

/** Children count once they have ended. Linux tells in hundredths. */
function cpuSeconds(): number {
  if (!existsSync("/proc/self/stat")) return Number.NaN;
  const fields = readFileSync("/proc/self/stat", "utf8").split(") ")[1]?.split(" ") ?? [];
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / 100;
}

function print(title: string, megabytes: number, costs: Cost[], peer: string): void {
  const [ours, theirs] = costs as [Cost, Cost];
  const rate = ({ wall }: Cost) => `${(megabytes / wall).toFixed(0)} MB/s`;
  const cpu = (cost: Cost) => `${((cost.cpu * 1000) / megabytes).toFixed(1)} ms`;
  console.info(
    `${title}: ${rate(ours)}, ${peer} ${rate(theirs)}: ${(theirs.wall / ours.wall).toFixed(2)}x;` +
      ` CPU for a MB ${cpu(ours)}, ${peer} ${cpu(theirs)}`,
  );
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
