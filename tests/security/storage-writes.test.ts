// If this file fails, SQL inside a request can overwrite another user's file, read a deleted one, or create rows
// without limit; or an upload bypasses the application's policies for storing files.
import { createHash, randomUUID } from "node:crypto";
import { sql } from "drizzle-orm";
import type pg from "pg";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createSvcProcedureBuilders, v } from "../../src/index.ts";
import { DiskDriver } from "../../src/storage/drivers/disk.ts";
import { database } from "../support/database.ts";
import { bytesFolder, bytesIdOf, fileProcedures, send, stored } from "../support/files.ts";
import { apiWith, service, type User } from "../support/service.ts";
import { begun, broken, create, patch } from "../support/uploads.ts";

const db = database();
const dir = bytesFolder();
const disk = new DiskDriver(dir);
/** A function of the application that executes its argument with the rights of its caller. */
const run = createSvcProcedureBuilders()
  .mutation.name("attack.run")
  .allowAnonymous()
  .input(v.object({ text: v.string() }))
  .handler(async ({ context, input }) =>
    context.db.select({ done: sql`x` }).from(sql`public.run_text(${input.text}) x`),
  );
const svc = service(db, apiWith({ procedures: { ...fileProcedures, run } }), { storage: { driver: "disk", dir } });
let pool: pg.Pool;
let ann: User;
let eve: User;

beforeAll(async () => {
  pool = db.pool("system");
  await db.sql(`create function public.run_text(text text) returns text language plpgsql as
    $$ begin execute text; return 'done'; end $$`);
  await db.sql("grant execute on function public.run_text(text) to svc_anonymous, svc_authenticated");
  ann = await svc.signUp("ann");
  eve = await svc.signUp("eve");
});
beforeEach(() => db.sql("delete from svc.storage_uploads").then(() => {}));

const token = "a token of eve's";
const tokenHash = createHash("sha256").update(token).digest("hex");
const zeros = "0".repeat(64);
const secret = "the victim's bytes";
const textFile = (content: string) => new File([content], "a.txt", { type: "text/plain" });

describe("SQL inside a request", () => {
  let victim: string;
  beforeAll(async () => {
    victim = await stored(svc, ann, textFile(secret), { visibility: "public" });
  });

  const uploadColumns = "(id, user_id, name, type, visibility, size, kind, token_sha256, expires_at)";
  const attempts: [string, () => string][] = [
    [
      "reserves an upload under the id of a victim's file",
      () => `insert into svc.storage_uploads ${uploadColumns} values
        ('${victim}', svc.current_user_id(), 'x', 'a/b', 'public', 9, 'url', '${tokenHash}', now() + interval '1 hour')`,
    ],
    [
      "reserves an upload without end and of any size",
      () => `insert into svc.storage_uploads ${uploadColumns} values (gen_random_uuid(), svc.current_user_id(), 'x', 'a/b',
        'public', 9223372036854775807, 'url', '${tokenHash}', 'infinity')`,
    ],
    [
      "stores a row of its own",
      () => `insert into svc.storage_objects (id, user_id, name, size, type, visibility, sha256)
        values (gen_random_uuid(), svc.current_user_id(), 'x', 1, 'a/b', 'public', '${zeros}')`,
    ],
    [
      "stores a row that names a victim's bytes",
      () => `insert into svc.storage_objects (id, bytes_id, user_id, name, size, type, visibility, sha256)
        values (gen_random_uuid(), '${victim}', svc.current_user_id(), 'x', 1, 'a/b', 'public', '${zeros}')`,
    ],
    ["names other bytes", () => `update svc.storage_objects set bytes_id = '${victim}'`],
    ["changes a size", () => "update svc.storage_objects set size = 1"],
    ["moves an upload's end", () => "update svc.storage_uploads set expires_at = 'infinity'"],
    ["reads the hashes of tokens", () => "select token_sha256 from svc.storage_uploads"],
    ["adds to what counts", () => "insert into svc_private.storage_usage values ('all', -1000000000000)"],
    ["calls store_object", () => `select svc.store_object('${victim}', gen_random_uuid(), 1, '${zeros}')::text`],
    ["calls open_upload_url", () => `select svc.open_upload_url('${victim}', '${tokenHash}', '1 day')::text`],
    [
      "calls reserve_upload",
      () =>
        `select id::text from svc_private.reserve_upload(null, true, 'url', 'x', 'a/b', 'public', 1, '1 day', 1, null, null)`,
    ],
    ["calls act_for", () => `select svc_private.act_for('${ann.id}')::text`],
    ["calls insert_object", () => "select svc_private.insert_object(null)::text"],
    ["becomes a reader", () => "set local role svc_reader_authenticated"],
  ];
  test.each(attempts)("%s, and is refused", async (_case, text) => {
    const before = JSON.stringify([await db.snapshot("svc.storage_objects"), await db.snapshot("svc.storage_uploads")]);
    for (const caller of [eve, null]) {
      expect([401, 403]).toContain((await svc.mutate(caller, "attack.run", { text: text() })).status);
    }
    const after = JSON.stringify([await db.snapshot("svc.storage_objects"), await db.snapshot("svc.storage_uploads")]);
    expect(after).toBe(before);
    expect((await svc.fetch(`/api/storage/${victim}`)).body).toBe(secret);
  });

  test("could not overwrite a victim's bytes even with a row of an upload that has the file's id", async () => {
    await db.sql(
      `insert into svc.storage_uploads ${uploadColumns}
       values ($1, $2, 'x', 'a/b', 'public', 9, 'url', $3, now() + interval '1 hour')`,
      [victim, eve.id, tokenHash],
    );
    const before = await disk.readWhole(`objects/${await bytesIdOf(db, victim)}`);
    const url = `/api/storage/uploads/${victim}?token=${encodeURIComponent(token)}`;
    expect((await svc.fetch(url, { method: "PUT", body: "OVERWRITE" })).status).toBe(409);
    expect(await disk.readWhole(`objects/${await bytesIdOf(db, victim)}`)).toEqual(before);
    expect((await svc.fetch(`/api/storage/${victim}`)).body).toBe(secret);
    await db.sql("delete from svc.storage_uploads");
    expect(await broken(disk, pool)).toEqual([]);
  });

  test("could not read a deleted file's bytes even with a row that has its id", async () => {
    const id = await stored(svc, ann, textFile("deleted, not swept"));
    const bytes = await bytesIdOf(db, id);
    await db.sql("delete from svc.storage_objects where id = $1", [id]);
    expect(String(await disk.readWhole(`objects/${bytes}`))).toBe("deleted, not swept");
    await db.sql(
      `insert into svc.storage_objects (id, user_id, name, size, type, visibility, sha256)
       values ($1, $2, 'x', 18, 'a/b', 'public', $3)`,
      [id, eve.id, zeros],
    );
    const range = { range: "bytes=0-3" };
    expect((await svc.fetch(`/api/storage/${id}`, { headers: range })).status).toBe(404);
    await db.sql("delete from svc.storage_objects where id = $1", [id]);
  });

  test("meets limits in the tables, too", async () => {
    const upload = `insert into svc.storage_uploads ${uploadColumns} values`;
    for (const text of [
      `${upload} (gen_random_uuid(), null, 'x', 'a/b', 'public', 9223372036854775807, 'call', null, now())`,
      `${upload} (gen_random_uuid(), null, 'x', 'a/b', 'public', 1, 'call', null, 'infinity')`,
      `insert into svc.storage_objects (id, name, size, type, sha256)
       values (gen_random_uuid(), 'x', 9223372036854775807, 'a/b', '${zeros}')`,
    ]) {
      await expect(db.sql(text)).rejects.toMatchObject({ code: "23514" });
    }
  });
});

