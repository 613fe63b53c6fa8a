/**
 * If this file fails, one caller's images block those of other callers, images are made for clients that have left, or
 * the cache of one file fills the disk. The engines here only count; the store and the rows are real.
 */
import { createHash, randomUUID } from "node:crypto";
import type pg from "pg";
import { beforeAll, expect, test } from "vitest";
import { DiskDriver } from "../../src/storage/drivers/disk.ts";
import type { StorageDriver } from "../../src/storage/drivers/driver.ts";
import { type FoundObject, ObjectFinder } from "../../src/storage/find-objects.ts";
import { type ImageChildren, ImageTooCostly } from "../../src/storage/image-children.ts";
import { objectKey, transformPrefix } from "../../src/storage/storage.ts";
import type { TransformOptions } from "../../src/storage/transform-options.ts";
import { createTransforms } from "../../src/storage/transforms.ts";
import { createLog } from "../../src/telemetry/log.ts";
import { database } from "../support/database.ts";
import { bytesFolder } from "../support/files.ts";

const db = database();
const disk = new DiskDriver(bytesFolder());
let pool: pg.Pool;

beforeAll(() => {
  pool = db.pool("system");
});

async function stored(): Promise<FoundObject> {
  const bytes = Buffer.from("a picture, as far as this file is concerned");
  const object = {
    id: randomUUID(),
    name: "a.png",
    size: bytes.length,
    type: "image/png",
    visibility: "public",
  } as const;
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  await disk.put(objectKey(object.id), bytes);
  await db.sql(
    "insert into svc.storage_objects (id, name, size, type, visibility, sha256) values ($1, $2, $3, $4, $5, $6)",
    [...Object.values(object), sha256],
  );
  // Its bytes are under its own id, as for older rows.
  return { ...object, bytesId: object.id, sha256 };
}

/** Makes images of a given size when released, and records the requests. */
function countingEngine(bytes = 10) {
  const made: TransformOptions[] = [];
  let active = 0;
  let most = 0;
  let looked = 0;
  const { promise: open, resolve: letGo } = Promise.withResolvers<void>();
  const engine: Pick<ImageChildren, "transform"> = {
    async transform(_source, options) {
      made.push(options);
      most = Math.max(most, ++active);
      await open;
      active--;
      return { type: "image/png", bytes: Buffer.alloc(bytes) };
    },
  };
  const driver: StorageDriver = Object.assign(Object.create(disk), {
    async readWhole(key: string) {
      const bytes = await disk.readWhole(key);
      looked++;
      return bytes;
    },
    put: disk.put.bind(disk),
    list: disk.list.bind(disk),
    deleteAll: disk.deleteAll.bind(disk),
    pathOf: disk.pathOf.bind(disk),
  });
  const transforms = createTransforms({ driver, log: createLog("silent") }, new ObjectFinder(pool), engine);
  return { transforms, made, letGo, most: () => most, looked: () => looked };
}

test("one costly picture is made at a time, and small ones beside it", async () => {
  const object = await stored();
  const { transforms, made, looked, letGo } = countingEngine();
  const costly: TransformOptions[] = [
    { w: 4096, h: 4096, f: "avif" },
    { w: 1001, f: "avif" },
    { h: 2001 },
    { w: 4096, h: 4095, f: "png", q: 1 },
  ];
  const ask = (options: TransformOptions) => transforms.get(object, options, false);
  const asked = costly.slice(0, 1).map(ask);
  await expect.poll(() => made.length).toBe(1);
  asked.push(...costly.slice(1).map(ask), ...[{ w: 1 }, { w: 2 }, { w: 3 }].map(ask));
  await expect.poll(looked).toBe(7); // they wait now
  await expect.poll(() => made).toEqual([costly[0], { w: expect.any(Number) }]);
  letGo();
  await Promise.all(asked);
  expect(made).toHaveLength(7);
});

test("a network with a hundred pictures delays another network's by one of them", async () => {
  const object = await stored();
  const { transforms, made, looked, letGo, most } = countingEngine();
  const ask = (network: string, w: number) => transforms.get(object, { w }, false, () => ({ network }));
  const many = Array.from({ length: 100 }, (_, index) => ask("192.0.2.1", index + 1));
  const other = ask("192.0.2.2", 500);
  await expect.poll(looked).toBe(101); // they wait now
  letGo();
  await other;
  expect(made.findIndex(({ w }) => w === 500)).toBeLessThanOrEqual(5);
  await Promise.all(many);
  expect(most()).toBe(2);
});

