/** Signed upload URLs: the holder can store one file for the URL's maker, and nothing else. */
import { request } from "node:http";
import type pg from "pg";
import { beforeAll, expect, test } from "vitest";
import { DiskDriver } from "../../src/storage/drivers/disk.ts";
import { database } from "../support/database.ts";
import { bytesFolder, fileProcedures } from "../support/files.ts";
import { apiWith, service, type User } from "../support/service.ts";
import { broken } from "../support/uploads.ts";

const db = database();
const dir = bytesFolder();
const svc = service(db, apiWith({ procedures: fileProcedures }), {
  storage: { driver: "disk", dir },
  limits: { uploadBytes: 10_000_000 },
});
let pool: pg.Pool;
let ann: User;
let bob: User;
beforeAll(async () => {
  pool = db.pool("system");
  ann = await svc.signUp("ann");
  bob = await svc.signUp("bob");
});

const make = async (options: object = {}) => (await svc.mutate(ann, "files.uploadUrl", { options })).body.json;
const put = (url: string, body: BodyInit, headers: Record<string, string> = {}) =>
  svc.fetch(url, { method: "PUT", body, headers, ...(body instanceof ReadableStream && { duplex: "half" }) });
const rows = (id: string) => db.sql("select 1 from svc.storage_objects where id = $1", [id]);

test("takes a file without credentials, as what its maker said and as the maker's", async () => {
  const { id, url, expiresAt } = await make({ name: "../scan.pdf", type: "application/pdf", ttlSeconds: 60 });
  expect(Date.parse(expiresAt) - Date.now()).toBeLessThanOrEqual(60_000);
  const { status, body } = await put(url, "%PDF", { "content-type": "text/html" });
  expect([status, body]).toEqual([200, { id }]);
  const meta = { id, name: "scan.pdf", size: 4, type: "application/pdf", visibility: "private" };
  expect((await svc.query(ann, "files.meta", { id })).body.json).toEqual(meta);
  expect((await svc.query(bob, "files.meta", { id })).status).toBe(404);
  expect((await svc.query(ann, "files.read", { id })).body.json).toBe("%PDF");
});

test("works once, of many at the same moment too, also after its file was deleted", async () => {
  const { id, url } = await make({ visibility: "public" });
  const answers = await Promise.all(Array.from({ length: 20 }, (_, at) => put(url, `number ${at}`)));
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  expect(answers.filter(({ status }) => status === 404)).toHaveLength(19);
  const winner = answers.findIndex(({ status }) => status === 200);
  expect((await svc.fetch(`/api/storage/${id}`)).body).toBe(`number ${winner}`);
  await svc.mutate(ann, "files.remove", { id });
  expect((await put(url, "again")).status).toBe(404);
  expect(await broken(new DiskDriver(dir), pool)).toEqual([]);
});

test("is nothing without its own token, after its time, or for anything but PUT", async () => {
  const { id, url } = await make();
  const other = await make();
  const token = url.split("=")[1];
  const first = token.startsWith("A") ? "B" : "A";
  for (const bad of ["", `?token=`, `?token=${first}${token.slice(1)}`, `?token=${other.url.split("=")[1]}`]) {
    expect((await put(`/api/storage/uploads/${id}${bad}`, "x")).status).toBe(404);
  }
  expect((await put(url.replace(id, crypto.randomUUID()), "x")).status).toBe(404);
  for (const method of ["GET", "POST"]) expect((await svc.fetch(url, { method })).status).toBe(405);
  await db.sql("update svc.storage_uploads set expires_at = now() - interval '1 second' where id = $1", [id]);
  expect((await put(url, "x")).status).toBe(404);
  expect(await rows(id)).toEqual([]);
});

test("takes no part of a file, and may be used again for the whole", async () => {
  const { id, url } = await make();
  const { status, body } = await put(url, "first", { "content-range": "bytes 0-4/10" });
  expect([status, body.code]).toEqual([400, "BAD_REQUEST"]);
  expect(await rows(id)).toEqual([]);
  expect((await put(url, "firstrest!")).status).toBe(200);
});

test("takes at most what it was made for, and may be used again after a refusal", async () => {
  const { id, url } = await make({ maxBytes: 5 });
  expect((await put(url, "123456")).status).toBe(413);
  expect((await put(url, new Blob(["123", "456"]).stream())).status).toBe(413);
  expect(await broken(new DiskDriver(dir), pool)).toEqual([]);
  expect((await put(url, "12345")).status).toBe(200);
  expect(await rows(id)).toHaveLength(1);
});

test("stores nothing of what breaks off, and may be used again", async () => {
  const { id, url } = await make();
  const gone = new Promise<void>((resolve) => {
    const sending = request(svc.url + url, { method: "PUT", headers: { "content-length": "1000000" } });
    sending.on("error", () => {}).on("close", resolve);
    sending.write(Buffer.alloc(300_000), () => sending.destroy());
  });
  await gone;
  // The service notices it a moment later; until then the URL is in use.
  await expect.poll(async () => (await put(url, "whole")).status).toBe(200);
  expect((await svc.query(ann, "files.read", { id })).body.json).toBe("whole");
});

test("is not made by a call that fails, and not in a query", async () => {
  const before = await db.snapshot("svc.storage_uploads");
  const { status, body } = await svc.mutate(ann, "files.uploadUrl", { fail: true });
  expect([status, body.error]).toEqual([409, expect.stringMatching(/^\/api\/storage\/uploads\//)]);
  expect((await put(body.error, "x")).status).toBe(404);
  expect(await db.snapshot("svc.storage_uploads")).toEqual(before);
  for (const options of [
    { maxBytes: 0 },
    { maxBytes: 1e9 },
    { ttlSeconds: 0 },
    { ttlSeconds: 1e9 },
    { visibility: "x" },
  ]) {
    expect((await svc.mutate(ann, "files.uploadUrl", { options })).status).toBe(400);
  }
});

test("keeps its token out of the log and the database", async () => {
  const { url } = await make();
  const token = url.split("=")[1];
  await put(url, "x");
  await put(url, "x");
  expect(svc.logged.join("")).not.toContain(token);
  const { url: open } = await make();
  const kept = JSON.stringify(await db.snapshot("svc.storage_uploads"));
  expect(kept).not.toContain(open.split("=")[1]);
});