describe("a policy of the application that restricts what is stored", () => {
  const restrict = (check: string) =>
    db.sql(`create policy app_stored on svc.storage_objects as restrictive for insert to public with check (${check})`);
  const lift = () => db.sql("drop policy if exists app_stored on svc.storage_objects");
  beforeEach(async () => void (await lift()));
  afterAll(async () => void (await lift()));

  test("holds for files of calls, uploads in parts and signed URLs, before the bytes come", async () => {
    await restrict("size <= 10");
    for (const user of [ann, null]) {
      const refused = user ? 403 : 401;
      expect((await send(svc, user, "files.store", textFile("more than ten bytes"))).status).toBe(refused);
      expect((await send(svc, user, "files.store", textFile("ten bytes!"))).status).toBe(200);
    }
    const url = async (maxBytes: number) =>
      (await svc.mutate(ann, "files.uploadUrl", { options: { maxBytes } })).status;
    expect([await url(11), await url(10)]).toEqual([403, 200]);
    expect([(await create(svc, ann, 11)).status, (await create(svc, ann, 10)).status]).toEqual([403, 201]);
    await lift();
    expect(await broken(disk, pool)).toEqual([]);
  });

  test("holds for an upload that was begun before it", async () => {
    const id = await begun(svc, ann, 5);
    const { id: file, url } = (await svc.mutate(ann, "files.uploadUrl", {})).body.json;
    await restrict("false");
    expect((await patch(svc, ann, id, 0, "hello")).status).toBe(403);
    expect((await svc.fetch(url, { method: "PUT", body: "hello" })).status).toBe(403);
    expect(await db.sql("select from svc.storage_objects where id = any ($1)", [[id, file]])).toEqual([]);
    await lift();
    expect((await svc.fetch(url, { method: "PUT", body: "hello" })).status).toBe(200);
    expect((await svc.query(ann, "files.read", { id: file })).body.json).toBe("hello");
  });

  test("sees what the call has written before", async () => {
    await db.sql("create table public.folders (id uuid)");
    await db.sql("grant select, insert on folders to svc_authenticated");
    await db.sql("alter table folders enable row level security");
    await db.sql("create policy everything on folders to svc_authenticated using (true) with check (true)");
    await restrict("exists (select from public.folders)");
    expect((await svc.mutate(ann, "files.storeText", { text: "x", name: "x", type: "a/b" })).status).toBe(403);
    const text = `insert into public.folders values ('${randomUUID()}')`;
    expect((await svc.mutate(ann, "attack.run", { text })).status).toBe(200);
    expect((await svc.mutate(ann, "files.storeText", { text: "x", name: "x", type: "a/b" })).status).toBe(200);
    await lift();
    await db.sql("drop table public.folders");
  });
});
