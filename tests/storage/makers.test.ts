// If this file fails, links of somebody who is banned or removed still open and add files, or those that an administrator made
// while acting as a user do so for a week.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { admin } from "better-auth/plugins";
import { beforeAll, expect, test } from "vitest";
import { defineApi } from "../../src/app/api.ts";
import { defineAuth } from "../../src/contract/auth.ts";
import { CallStorage } from "../../src/storage/context.ts";
import { database } from "../support/database.ts";
import { bytesFolder, fileProcedures, stored } from "../support/files.ts";
import { migrateAuth } from "../support/plugin-tables.ts";
import { service, type User } from "../support/service.ts";

const db = database("platform");
const dir = bytesFolder();
const auth = defineAuth({ betterAuth: (defaults) => ({ ...defaults, plugins: [admin()] }) });
beforeAll(() => migrateAuth(db, auth));
const app = service(
  db,
  defineApi({ procedures: { files: fileProcedures } }),
  { storage: { driver: "disk", dir } },
  undefined,
  auth,
);

const file = () => new File(["secret"], "a.txt", { type: "text/plain" });
const week = { ttlSeconds: 604_800 };
const links = async (user: User) => ({
  upload: (await app.mutate(user, "files.uploadUrl", { options: week })).body.json,
  read: (await app.query(user, "files.grant", { id: await stored(app, user, file()), options: week })).body.json,
});
const opens = async ({ upload, read }: Awaited<ReturnType<typeof links>>) => [
  (await app.fetch(upload.url, { method: "PUT", body: "x" })).status,
  (await app.fetch(read.url)).status,
];

const ban = (user: User) => db.sql('update auth."user" set banned = true where id = $1', [user.id]);

test("links of a banned user open nothing, for as long as the ban lasts", async () => {
  const ann = await app.signUp("ann");
  const made = await links(ann);
  await ban(ann);
  expect(await opens(made)).toEqual([404, 404]);
  await db.sql('update auth."user" set ban_expires = now() where id = $1', [ann.id]);
  expect(await opens(made)).toEqual([200, 200]);
});

/** Two bytes, the second one when it may be sent. */
function slowly(path: string, init: RequestInit) {
  const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const body = new ReadableStream({
    async pull(sending) {
      sending.enqueue(new TextEncoder().encode("x"));
      first.resolve();
      await second.promise;
      sending.enqueue(new TextEncoder().encode("x"));
      sending.close();
    },
  });
  return { answer: app.fetch(path, { ...init, body, duplex: "half" } as RequestInit), first, second };
}

test("a file whose sender began before the ban is not stored", async () => {
  const ann = await app.signUp("ann");
  const { upload } = await links(ann);
  const { answer, second } = slowly(upload.url, { method: "PUT" });
  const claimed = "select from svc.storage_uploads where id = $1 and claimed_at is not null";
  await expect.poll(async () => (await db.sql(claimed, [upload.id])).length).toBe(1);
  await ban(ann);
  second.resolve();
  expect((await answer).status).toBe(404);
  expect(await db.sql("select from svc.storage_objects where id = $1", [upload.id])).toEqual([]);
});

test("nor is one in parts, whose last part began before", async () => {
  const ann = await app.signUp("ann");
  const headers = { authorization: `Bearer ${ann.token}`, "tus-resumable": "1.0.0" };
  const begun = await app.fetch("/api/storage/uploads", {
    method: "POST",
    headers: { ...headers, "upload-length": "2" },
  });
  const path = begun.headers.get("location") ?? "";
  const part = { ...headers, "upload-offset": "0", "content-type": "application/offset+octet-stream" };
  const { answer, first, second } = slowly(path, { method: "PATCH", headers: part });
  await first.promise;
  await expect.poll(() => readdirSync(join(dir, "incoming")).length).toBe(1); // the request has been let in
  await ban(ann);
  second.resolve();
  expect((await answer).status).toBe(404);
  const files = () => db.sql("select from svc.storage_objects where user_id = $1", [ann.id]);
  expect(await files()).toEqual([]);
  await db.sql('update auth."user" set banned = false where id = $1', [ann.id]);
  const { body } = await app.post("/api/auth/sign-in", { email: ann.email, password: "correct horse" });
  const again = { ...headers, authorization: `Bearer ${body.sessionToken}` };
  await expect.poll(async () => (await app.fetch(path, { method: "HEAD", headers: again })).status).toBe(200);
  expect(await files()).toHaveLength(1);
});

test("links outlive the session of their maker, and another password", async () => {
  const ann = await app.signUp("ann");
  const made = await links(ann);
  await app.post("/api/auth/sign-out-everywhere", {}, ann);
  expect(await opens(made)).toEqual([200, 200]);
});

/** Each member of `ctx.storage`: `short` if what it makes lasts minutes in a visit, or why it leaves no way in. */
const members: Record<string, string> = {
  store: "it stores a file of the user",
  storeBuffer: "as store",
  createReadGrant: "short",
  createUploadUrl: "short",
  getPublicUrl: "it opens what is public",
  setVisibility: "the user sees it, and changes it back",
  getMeta: "it only reads",
  requireOwned: "it only reads",
  find: "it only reads",
  read: "it only reads",
  delete: "it only takes away",
  committed: "of the call",
  rolledBack: "of the call",
};

test("every member of the storage is known to leave a way in after a visit, or not", () => {
  const found = Object.getOwnPropertyNames(CallStorage.prototype).filter((name) => name !== "constructor");
  expect(found.sort()).toEqual(Object.keys(members).sort());
});

test("links that an administrator makes while acting as a user last five minutes", async () => {
  const [ann, boss] = [await app.signUp("ann"), await app.signUp("boss")];
  await db.sql(`update auth."user" set role = 'admin' where id = $1`, [boss.id]);
  const asBoss = { ...boss, token: boss.sessionToken };
  const { body } = await app.post("/api/auth/admin/impersonate-user", { userId: ann.id }, asBoss);
  const { upload, read } = await links({ ...ann, token: body.sessionToken });
  for (const { expiresAt } of [upload, read]) {
    expect(Date.parse(expiresAt)).toBeGreaterThan(Date.now());
    expect(Date.parse(expiresAt)).toBeLessThanOrEqual(Date.now() + 301_000);
  }
  expect(await opens({ upload, read })).toEqual([200, 200]);
});
