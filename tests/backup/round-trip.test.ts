// If this file fails, an operator's backup does not hold what was there, or cannot be put back.
import { createHash, randomUUID } from "node:crypto";
import { cp, mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DiskDriver } from "../../src/storage/drivers/disk.ts";
import { svc } from "../support/cli.ts";
import { type Database, database } from "../support/database.ts";
import { root } from "../support/global-setup.ts";

const db = database();
const target = database("template0");
let app: string;
let elsewhere: string;

beforeAll(async () => {
  app = await mkdtemp(join(root, ".svc/backup-"));
  await cp(join(root, "tests/fixture"), app, { recursive: true });
  elsewhere = await mkdtemp(join(root, ".svc/backup-"));
  await cp(join(root, "tests/fixture"), elsewhere, { recursive: true });
});
afterAll(async () => {
  await rm(app, { recursive: true, force: true });
  await rm(elsewhere, { recursive: true, force: true });
});

const run = (from: Database, cwd: string, ...args: string[]) => svc(from, cwd, ["db", ...args]).ended;

async function store(disk: DiskDriver, content: string): Promise<string> {
  const id = randomUUID();
  await disk.put(`objects/${id}`, [Buffer.from(content)] as never);
  await db.sql(
    "insert into svc.storage_objects (id, name, size, type, sha256) values ($1, 'a', $2, 'text/plain', $3)",
    [id, content.length, createHash("sha256").update(content).digest("hex")],
  );
  return id;
}

describe("what was backed up", () => {
  test("is verified and restored: rows, files, roles, grants and policies, jobs", async () => {
    const id = await store(new DiskDriver(join(app, ".svc/storage")), "hello");
    const folder = join(app, "first");
    expect(await run(db, app, "backup", folder)).toMatchObject({ code: 0 });
    expect(await run(target, elsewhere, "restore", folder)).toMatchObject({ code: 0 });
    expect((await new DiskDriver(join(elsewhere, ".svc/storage")).readWhole(`objects/${id}`))?.toString()).toBe(
      "hello",
    );
    const rows = "select name, rows, hash from svc_private.describe_rows() order by 1";
    expect(await target.sql(rows)).toEqual(await db.sql(rows));
  });
});
