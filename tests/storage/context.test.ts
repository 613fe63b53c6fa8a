/** `ctx.storage`: what an application can do with files, and what it can never do with other users' files. */
import { readdirSync } from "node:fs";
import { Readable } from "node:stream";
import { beforeAll, describe, expect, test } from "vitest";
import { createSvcHttpRouteBuilders } from "../../src/index.ts";
import { migrate } from "../../src/migrate/migrate.ts";
import { database } from "../support/database.ts";
import { bytesFolder, bytesIdOf, fileProcedures, send, stored } from "../support/files.ts";
import { root } from "../support/global-setup.ts";
import { apiWith, bearer, service, type User } from "../support/service.ts";

const db = database();
const dir = bytesFolder();
/** Returns a file's stream. */
const download = createSvcHttpRouteBuilders()
  .get.path("/files/:id")
  .handler(async ({ context, request }) => ({
    body: Readable.toWeb(await context.storage.read(request.params.id)) as ReadableStream<Uint8Array>,
  }));
const svc = service(db, apiWith({ procedures: fileProcedures, httpRoutes: { download } }), {
  storage: { driver: "disk", dir },
});
/** One connection for all requests. */
const narrow = service(db, apiWith({ procedures: fileProcedures, httpRoutes: { download } }), {
  storage: { driver: "disk", dir },
  pool: { request: 1 },
});
let ann: User;
let bob: User;

beforeAll(async () => {
  ann = await svc.signUp("ann");
  bob = await svc.signUp("bob");
});

const text = (content: string, name = "note.txt") => new File([content], name, { type: "text/plain" });
/** Ids of all objects whose bytes are on disk. */
const onDisk = () =>
  readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.parentPath.includes("objects"))
    .map(({ name }) => name);

describe("store", () => {
  test("makes a private object and returns its id, a UUID", async () => {
    const id = await stored(svc, ann, text("hello"));
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    const { body } = await svc.query(ann, "files.meta", { id });
    expect(body.json).toEqual({ id, name: "note.txt", size: 5, type: "text/plain", visibility: "private" });
  });

  test("makes a public object when it is told to", async () => {
    const id = await stored(svc, ann, text("hello"), { visibility: "public" });
    expect((await svc.query(ann, "files.meta", { id })).body.json.visibility).toBe("public");
    expect(await svc.fetch(`/api/storage/${id}`)).toMatchObject({ status: 200, body: "hello" });
  });

  test("takes a name as its second argument", async () => {
    const { body } = await send(svc, ann, "files.storeNamed", text("hello"), { name: "other.txt" });
    expect((await svc.query(ann, "files.meta", { id: body.json.id })).body.json.name).toBe("other.txt");
  });

  test("refuses another visibility, and stores nothing", async () => {
    const before = onDisk().length;
    const { status, body } = await send(svc, ann, "files.store", text("hello"), { visibility: "secret" });
    expect([status, body.error]).toEqual([400, 'store: visibility: must be "private" or "public"']);
    expect(onDisk()).toHaveLength(before);
  });

  test("leaves neither a row nor bytes when the call fails afterwards", async () => {
    const before = onDisk().length;
    const { status } = await send(svc, ann, "files.store", text("never"), { name: "never.txt", fail: true });
    expect(status).toBe(500);
    expect(onDisk()).toHaveLength(before);
    const admin = await db.connect("admin");
    expect((await admin.query("select from svc.storage_objects where name = 'never.txt'")).rowCount).toBe(0);
  });

  test("is refused in a query, and writes nothing", async () => {
    const before = onDisk().length;
    const { status, body } = await svc.query(ann, "files.storeInQuery");
    expect([status, body.code]).toEqual([500, "QUERY_WROTE"]);
    expect(onDisk()).toHaveLength(before);
  });

  test("of somebody who is not signed in belongs to nobody: they cannot see it again", async () => {
    const id = await stored(svc, null, text("anonymous"));
    for (const user of [null, ann]) expect((await svc.query(user, "files.meta", { id })).status).toBe(404);
  });
});

