/** The requirements of storage for every driver. For a new driver, call this from `drivers.test.ts`. */
import { randomBytes, randomUUID } from "node:crypto";
import { buffer } from "node:stream/consumers";
import { describe, expect, test } from "vitest";
import type { ByteRange, StorageDriver } from "../../src/storage/drivers/driver.ts";

const future = () => new Date(Date.now() + 60_000);
const past = () => new Date(Date.now() - 60_000);

export function driverConformance(name: string, open: () => StorageDriver): void {
  const put = (key: string, bytes: Uint8Array, chunk = 65_536) => open().put(key, inChunks(bytes, chunk));
  const read = async (key: string, range?: ByteRange) => {
    const stream = await open().read(key, range);
    return stream && (await buffer(stream));
  };
  const keys = async (prefix: string) => {
    const found: string[] = [];
    for await (const { key } of open().list(prefix)) found.push(key);
    return found.sort();
  };
  const newKey = () => `objects/${randomUUID()}`;

  describe(name, () => {
    test.each([0, 1, 65_536, 6_000_000, 12_000_001])("gives back %i bytes as they were put", async (size) => {
      const key = newKey();
      const bytes = randomBytes(size);
      await put(key, bytes, 1_000_003);
      expect((await read(key))?.equals(bytes)).toBe(true);
    });

    test.each([0, 70_000])("gives back %i bytes that were put whole", async (size) => {
      const key = newKey();
      const bytes = randomBytes(size);
      await open().put(key, bytes);
      expect((await read(key))?.equals(bytes)).toBe(true);
    });

    test("gives back everything at once, and null where there is nothing", async () => {
      const key = newKey();
      const bytes = randomBytes(700_000);
      await put(key, bytes);
      expect((await open().readWhole(key))?.equals(bytes)).toBe(true);
      expect(await open().readWhole(newKey())).toBeNull();
      expect(await open().readWhole(`transforms/${randomUUID()}/10-10`)).toBeNull();
    });

    test("gives back a range, both ends included", async () => {
      const key = newKey();
      await put(key, Buffer.from("0123456789"));
      expect(String(await read(key, { start: 0, end: 0 }))).toBe("0");
      expect(String(await read(key, { start: 3, end: 6 }))).toBe("3456");
      expect(String(await read(key, { start: 8, end: 9 }))).toBe("89");
    });

    test("has nothing under a key that was never put", async () => {
      expect(await read(newKey())).toBeNull();
      expect(await read(`transforms/${randomUUID()}/10-10`)).toBeNull();
    });

    test("replaces what is under a key", async () => {
      const key = newKey();
      await put(key, Buffer.from("first"));
      await put(key, Buffer.from("second"));
      expect(String(await read(key))).toBe("second");
    });

    test("keeps one of two that are put at once, whole", async () => {
      const key = newKey();
      const [first, second] = [Buffer.alloc(300_000, "a"), Buffer.alloc(200_000, "b")];
      await Promise.all([put(key, first), put(key, second)]);
      const kept = (await read(key)) as Buffer;
      expect(kept.equals(first) || kept.equals(second)).toBe(true);
    });

    test.each([1_000, 11_000_000])("keeps nothing of a source that breaks after %i bytes", async (size) => {
      const key = newKey();
      const breaks = async function* () {
        yield* inChunks(randomBytes(size), 1_000_000);
        throw new Error("the client went away");
      };
      await expect(open().put(key, breaks())).rejects.toThrow("the client went away");
      expect(await read(key)).toBeNull();
      expect(await keys(key)).toEqual([]);
    });

    test("deletes, also what is not there", async () => {
      const key = newKey();
      await put(key, Buffer.from("x"));
      await open().delete(key);
      expect(await read(key)).toBeNull();
      await open().delete(key);
    });

    test("deletes everything under a prefix and nothing beside it", async () => {
      const [one, other] = [randomUUID(), randomUUID()];
      const mine = ["10-10", "20-20", "webp"].map((name) => `transforms/${one}/${name}`);
      for (const key of [...mine, `transforms/${other}/10-10`, `objects/${one}`]) await put(key, Buffer.from(key));
      await open().deleteAll(`transforms/${one}/`);
      for (const key of mine) expect(await read(key)).toBeNull();
      expect(String(await read(`transforms/${other}/10-10`))).toBe(`transforms/${other}/10-10`);
      expect(String(await read(`objects/${one}`))).toBe(`objects/${one}`);
      await open().deleteAll(`transforms/${one}/`);
    });

    test("lists what is under a prefix, with its size and age", async () => {
      const id = randomUUID();
      await put(`transforms/${id}/a`, Buffer.from("12345"));
      await put(`transforms/${id}/b`, Buffer.from("1"));
      const listed = new Map<string, number>();
      for await (const { key, size, modifiedAt } of open().list("transforms/")) {
        if (!key.includes(id)) continue;
        listed.set(key, size);
        expect(modifiedAt.getTime()).toBeGreaterThan(past().getTime());
        expect(modifiedAt.getTime()).toBeLessThan(future().getTime());
      }
      expect([...listed].sort()).toEqual([
        [`transforms/${id}/a`, 5],
        [`transforms/${id}/b`, 1],
      ]);
    });

    test("lists and deletes more than fit into one answer of a store", async () => {
      const id = randomUUID();
      const names = Array.from({ length: 205 }, (_, index) => `transforms/${id}/${index}`);
      for (let at = 0; at < names.length; at += 50) {
        await Promise.all(names.slice(at, at + 50).map((key) => put(key, Buffer.from("x"))));
      }
      expect(await keys(`transforms/${id}/`)).toHaveLength(205);
      await open().deleteAll(`transforms/${id}/`);
      expect(await keys(`transforms/${id}/`)).toEqual([]);
    });

    const sizesOfParts = [[], [1], [70_000], [3, 1, 70_000], [5_242_880, 6_000_000, 1]];
    test.each(sizesOfParts.map((sizes) => ({ sizes })))(
      "joins parts of $sizes bytes, which stay",
      async ({ sizes }) => {
        const id = randomUUID();
        const parts = sizes.map((size, index) => ({ key: `uploads/${id}/${index}`, size }));
        const bytes = parts.map(({ size }) => randomBytes(size));
        for (const [index, { key }] of parts.entries()) await put(key, bytes[index] as Buffer);
        const keys = [newKey(), newKey()];
        for (const key of keys) await open().compose(key, parts);
        for (const [index, part] of parts.entries()) {
          expect((await read(part.key))?.equals(bytes[index] as Buffer)).toBe(true);
        }
        await open().deleteAll(`uploads/${id}/`);
        for (const key of keys) expect((await read(key))?.equals(Buffer.concat(bytes))).toBe(true);
        expect(await open().sweepLeftovers(future())).toBe(0);
      },
    );

    test("joins no parts of which one is missing", async () => {
      const id = randomUUID();
      await put(`uploads/${id}/0`, Buffer.from("x"));
      const missing = { key: `uploads/${id}/1`, size: 1 };
      const key = newKey();
      for (const parts of [[missing], [{ key: `uploads/${id}/0`, size: 1 }, missing]]) {
        await expect(open().compose(key, parts)).rejects.toThrow();
        expect(await read(key)).toBeNull();
      }
      expect(await open().sweepLeftovers(future())).toBe(0);
    });

    test("sweeps leftovers without touching what was put", async () => {
      const key = newKey();
      await put(key, Buffer.from("stays"));
      await open().sweepLeftovers(future());
      expect(String(await read(key))).toBe("stays");
      expect(await open().sweepLeftovers(future())).toBe(0);
    });

    test("lets go of a stream that nobody reads to its end", async () => {
      const key = newKey();
      await put(key, randomBytes(2_000_000));
      for (let round = 0; round < 60; round++) {
        const stream = await open().read(key);
        stream?.destroy();
      }
      expect((await read(key))?.length).toBe(2_000_000);
    });
  });
}

async function* inChunks(bytes: Uint8Array, size: number) {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}
