// If this file fails, a page that shows documents or files keeps showing what was replaced, or its author is warned of tables
// that no application can publish.
import { v } from "@svc/core";
import { sql } from "drizzle-orm";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { createSvc } from "../../src/app/create-svc.ts";
import { followedTables } from "../../src/crud/followed-tables.ts";
import { realtimeFile } from "../../src/crud/realtime-sql.ts";
import { database } from "../support/database.ts";
import { watch } from "../support/live.ts";
import { apiWith, bearer, TestService, type User } from "../support/service.ts";
import { heard, type Socket, sockets } from "../support/sockets.ts";

const { channel, procedure } = createSvc({ schema: {} });
const { query, mutation } = procedure;
const scope = { corpus: "handbook", visibility: "shared" as const };
const input = v.object({ id: v.string() });
const procedures = {
  found: query.name("docs.found").handler(({ context }) => context.rag.search({ query: "bicycles", scope })),
  list: query.name("docs.list").handler(({ context }) => context.rag.list({ scope })),
  answer: query.name("docs.answer").handler(({ context }) =>
    context.grounding?.answer({
      question: "Where are bicycles?",
      scope,
      claims: [{ claimText: "Bicycles stand in the cellar.", requiredTerms: ["cellar"] }],
      mode: "qa",
    }),
  ),
  write: mutation
    .name("docs.write")
    .input(v.object({ text: v.string() }))
    .handler(({ context, input: { text } }) => context.rag.ingest({ title: "Rules", sourceUri: "rules", scope, text })),
  long: mutation
    .name("docs.long")
    .input(v.object({ text: v.string() }))
    .handler(({ context, input: { text } }) => context.rag.ingest({ title: "Long", scope, markdown: text })),
  remove: mutation
    .name("docs.remove")
    .input(input)
    .handler(async ({ context, input: { id } }) => {
      await context.rag.remove(id);
      return null;
    }),
  store: mutation
    .name("files.store")
    .input(v.object({ name: v.optional(v.string()) }))
    .handler(({ context, input: { name = "a.txt" } }) => context.storage.store(new Blob(["a"]), name)),
  show: query
    .name("files.show")
    .input(input)
    .handler(async ({ context, input: { id } }) => (await context.storage.createReadGrant(id)).url),
  counted: query
    .name("files.counted")
    .handler(({ context: { db } }) =>
      db.select({ n: sql<string>`public.all_files()` }).from(sql`svc.storage_objects limit 1`),
    ),
  mine: query
    .name("files.mine")
    .handler(({ context: { db } }) => db.select({ id: sql<string>`id` }).from(sql`svc.storage_objects`)),
  publish: mutation
    .name("files.publish")
    .input(input)
    .handler(async ({ context, input: { id } }) => {
      await context.storage.setVisibility(id, "public");
      return null;
    }),
  delete: mutation
    .name("files.delete")
    .input(input)
    .handler(async ({ context, input: { id } }) => {
      await context.storage.delete(id);
      return null;
    }),
};

/** Open while nobody has stored a file of another name. */
const calm = channel("calm", {
  input: z.object({}),
  join: async ({ context: { db } }) => {
    const others = sql`svc.storage_objects where name <> 'a.txt'`;
    return (await db.select({ id: sql<string>`id` }).from(others)).length === 0;
  },
});

const db = database();
const api = apiWith({ procedures, channels: { calm } });
const running = new TestService(db, api, {}, {});
const connect = sockets(running);
beforeAll(async () => {
  await db.sql("set synchronous_commit to on");
  await db.sql(realtimeFile(followedTables(api, {})));
  // Everybody sees each other's files.
  await db.sql("create policy app_all on svc.storage_objects for select to svc_authenticated using (true)");
  await db.sql(`create function public.all_files() returns text language sql stable security definer set search_path = ''
    as 'select count(*)::text from svc.storage_objects'`);
  await running.start();
});
afterAll(() => running.stop());

/** No change of what it read is missed. */
async function watchAll(socket: Socket, user: User, name: string, args?: unknown) {
  const { body } = await watch(running, socket, user, name, args);
  expect(body.notice).toBeUndefined();
}
const names = async (socket: Socket) =>
  [...new Set((await heard(socket, db)).flatMap(({ queries = [] }) => queries))]
    .map((key) => key.split("::")[0])
    .sort();

