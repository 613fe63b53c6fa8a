/**
 * How images are made when many requests come at once, and when they are deleted meanwhile. The store can be told to
 * wait.
 */
import { createHash, randomUUID } from "node:crypto";
import type pg from "pg";
import sharp from "sharp";
import { beforeAll, expect, test } from "vitest";
import { DiskDriver } from "../../src/storage/drivers/disk.ts";
import type { StorageDriver } from "../../src/storage/drivers/driver.ts";
import { type FoundObject, ObjectFinder } from "../../src/storage/find-objects.ts";
import { objectKey, removeBytes, transformPrefix } from "../../src/storage/storage.ts";
import { createTransforms } from "../../src/storage/transforms.ts";
import { createLog } from "../../src/telemetry/log.ts";
import { database } from "../support/database.ts";
import { bytesFolder } from "../support/files.ts";

const db = database();
const disk = new DiskDriver(bytesFolder());
let pool: pg.Pool;
let picture: Buffer;

beforeAll(async () => {
  pool = db.pool("system");
  picture = await sharp({ create: { width: 90, height: 60, channels: 3, background: "#2060c0" } })
    .png()
    .toBuffer();
});

async function stored(): Promise<FoundObject> {
  const object = {
    id: randomUUID(),
    name: "a.png",
    size: picture.length,
    type: "image/png",
    visibility: "public",
  } as const;
  await disk.put(objectKey(object.id), picture);
  const sha256 = createHash("sha256").update(picture).digest("hex");
  await db.sql(
    "insert into svc.storage_objects (id, name, size, type, visibility, sha256) values ($1, $2, $3, $4, $5, $6)",
    [...Object.values(object), sha256],
  );
  return { ...object, bytesId: object.id, sha256 };
}

/** A disk that records reads, and returns originals only when released. It has no paths, like a remote store. */
function slowStore() {
  const read: string[] = [];
  const { promise: open, resolve: letGo } = Promise.withResolvers<void>();
  const driver: StorageDriver = {
    put: (...args) => disk.put(...args),
    compose: (...args) => disk.compose(...args),
    read: (...args) => disk.read(...args),
    delete: (key) => disk.delete(key),
    deleteAll: (prefix) => disk.deleteAll(prefix),
    list: (prefix) => disk.list(prefix),
    sweepLeftovers: (before) => disk.sweepLeftovers(before),
    async readWhole(key) {
      if (!key.startsWith("objects/")) return disk.readWhole(key);
      const bytes = await disk.readWhole(key);
      read.push(key);
      await open;
      return bytes;
    },
  };
  const transforms = createTransforms({ driver, log: createLog("silent") }, new ObjectFinder(pool));
  return { transforms, read, letGo };
}

const keptOf = async ({ id }: FoundObject) => {
  const keys: string[] = [];
  for await (const { key } of disk.list(transformPrefix(id))) keys.push(key);
  return keys.length;
};

test("fifty who ask for the same at once get one and the same, which is made once", async () => {
  const object = await stored();
  const { transforms, read, letGo } = slowStore();
  const asked = Array.from({ length: 50 }, () => transforms.get(object, { w: 30, f: "webp" }, false));
  await expect.poll(() => read.length).toBe(1);
  letGo();
  const images = await Promise.all(asked);
  expect(new Set(images).size).toBe(1);
  expect((await sharp(images[0]?.bytes).metadata()).width).toBe(30);
  // Later requests get it as well, and so does another process, from the store.
  await transforms.get(object, { w: 30, f: "webp" }, true);
  await slowStore().transforms.get(object, { w: 30, f: "webp" }, false);
  expect([read.length, await keptOf(object)]).toEqual([1, 1]);
});

test("two are made at once and a hundred wait; the next is told to come again, and nobody waits for ever", async () => {
  const object = await stored();
  const { transforms, read, letGo } = slowStore();
  const asked = Array.from({ length: 102 }, (_, index) => transforms.get(object, { w: index + 1 }, false));
  await expect.poll(() => read.length).toBe(2);
  await expect(transforms.get(object, { w: 2_000 }, false)).rejects.toMatchObject({
    code: "UNAVAILABLE",
    retryAfter: 2,
  });
  expect(read.length).toBe(2);
  letGo();
  expect((await Promise.all(asked)).every((image) => image !== null)).toBe(true);
  expect(await transforms.get(object, { w: 2_000 }, false)).not.toBeNull();
});

test("a picture that is deleted while it is made is sent to nobody, and nothing of it stays", async () => {
  const object = await stored();
  const { transforms, read, letGo } = slowStore();
  const asked = transforms.get(object, { w: 30 }, false);
  await expect.poll(() => read.length).toBe(1);
  await db.sql("delete from svc.storage_objects where id = $1", [object.id]);
  await removeBytes({ driver: disk }, object.id);
  letGo();
  expect([await asked, await keptOf(object)]).toEqual([null, 0]);
});

test("a picture whose file goes before it is opened is gone, not unreadable", async () => {
  const object = await stored();
  const transforms = createTransforms({ driver: disk, log: createLog("silent") }, new ObjectFinder(pool));
  await db.sql("delete from svc.storage_objects where id = $1", [object.id]);
  await removeBytes({ driver: disk }, object.id);
  expect(await transforms.get(object, { w: 30 }, false)).toBeNull();
});

test("what fails is asked for again by the next", async () => {
  const object = await stored();
  await disk.put(objectKey(object.id), Buffer.from("no picture"));
  const transforms = createTransforms({ driver: disk, log: createLog("silent") }, new ObjectFinder(pool));
  await expect(transforms.get(object, { w: 30 }, false)).rejects.toThrow("cannot be read");
  await disk.put(objectKey(object.id), picture);
  expect(await transforms.get(object, { w: 30 }, false)).not.toBeNull();
});

test("of one picture 64 transforms are kept at most, whoever asks in which process", async () => {
  const object = await stored();
  const make = () => createTransforms({ driver: disk, log: createLog("silent") }, new ObjectFinder(pool));
  let transforms = make();
  for (let w = 1; w <= 64; w++) await transforms.get(object, { w }, false);
  expect(await keptOf(object)).toBe(64);
  transforms = make();
  expect(await transforms.get(object, { w: 65 }, false)).not.toBeNull();
  expect(await keptOf(object)).toBe(1);
  for (let w = 1; w <= 64; w++) await transforms.get(object, { w, q: 1 }, false);
  expect(await keptOf(object)).toBe(1);
});
