// If this file fails, an application built as in docs/how-to/trash.md shows rows of the trash at some door or on an open page,
// loses rows that were to come back, or keeps or deletes the wrong files.
import { join } from "node:path";
import { expect, test } from "vitest";
import WebSocket from "ws";
import { createAuthClient, createSvcClient } from "../../client/sdk/src/index.ts";
import { documented } from "./documented.ts";

const { db, folder, url, person, call, lint, post, startWorker } = documented("docs/how-to/trash.md");

type Person = Awaited<ReturnType<typeof person>>;

/** Stores a file, by an upload in parts. @returns its id and the URL by which a browser reads it */
async function stored({ token }: Person): Promise<string> {
  const headers = { authorization: `Bearer ${token}`, "tus-resumable": "1.0.0" };
  const made = await fetch(`${url()}/api/storage/uploads`, {
    method: "POST",
    headers: { ...headers, "upload-length": "3", "upload-metadata": `filename ${btoa("tea.txt")}` },
  });
  const location = new URL(made.headers.get("location") ?? "", url());
  const part = { ...headers, "content-type": "application/offset+octet-stream", "upload-offset": "0" };
  await fetch(location, { method: "PATCH", headers: part, body: "tea" });
  const id = location.pathname.split("/").at(-1) ?? "";
  await db.sql("update svc.storage_objects set visibility = 'public' where id = $1", [id]);
  return id;
}

const ok = async (kind: "query" | "mutation", { token }: Person, name: string, args: object = {}) => {
  const { status, body } = await call(kind, token, name, args);
  expect({ name, status, error: body.error }).toEqual({ name, status: 200, error: undefined });
  return body.json;
};

/** What a user sees, by door, as JSON. */
async function doors(user: Person, note: { id: string; slug: string }, file: string) {
  const query = async (name: string, args: object = {}) => JSON.stringify(await ok("query", user, name, args));
  const graph = async (text: string) => JSON.stringify((await post("/api/graphql", { query: text }, user.token)).body);
  const headers = { authorization: `Bearer ${user.token}` };
  return {
    list: await query("notes.list"),
    get: await query("notes.get", { id: note.id }),
    key: await query("notes.get", { userId: user.user.id, slug: note.slug }),
    filtered: await query("notes.list", { search: "tea" }),
    search: await query("notes.find", { words: "tea" }),
    related: await query("comments.list", { include: { note: true } }),
    aggregate: await query("notes.aggregate", { measures: ["count"] }),
    export: await (await fetch(`${url()}/api/export/notes.csv`, { headers })).text(),
    graphql: await graph("{ notes { totalCount nodes { id commentsByNoteId { nodes { body } } } } }"),
    graphqlComments: await graph("{ comments { nodes { body } } }"),
    file: String((await fetch(`${url()}/api/storage/${file}`)).status),
  };
}

test("a note in the trash is visible in its owner's trash alone, and comes back whole", async () => {
  const [ann, bob] = await Promise.all(["ann", "bob"].map(person));
  const file = await stored(ann);
  const note = await ok("mutation", ann, "notes.create", { slug: "tea", title: "Green tea", storageId: file });
  await ok("mutation", ann, "comments.create", { noteId: note.id, body: "Hot" });
  const before = await doors(ann, note, file);
  await ok("mutation", ann, "notes.remove", { id: note.id });
  await new Promise((done) => setTimeout(done, 1100)); // a process keeps for a second that a file is public
  expect(await doors(ann, note, file)).toEqual({
    list: '{"data":[],"total":0}',
    get: "null",
    key: "null",
    filtered: '{"data":[],"total":0}',
    search: "[]",
    related: '{"data":[],"total":0}',
    aggregate: '{"data":[{"count":0}],"hasMore":false}',
    export: `${before.export.split("\r\n")[0]}\r\n`,
    graphql: '{"data":{"notes":{"totalCount":0,"nodes":[]}}}',
    graphqlComments: '{"data":{"comments":{"nodes":[]}}}',
    file: "404",
  });
  for (const name of ["notes.update", "notes.remove"])
    expect((await call("mutation", ann.token, name, { id: note.id, title: "x" })).status).toBe(404);
  expect((await call("mutation", ann.token, "comments.create", { noteId: note.id, body: "x" })).status).toBe(403);

  const trash = await ok("query", ann, "trash.list", { cursor: null, orderBy: "deletedAt" });
  expect(trash.data).toEqual([{ id: note.id, title: "Green tea", deletedAt: expect.any(String) }]);
  expect((await ok("query", bob, "trash.list")).data).toEqual([]);
  for (const name of ["trash.restore", "trash.purge"])
    expect((await call("mutation", bob.token, name, { id: note.id })).status).toBe(404);

  // The slug is free, and taken again.
  const other = await ok("mutation", ann, "notes.create", { slug: "tea", title: "Black coffee" });
  expect(await ok("query", ann, "notes.get", { userId: ann.user.id, slug: "tea" })).toMatchObject({ id: other.id });
  expect((await call("mutation", ann.token, "trash.restore", { id: note.id })).status).toBe(409);
  await ok("mutation", ann, "notes.remove", { id: other.id });
  await ok("mutation", ann, "trash.purge", { id: other.id });
  await ok("mutation", ann, "trash.restore", { id: note.id });
  expect(await doors(ann, note, file)).toEqual(before);
  expect((await ok("query", ann, "trash.list")).data).toEqual([]);
});