test("storeBuffer stores bytes under a name and a media type", async () => {
  const { body } = await svc.mutate(ann, "files.storeText", { text: "a,b", name: "t.csv", type: "text/csv" });
  const { id } = body.json;
  expect((await svc.query(ann, "files.meta", { id })).body.json).toMatchObject({
    name: "t.csv",
    size: 3,
    type: "text/csv",
  });
  expect((await svc.query(ann, "files.read", { id })).body.json).toBe("a,b");
});

test("getPublicUrl gives the bare URL", async () => {
  const id = await stored(svc, ann, text("x"));
  expect((await svc.query(ann, "files.publicUrl", { id })).body.json).toBe(`/api/storage/${id}`);
  for (const none of [undefined, null, ""]) {
    const { status, body } = await svc.query(ann, "files.publicUrl", { id: none });
    expect([status, body.code]).toEqual([400, "BAD_REQUEST"]);
  }
});

describe("setVisibility", () => {
  test("makes an object readable by its public URL, and takes that back", async () => {
    const id = await stored(svc, ann, text("mine"));
    const status = async () => (await svc.fetch(`/api/storage/${id}`)).status;
    expect(await status()).toBe(404);
    await svc.mutate(ann, "files.setVisibility", { id, visibility: "public" });
    expect(await status()).toBe(200);
    await svc.mutate(ann, "files.setVisibility", { id, visibility: "private" });
    expect(await status()).toBe(404);
  });

  test("of what does not exist is 404", async () => {
    const args = { id: crypto.randomUUID(), visibility: "public" };
    expect((await svc.mutate(ann, "files.setVisibility", args)).status).toBe(404);
  });
});

describe("delete", () => {
  test("removes the row, the bytes, and the public URL", async () => {
    const id = await stored(svc, ann, text("gone"), { visibility: "public" });
    const bytes = await bytesIdOf(db, id);
    expect(onDisk()).toContain(bytes);
    expect((await svc.mutate(ann, "files.remove", { id })).status).toBe(200);
    expect(onDisk()).not.toContain(bytes);
    expect((await svc.fetch(`/api/storage/${id}`)).status).toBe(404);
    expect((await svc.mutate(ann, "files.remove", { id })).status).toBe(404);
  });

  test("that rolls back leaves everything", async () => {
    const id = await stored(svc, ann, text("stays"), { visibility: "public" });
    expect((await svc.mutate(ann, "files.remove", { id, fail: true })).status).toBe(500);
    expect(await svc.fetch(`/api/storage/${id}`)).toMatchObject({ status: 200, body: "stays" });
  });
});

describe("read", () => {
  test("gives a route a stream to hand on, which holds no connection while it is sent", async () => {
    const user = await narrow.signUp("reader");
    const content = new Uint8Array(20_000_000).fill(7);
    const id = await stored(narrow, user, new File([content], "a.bin"));
    const response = await fetch(`${narrow.url}/files/${id}`, { headers: bearer(user) });
    // It is not read yet, and it is more than sockets buffer.
    expect((await narrow.query(user, "files.meta", { id })).body.json.size).toBe(content.length);
    expect(Buffer.from(await response.arrayBuffer()).equals(content)).toBe(true);
  });

  test("from a byte on gives the rest, and from what is no position is refused", async () => {
    const id = await stored(svc, ann, text("0123456789"));
    const read = async (from: unknown) => (await svc.query(ann, "files.read", { id, from })).body;
    for (const [from, rest] of [
      [0, "0123456789"],
      [1, "123456789"],
      [9, "9"],
      [10, ""],
      [11, ""],
    ] as const)
      expect((await read(from)).json).toBe(rest);
    for (const from of [-1, 1.5, "1", null]) expect((await read(from)).code).toBe("BAD_REQUEST");
  });

  test("of somebody else's public object gives its bytes, too", async () => {
    const id = await stored(svc, ann, text("for all"), { visibility: "public" });
    expect((await svc.query(bob, "files.read", { id })).body.json).toBe("for all");
    expect((await svc.query(null, "files.meta", { id })).body.json.visibility).toBe("public");
  });
});

