// If this file fails, a second database with the same folder or bucket, such as a developer's or a restored copy, removes the
// files of the service: none of them has a row there.
import { randomUUID } from "node:crypto";
import { mkdtemp, rm, utimes } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, expect, test } from "vitest";
import { loadConfig } from "../../src/config/load-config.ts";
import { claimStorage } from "../../src/storage/claim.ts";
import { DiskDriver } from "../../src/storage/drivers/disk.ts";
import { type Database, database } from "../support/database.ts";
import { emptyFolder } from "../support/files.ts";
import { apiWith } from "../support/service.ts";
import { until, workers } from "../support/worker.ts";

// Copies of one template: each is to the other as a database that was restored from its backup.
const db = database();
const copy = database();
const worker = workers(db, apiWith({ procedures: {} }));

const dir = await mkdtemp(join(tmpdir(), "svc-claim-"));
const driver = new DiskDriver(dir);
afterAll(() => rm(dir, { recursive: true, force: true }));
beforeEach(() => emptyFolder(dir));

const claim = (by: Database, adopt?: boolean) => claimStorage({ driver, pool: by.pool("system") }, adopt);
const refused = /were not removed[\s\S]*svc storage gc --adopt/;

test("a copy does not sweep the files of its original, nor another database", async () => {
  expect(await claim(db)).toBe(false);
  await expect(claim(copy)).rejects.toThrow(refused);
  await claim(db, true);
  await copy.sql("update svc_private.storage_mark set database = gen_random_uuid(), sweeps = 1000");
  await expect(claim(copy)).rejects.toThrow(refused);
});

test("both stop when a copy was first, until an operator says to which the files belong", async () => {
  await claim(db);
  await copy.sql("update svc_private.storage_mark set (database, sweeps) = ($1::uuid, $2::bigint)", await marked());
  expect(await claim(copy)).toBe(true);
  await expect(claim(db)).rejects.toThrow(refused);
  await expect(claim(copy)).rejects.toThrow(refused);
  await claim(db, true);
  expect(await claim(db)).toBe(true);
  await expect(claim(copy)).rejects.toThrow(refused);
});

test("an earlier state of the database does not sweep; a crash before the mark was written changes nothing", async () => {
  await claim(db);
  const [database, sweeps] = await marked();
  await driver.put("mark", Buffer.from(`${database} ${Number(sweeps) - 1}`));
  expect(await claim(db)).toBe(true);
  await db.sql("update svc_private.storage_mark set sweeps = sweeps - 1");
  await expect(claim(db)).rejects.toThrow(refused);
});

test("the daily job marks files without a mark, removes nothing yet, and fails where they are another's", async () => {
  const orphan = randomUUID();
  await driver.put(`objects/${orphan}`, Buffer.from("nobody's"));
  await utimes(driver.pathOf(`objects/${orphan}`), 0, 0);
  const swept = () => driver.readWhole(`objects/${orphan}`).then((bytes) => bytes === null);

  await sweepByJob();
  expect(await swept()).toBe(false);
  await driver.put("mark", Buffer.from(`${randomUUID()} 7`));
  expect(await sweepByJob()).toMatch(refused);
  expect(await swept()).toBe(false);
  await claim(db, true);
  await sweepByJob();
  expect(await swept()).toBe(true);
});

/** The mark, as two parts. */
async function marked(): Promise<string[]> {
  return String(await driver.readWhole("mark")).split(" ");
}

/** @returns the error of the job */
async function sweepByJob(): Promise<string | null> {
  const config = await loadConfig({ cwd: join(import.meta.dirname, "../fixture"), env: {} });
  await db.sql("truncate graphile_worker._private_jobs, svc.job_history");
  await db.sql("select svc_private.keep_sweep_job('0 seconds')");
  const [{ id } = { id: "" }] = await db.sql<{ id: string }>("select id from graphile_worker._private_jobs");
  const running = await worker({ config: { ...config, storage: { driver: "disk", dir } } });
  const text = "select last_error as error from graphile_worker._private_jobs where id = $1";
  const job = async () => (await db.sql<{ error: string | null }>(text, [id]))[0];
  await until(async () => (await job())?.error !== null); // gone when it is done
  await running.stop();
  return (await job())?.error ?? null;
}