test("a query over documents is asked again when one is added, replaced or removed", async () => {
  const [ann, bob] = [await running.signUp("ann"), await running.signUp("bob")];
  const socket = await connect(bob);
  const all = ["docs.answer", "docs.found", "docs.list"];
  for (const name of all) await watchAll(socket, bob, name);
  const { body } = await running.mutate(ann, "docs.write", { text: "Bicycles stand behind the house." });
  expect(body.json, JSON.stringify(body)).toMatchObject({ status: "created" });
  expect(await names(socket)).toEqual(all);
  await running.mutate(ann, "docs.write", { text: "Bicycles stand in the cellar." });
  expect(await names(socket)).toEqual(all);
  await running.mutate(ann, "docs.remove", { id: body.json.sourceId });
  expect(await names(socket)).toEqual(all);
});

test("a document of many chunks is told once", async () => {
  const [ann, bob] = [await running.signUp("ann"), await running.signUp("bob")];
  const socket = await connect(bob);
  await watchAll(socket, bob, "docs.list");
  // Chunks are written 250 at a time.
  const text = Array.from({ length: 600 }, (_, at) => `# Rule ${at}\n\n${"Bicycles stand in the cellar. ".repeat(20)}`);
  const { body } = await running.mutate(ann, "docs.long", { text: text.join("\n\n") });
  expect(body.json, JSON.stringify(body)).toMatchObject({ status: "created" });
  const [counted] = await db.sql("select count(*)::int as chunks from svc.rag_chunks where source_id = $1", [
    body.json.sourceId,
  ]);
  expect(counted?.chunks).toBeGreaterThan(500);
  const told = (await heard(socket, db)).flatMap(({ queries = [] }) => queries);
  expect(told).toEqual(["docs.list"]);
  await running.mutate(ann, "docs.remove", { id: body.json.sourceId });
});

test("one over files hears of the new ones of its caller, and of each that is published or deleted", async () => {
  const [ann, bob] = [await running.signUp("ann"), await running.signUp("bob")];
  const [hers, his] = [await connect(ann), await connect(bob)];
  const store = async (user: User): Promise<string> => (await running.mutate(user, "files.store", {})).body.json;
  const id = await store(ann);
  for (const [socket, user] of [
    [hers, ann],
    [his, bob],
  ] as const) {
    await watchAll(socket, user, "files.show", { id });
    await watchAll(socket, user, "files.mine");
  }
  // A function that reads past the policies brings no notice about a table that nobody can name.
  await watchAll(hers, ann, "files.counted");
  const all = ["files.mine", "files.show"];
  await store(ann);
  const hersAll = ["files.counted", ...all];
  expect([await names(hers), await names(his)]).toEqual([hersAll, []]);
  await running.mutate(ann, "files.publish", { id });
  expect([await names(hers), await names(his)]).toEqual([hersAll, all]);
  await running.mutate(ann, "files.delete", { id });
  expect([await names(hers), await names(his)]).toEqual([hersAll, all]);
});

test("join of a channel, which decides who hears, is asked again for each new file", async () => {
  const [ann, bob] = [await running.signUp("ann"), await running.signUp("bob")];
  const socket = await connect(ann);
  const query = "calm::{}";
  socket.send({ type: "subscribe", query });
  await socket.wait({ type: "subscribed", query });
  await running.mutate(bob, "files.store", { name: "b.txt" });
  await socket.wait({ type: "error", code: "FORBIDDEN", query });
});

test("until an update has published them, the notice says what to run", async () => {
  const ann = await running.signUp("ann");
  await db.sql("alter publication svc drop table only svc.rag_sources");
  const { body } = await running.fetch("/api/query", {
    method: "POST",
    headers: { "content-type": "application/json", ...bearer(ann) },
    body: JSON.stringify({ name: "docs.list", watch: true }),
  });
  await db.sql(realtimeFile(followedTables(api, {})));
  expect(body.notice).toContain("svc.rag_sources are not published yet: run svc codegen and svc migrate.");
  expect(body.notice).not.toContain("invalidate");
});