test("pages that are open lose the note within a second, and get it back", async () => {
  const eve = await person("eve");
  const note = await ok("mutation", eve, "notes.create", { slug: "tea", title: "Green tea" });
  await ok("mutation", eve, "comments.create", { noteId: note.id, body: "Hot" });
  const { api } = await import(join(folder, "web/svc/api.ts"));
  const auth = createAuthClient(url());
  await auth.signIn("eve@example.com", "correct horse");
  const client = createSvcClient({ api, baseUrl: url(), auth, WebSocket: WebSocket as never });
  const pages: Record<string, string> = {};
  const watch = (name: string, operation: never, args: object) =>
    client.watch(operation, args, (shown: unknown) => {
      pages[name] = JSON.stringify(shown);
    });
  const ends = [
    watch("list", api.notes.list as never, {}),
    watch("get", api.notes.get as never, { id: note.id }),
    watch("found", api.notes.find as never, { words: "tea" }),
    watch("comments", api.comments.list as never, {}),
    watch("trash", api.trash.list as never, {}),
  ];
  const shown = () => Object.entries(pages).flatMap(([name, text]) => (/tea|Hot/.test(text) ? [name] : []));
  const all = ["list", "get", "found", "comments"];
  try {
    await expect.poll(() => shown().toSorted(), { timeout: 10_000 }).toEqual(all.toSorted());
    await ok("mutation", eve, "notes.remove", { id: note.id });
    await expect.poll(shown, { timeout: 10_000 }).toEqual(["trash"]);
    await ok("mutation", eve, "trash.restore", { id: note.id });
    await expect.poll(() => shown().toSorted(), { timeout: 10_000 }).toEqual(all.toSorted());
  } finally {
    for (const end of ends) end();
    client.close();
  }
});

test("SQL of a request puts rows into the trash by now() alone, and reaches none there", async () => {
  const fay = await person("fay");
  const note = await ok("mutation", fay, "notes.create", { slug: "tea", title: "Green tea" });
  const client = await db.connect("request");
  const asFay = async (text: string) => {
    await client.query("begin");
    try {
      await client.query("select set_config('svc.user_id', $1, true), set_config('role', 'svc_authenticated', true)", [
        fay.user.id,
      ]);
      const result = await client.query(text);
      await client.query("commit");
      return result.rowCount;
    } catch (error) {
      await client.query("rollback");
      return (error as Error).message;
    }
  };
  expect(await asFay("update notes set deleted_at = clock_timestamp()")).toMatch(
    /^new row violates row-level security policy "hide_trash"/,
  );
  expect(await asFay("update notes set deleted_at = now()")).toBe(1);
  expect(await asFay("update notes set title = 'x'")).toBe(0);
  expect(await asFay("delete from notes")).toBe(0);
  expect(await asFay("select from trashed_notes()")).toBe(1);
  expect(await asFay("select from notes, trashed_notes()")).toBe(0);
  expect(await asFay("select from trashed_notes() cross join lateral (select from notes) as n")).toBe(0);
  await ok("mutation", fay, "trash.restore", { id: note.id });
});