test("nothing is made for those who left while they waited; what had begun is finished, and kept", async () => {
  const object = await stored();
  const { transforms, made, looked, letGo } = countingEngine();
  const clients = Array.from({ length: 20 }, (_, index) => ({ w: index + 1, controller: new AbortController() }));
  const ask = ({ w, controller: { signal } }: (typeof clients)[number]) =>
    transforms.get(object, { w }, false, () => ({ signal }));
  const asked = clients.slice(0, 2).map(ask);
  await expect.poll(() => made.length).toBe(2);
  asked.push(...clients.slice(2).map(ask));
  await expect.poll(looked).toBe(20); // they wait now
  // Two request the same image: one that leaves does not cancel it for the other.
  const shared = transforms.get(object, { w: 20 }, false, () => ({ signal: new AbortController().signal }));
  for (const { controller } of clients) controller.abort(new Error("left"));
  const outcomes = await Promise.allSettled(asked);
  expect(outcomes.every(({ status }) => status === "rejected")).toBe(true);
  letGo();
  expect(await shared).not.toBeNull();
  await expect.poll(async () => (await kept(object)).count).toBe(3);
  expect(made.map(({ w }) => Number(w)).toSorted((a, b) => a - b)).toEqual([1, 2, 20]);
  // A new request for a cancelled image succeeds.
  expect(await transforms.get(object, { w: 7 }, false)).not.toBeNull();
});

test("the transforms of one file take 16 MiB of the store at most, however large each of them is", async () => {
  const object = await stored();
  const { transforms, letGo } = countingEngine(3 * 1024 * 1024);
  letGo();
  for (let w = 1; w <= 12; w++) {
    await transforms.get(object, { w }, false);
    expect((await kept(object)).bytes).toBeLessThanOrEqual(16 * 1024 * 1024);
  }
  // Another process counts the transforms that this one stored.
  const second = countingEngine(12 * 1024 * 1024);
  second.letGo();
  await second.transforms.get(object, { w: 100 }, false);
  expect((await kept(object)).bytes).toBeLessThanOrEqual(16 * 1024 * 1024);
  // A transform that is larger than the limit is sent, and does not displace the others.
  const before = await kept(object);
  const third = countingEngine(17 * 1024 * 1024);
  third.letGo();
  expect(await third.transforms.get(object, { w: 101 }, false)).not.toBeNull();
  expect(await kept(object)).toEqual(before);
});

test("a file of which a picture took too much is not tried again in another size, but for small ones", async () => {
  const object = await stored();
  let tried = 0;
  const engine: Pick<ImageChildren, "transform"> = {
    async transform(_source, { w = 0 }) {
      tried++;
      if (w > 2000) throw new ImageTooCostly("It took too long.");
      return { type: "image/png", bytes: Buffer.alloc(1) };
    },
  };
  const transforms = createTransforms({ driver: disk, log: createLog("silent") }, new ObjectFinder(pool), engine);
  for (let w = 4096; w > 4086; w--) await expect(transforms.get(object, { w }, false)).rejects.toThrow(/too/);
  expect(tried).toBe(1);
  expect(await transforms.get(object, { w: 100 }, false)).not.toBeNull();
});

async function kept({ id }: FoundObject): Promise<{ count: number; bytes: number }> {
  const all = { count: 0, bytes: 0 };
  for await (const { size } of disk.list(transformPrefix(id))) {
    all.count++;
    all.bytes += size;
  }
  return all;
}

test("pictures of a byte count in the cache of a process for what they take: at most 34,000 are kept", async () => {
  let looked = 0;
  const driver = {
    readWhole: async () => void looked++,
    pathOf: () => "/a.png",
    list: async function* () {},
    put: async () => {},
    deleteAll: async () => {},
  } as unknown as StorageDriver;
  const engine = { transform: async () => ({ type: "image/png", bytes: Buffer.alloc(1) }) };
  const object = { id: randomUUID(), size: 100, type: "image/png" } as FoundObject;
  const finder = { find: async () => object } as unknown as ObjectFinder;
  const storage = { driver, log: createLog("silent") };
  const transforms = createTransforms(storage, finder, engine);
  const ask = (n: number) => transforms.get(object, { w: (n % 200) + 1, h: Math.floor(n / 200) + 1 }, false);
  for (let n = 0; n < 34_000; n++) await ask(n);
  expect(looked).toBe(34_000);
  await ask(33_999);
  expect(looked).toBe(34_000);
  await ask(0); // displaced: it is looked for among the stored ones again
  expect(looked).toBe(34_001);
});
