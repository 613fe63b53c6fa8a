// If this file fails, nobody hears that the disk of the stored files is not mounted, and new files land on another one.
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import sharp from "sharp";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { describeMissingFolder } from "../../src/storage/missing-folder.ts";
import { createDriver, objectKey } from "../../src/storage/storage.ts";
import { procedure } from "../fixture/backend/index.ts";
import { database } from "../support/database.ts";
import { fileProcedures, stored } from "../support/files.ts";
import { apiWith, service } from "../support/service.ts";
import { begun, head, patch } from "../support/uploads.ts";

const db = database();
const someId = "11111111-1111-4111-8111-111111111111";

test("a folder that has none of the files of the rows is told, one that lacks a few is not", async () => {
  const parent = mkdtempSync(join(tmpdir(), "svc-missing-"));
  onTestFinished(() => rmSync(parent, { recursive: true }));
  const config = { driver: "disk", dir: join(parent, "files") } as const;
  const driver = createDriver(config);
  const system = await db.connect("system");
  const missing = () => describeMissingFolder(config, driver, system as never);
  expect(await missing()).toBeNull(); // no files yet, and no folder

  const rows = await db.sql<{ id: string }>(`insert into svc.storage_objects (id, name, size, type, sha256)
    select gen_random_uuid(), 'x', 1, 'text/plain', repeat('0', 64) from generate_series(1, 3) returning id`);
  await driver.put(objectKey(String(rows[1]?.id)), Buffer.from("x"));
  expect(await missing()).toBeNull();

  renameSync(config.dir, join(parent, "elsewhere"));
  await createDriver(config).put(objectKey(someId), Buffer.from("new")); // a restarted service makes the folder
  expect(await missing()).toContain(`are not in ${config.dir}: is its disk mounted`);
});

describe("a folder that is moved away", () => {
  const parent = mkdtempSync(join(tmpdir(), "svc-moved-"));
  afterAll(() => rmSync(parent, { recursive: true }));
  const dir = join(parent, "files");
  const buffer = procedure.mutation
    .name("moved.buffer")
    .handler(({ context }) => context.storage.storeBuffer(Buffer.from("x"), "a.txt", "text/plain"));
  const svc = service(db, apiWith({ procedures: { buffer, ...fileProcedures } }), {
    storage: { driver: "disk", dir },
    production: true,
  } as object);

  test("is not made again by uploads, which are answered by 503 until it is back", async () => {
    const ann = await svc.signUp("ann");
    const send = async () => {
      const id = await begun(svc, ann, 1);
      const sent = await Promise.all([svc.mutate(ann, "moved.buffer"), patch(svc, ann, id, 0, "x")]);
      return sent.map(({ status }) => status);
    };
    expect(await send()).toEqual([200, 204]); // the first of a new application, which make it
    const underWay = await begun(svc, ann, 2);
    await patch(svc, ann, underWay, 0, "a");

    renameSync(dir, join(parent, "elsewhere"));
    expect(await send()).toEqual([503, 503]);
    expect((await head(svc, ann, underWay)).status).toBe(503);
    expect(existsSync(dir)).toBe(false);
    expect(svc.logged.filter((line) => line.includes(`The folder ${dir} was there and is gone`)).length).toBe(3);

    renameSync(join(parent, "elsewhere"), dir);
    expect(await send()).toEqual([200, 204]);
    expect((await patch(svc, ann, underWay, 1, "b")).status).toBe(204);
  });

  test("answers reads with 503, and no file counts as missing", async () => {
    const ann = await svc.signUp("ann");
    const image = sharp({ create: { width: 9, height: 9, channels: 3, background: "red" } });
    const file = new File([new Uint8Array(await image.png().toBuffer())], "a.png", { type: "image/png" });
    const id = await stored(svc, ann, file, { visibility: "public" });
    const statuses = async () => {
      const paths = [`/api/storage/${id}`, `/api/storage/${id}?w=3`].map((path) => fetch(svc.url + path));
      return (await Promise.all([...paths, svc.query(ann, "files.read", { id })])).map(({ status }) => status);
    };
    renameSync(dir, join(parent, "elsewhere"));
    expect(await statuses()).toEqual([503, 503, 503]);

    renameSync(join(parent, "elsewhere"), dir);
    expect(await statuses()).toEqual([200, 200, 200]);
    rmSync(join(dir, "objects"), { recursive: true });
    expect(await statuses()).toEqual([404, 200, 404]); // the folder is there; the image was made before
  });
});

test("a folder that was there at the start, or that another process has made, is not made again", async () => {
  const parent = mkdtempSync(join(tmpdir(), "svc-moved-"));
  onTestFinished(() => rmSync(parent, { recursive: true }));
  const dir = join(parent, "files");
  const put = (driver: ReturnType<typeof createDriver>) => driver.put(objectKey(someId), Buffer.from("x"));
  const [first, second] = [createDriver({ driver: "disk", dir }), createDriver({ driver: "disk", dir })];
  await put(first);
  await put(second);
  const third = createDriver({ driver: "disk", dir });
  expect(await third.readWhole(objectKey(someId))).toEqual(Buffer.from("x"));
  rmSync(dir, { recursive: true });
  for (const driver of [first, second, third]) await expect(put(driver)).rejects.toThrow(`The folder ${dir} was there`);
  const inDevelopment = createDriver({ driver: "disk", dir }, false);
  for (const _ of [1, 2]) {
    await put(inDevelopment);
    rmSync(dir, { recursive: true });
  }
});

const isMounting = (() => {
  try {
    const dir = mkdtempSync(join(tmpdir(), "svc-mount-"));
    execFileSync("mount", ["-t", "tmpfs", "svc-test", dir], { stdio: "ignore" });
    execFileSync("umount", [dir]);
    return true;
  } catch {
    return false;
  }
})();
const why = isMounting ? "" : " [skipped: it needs root, to mount a disk]";

test.skipIf(!isMounting)(`nothing is stored in the empty folder below an unmounted disk${why}`, async () => {
  const dir = mkdtempSync(join(tmpdir(), "svc-mount-"));
  const mount = () => execFileSync("mount", ["-t", "tmpfs", "svc-test", dir]);
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  mount();
  const driver = createDriver({ driver: "disk", dir });
  await driver.put(objectKey(someId), Buffer.from("x"));
  execFileSync("umount", [dir]);
  await expect(driver.put(objectKey(someId), Buffer.from("x"))).rejects.toThrow(`The folder ${dir} was there`);
  expect(readdirSync(dir)).toEqual([]);
  mount();
  onTestFinished(() => void execFileSync("umount", [dir]));
  await driver.put(objectKey(someId), Buffer.from("x"));
});
