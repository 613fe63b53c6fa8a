// If this file fails, walking over more files than fit into one statement misses damage, reports files that were
// deleted meanwhile, or removes bytes that are in use.
import { createHash, randomUUID } from "node:crypto";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type pg from "pg";
import { beforeAll, expect, test, vi } from "vitest";
import { DiskDriver } from "../../src/storage/drivers/disk.ts";
import { sweepStorage } from "../../src/storage/sweep.ts";
import { verifyStorage } from "../../src/storage/verify.ts";
import { createLog } from "../../src/telemetry/log.ts";
import { database } from "../support/database.ts";
import { bytesFolder } from "../support/files.ts";

const db = database();
const folder = bytesFolder();
const driver = new DiskDriver(folder);
const pathOf = (id: string) => driver.pathOf(`objects/${id}`);
let pool: pg.Pool;
/** More than two statements of 500, in the order of the walk. */
const ids = Array.from({ length: 1_203 }, () => randomUUID()).sort();

beforeAll(async () => {
  pool = db.pool("system");
  const sha256 = createHash("sha256").update("x").digest("hex");
  for (const id of ids) write(pathOf(id), "x");
  await db.sql(
    `insert into svc.storage_objects (id, name, size, type, sha256)
     select id, 'x', 1, 'text/plain', $2 from unnest($1::uuid[]) as id`,
    [ids, sha256],
  );
});

function write(path: string, content: string) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}
const onDisk = () =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => name);

test("verify reads every file once, finds all damage, and passes over what is deleted while it walks", async () => {
  const at = (index: number) => ids[index] as string;
  write(pathOf(at(0)), "y");
  write(pathOf(at(500)), "xx");
  write(pathOf(at(1_202)), "");
  const seen: string[] = [];
  const damage: Record<string, string> = {};
  for await (const one of verifyStorage(driver, pool)) {
    // In the statement that was already read, and in a later one.
    if (seen.length === 10) for (const gone of [at(20), at(1_100)]) await remove(gone);
    seen.push(one.id);
    if (one.damage) damage[one.id] = one.damage;
  }
  expect(seen).toEqual(ids.filter((_, index) => index !== 20 && index !== 1_100));
  expect(damage).toEqual({ [at(0)]: "other bytes", [at(500)]: "another size", [at(1_202)]: "another size" });
});

async function remove(id: string) {
  await db.sql("delete from svc.storage_objects where id = $1", [id]);
  await driver.delete(`objects/${id}`);
}

test("the sweep of a machine whose clock is days ahead leaves bytes that have no row yet", async () => {
  write(pathOf(randomUUID()), "whose call has not committed");
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 3 * 86_400_000 });
  try {
    expect(await sweepStorage({ driver, pool, log: createLog("silent") })).toBe(0);
  } finally {
    vi.useRealTimers();
  }
});

test("the sweep takes a thousand that no row has, leaves all that one has, and what is not ours", async () => {
  const kept = onDisk().length - 1; // without that of the test before
  const orphans = Array.from({ length: 1_010 }, () => randomUUID());
  for (const id of orphans) write(pathOf(id), "nobody's");
  write(join(folder, "incoming", randomUUID()), "half of a file, of a killed process");
  write(join(folder, "objects/aa/.DS_Store"), "not ours");
  write(join(folder, "transforms/lost+found/x/y"), "not ours");
  const sweep = () => sweepStorage({ driver, pool, log: createLog("silent") }, -60_000);
  expect([await sweep(), await sweep()]).toEqual([orphans.length + 1, 0]);
  expect(onDisk()).toHaveLength(kept + 2);
});