test("the cron deletes what is 30 days in the trash, with its files, and nobody's files else", async () => {
  const [gil, hal] = await Promise.all(["gil", "hal"].map(person));
  const [old, young, kept] = [await stored(gil), await stored(gil), await stored(hal)];
  const add = async (slug: string, storageId: string) =>
    (await ok("mutation", gil, "notes.create", { slug, title: slug, storageId })).id;
  const [first, second] = [await add("first", old), await add("second", young)];
  const stolen = await call("mutation", gil.token, "notes.create", { slug: "x", title: "x", storageId: kept });
  expect(stolen.status).toBe(403);
  expect((await call("mutation", gil.token, "notes.update", { id: first, storageId: kept })).status).toBe(403);
  for (const id of [first, second]) await ok("mutation", gil, "notes.remove", { id });
  await db.sql("update notes set deleted_at = now() - interval '31 days' where id = $1", [first]);
  await startWorker();
  await db.sql("select svc_private.enqueue_system_job('trash.empty', null, '0', null, null)");
  await expect.poll(() => db.sql("select id from notes where id = $1", [first]), { timeout: 20_000 }).toEqual([]);
  const files = () => db.sql("select id from svc.storage_objects where id = any ($1)", [[old, young, kept]]);
  expect((await files()).map(({ id }) => id).toSorted()).toEqual([young, kept].toSorted());
  await ok("mutation", gil, "trash.purge", { id: second });
  expect((await files()).map(({ id }) => id)).toEqual([kept]);
});

test("a file belongs to one note, so the trash takes it from no other one", async () => {
  const [kim, lou] = await Promise.all(["kim", "lou"].map(person));
  const storageId = await stored(kim);
  const { id } = await ok("mutation", kim, "notes.create", { slug: "one", title: "one", storageId });
  const other = await ok("mutation", kim, "notes.create", { slug: "two", title: "two" });
  for (const [name, args] of [
    ["notes.create", { slug: "three", title: "three", storageId }],
    ["notes.update", { id: other.id, storageId }],
  ] as const) {
    expect((await call("mutation", kim.token, name, args)).status, name).toBe(409);
  }
  await ok("mutation", kim, "notes.remove", { id });
  expect((await call("mutation", kim.token, "notes.update", { id: other.id, storageId })).status).not.toBe(200);
  // It does not tell others that the file is taken.
  const foreign = await call("mutation", lou.token, "notes.create", { slug: "x", title: "x", storageId });
  expect(foreign.status).toBe(403);
});

test("visitors do not see the trash of rows that everybody reads", async () => {
  const jan = await person("jan");
  const [kept, removed] = [
    await ok("mutation", jan, "notes.create", { slug: "kept", title: "Kept" }),
    await ok("mutation", jan, "notes.create", { slug: "removed", title: "Removed" }),
  ];
  await ok("mutation", jan, "notes.remove", { id: removed.id });
  const client = await db.connect("admin");
  await client.query(
    "begin; create policy select_anyone on notes for select to svc_anonymous using (true); grant select on notes to svc_anonymous",
  );
  await client.query("set local role svc_anonymous");
  const { rows } = await client.query("select id from notes where user_id = $1", [jan.user.id]);
  await client.query("rollback");
  expect(rows).toEqual([{ id: kept.id }]);
});

test("a later change of the table leaves the trash readable", async () => {
  const ida = await person("ida");
  const { id } = await ok("mutation", ida, "notes.create", { slug: "tea", title: "Green tea" });
  await ok("mutation", ida, "notes.remove", { id });
  const admin = await db.connect("admin");
  await admin.query(
    "begin; alter table notes alter column slug type varchar(100); alter table notes add column more text; commit",
  );
  expect((await ok("query", ida, "trash.list")).data).toMatchObject([{ id }]);
  await ok("mutation", ida, "trash.restore", { id });
});

test("the linter has nothing against it", async () => {
  expect(await lint()).toEqual([]);
});