describe("a private object that a policy of the application shows to others", () => {
  test("is read by them, and changed by its owner alone; a file of the platform leaves that policy", async () => {
    const [shared, own] = [await stored(svc, ann, text("for Bob")), await stored(svc, ann, text("secret"))];
    await db.sql(`create table public.shares (storage_id uuid primary key, user_id text not null);
      alter table shares enable row level security;
      create policy select_own on shares for select to svc_authenticated using (user_id = (select svc.current_user_id()));
      grant select on shares to svc_authenticated;
      create policy app_shared on svc.storage_objects for select to svc_authenticated
        using (exists (select from public.shares s where s.storage_id = storage_objects.id))`);
    await db.sql(`insert into shares values ('${shared}', '${bob.id}')`);
    await migrate({ adminUrl: db.url("admin"), platform: root, again: true });

    expect((await svc.query(bob, "files.read", { id: shared })).body.json).toBe("for Bob");
    const { body } = await svc.query(bob, "files.grant", { id: shared });
    expect(await svc.fetch(body.json.url)).toMatchObject({ status: 200, body: "for Bob" });
    expect((await svc.mutate(bob, "files.remove", { id: shared })).status).toBe(404);
    expect((await svc.query(bob, "files.read", { id: own })).status).toBe(404);
    await db.sql("drop policy app_shared on svc.storage_objects; drop table shares");
  });
});

describe("another user's private object", () => {
  const operations = [
    ["meta", {}],
    ["grant", {}],
    ["read", {}],
    ["setVisibility", { visibility: "public" }],
    ["remove", {}],
  ] as const;
  test.each(operations)("answers %s as one that does not exist does", async (operation, more) => {
    const id = await stored(svc, ann, text("secret"));
    const kind = operation === "setVisibility" || operation === "remove" ? "mutate" : "query";
    const [foreign, unknown, nonsense] = await Promise.all(
      [id, crypto.randomUUID(), "../../etc/passwd"].map((id) => svc[kind](bob, `files.${operation}`, { id, ...more })),
    );
    expect(foreign?.status).toBe(404);
    for (const other of [unknown, nonsense]) {
      expect({ ...other?.body, requestId: "" }).toEqual({ ...foreign?.body, requestId: "" });
    }
    expect((await svc.query(ann, "files.read", { id })).body.json).toBe("secret");
    expect((await svc.fetch(`/api/storage/${id}`)).status).toBe(404);
  });
});

describe("names", () => {
  const cases: [string, string, string][] = [
    ["a path", "../../etc/passwd", "passwd"],
    ["a Windows path", "C:\\fakepath\\photo.jpg", "photo.jpg"],
    ["dots alone", "..", "file"],
    ["nothing", "", "file"],
    ["NUL and control characters", "a\u0000b\n.txt", "ab.txt"],
    ["marks that turn the text around", "photo\u202egpj.exe", "photogpj.exe"],
    ["no joiners of letters", "می\u200cخواهم 👨\u200d👩.txt", "می\u200cخواهم 👨\u200d👩.txt"],
    ["Korean", "보고서.pdf", "보고서.pdf"],
    ["4 KB, keeping its extension", `${"x".repeat(4096)}.png`, `${"x".repeat(251)}.png`],
  ];
  test.each(cases)("of %s are cleaned", async (_case, given, kept) => {
    const { body } = await svc.mutate(ann, "files.storeText", { text: "x", name: given, type: "text/plain" });
    const { name } = (await svc.query(ann, "files.meta", { id: body.json.id })).body.json;
    if (given.length < 4000) expect(name).toBe(kept);
    else expect(name).toMatch(/^x{200,251}\.png$/);
  });

  test("a media type that is none becomes application/octet-stream", async () => {
    const { body } = await svc.mutate(ann, "files.storeText", { text: "x", name: "x", type: "no type\r\nx: y" });
    expect((await svc.query(ann, "files.meta", { id: body.json.id })).body.json.type).toBe("application/octet-stream");
  });
});
