// If this file fails, a page keeps showing rows of a table that a migration has dropped and made again, or a member of a channel
// hears more after a migration has changed who may be there.
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { sql } from "drizzle-orm";
import { pgTable, text } from "drizzle-orm/pg-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { createSvc } from "../../src/app/create-svc.ts";
import { followedTables } from "../../src/crud/followed-tables.ts";
import { realtimeFile } from "../../src/crud/realtime-sql.ts";
import { openRls } from "../../src/crud/rls.ts";
import { migrate } from "../../src/migrate/migrate.ts";
import * as fixture from "../fixture/backend/schema.ts";
import { copyApplication, writeFiles } from "../support/application-folder.ts";
import { database } from "../support/database.ts";
import { root } from "../support/global-setup.ts";
import { apiWith, bearer, TestService, type User } from "../support/service.ts";
import { heard, type Socket, sockets } from "../support/sockets.ts";

const marks = pgTable("marks", { mark: text("mark").notNull() }, () => openRls({ read: "anyone", write: "nobody" }));
const schema = { ...fixture, marks };
const { channel, procedure } = createSvc({ schema });
const shown = procedure.query
  .name("marks.shown")
  .allowAnonymous()
  .handler(({ context: { db } }) => db.select().from(marks));
const room = channel("room", {
  input: z.object({}),
  join: async ({ context: { db } }) =>
    (await db.select({ it: sql<boolean>`public.is_open()` }).from(sql`(select) as one`))[0]?.it === true,
});
const api = apiWith({ procedures: { shown }, channels: { room } });
/** A migration as a release would bring it. @param isOpen whether anybody may be in the channel */
const made = (mark: string, isOpen: boolean) => `
  drop table if exists public.marks;
  create table public.marks (mark text not null);
  insert into public.marks values ('${mark}');
  alter table public.marks enable row level security;
  create policy select_anyone on public.marks for select to svc_anonymous, svc_authenticated using (true);
  grant select on public.marks to svc_anonymous, svc_authenticated;
  create or replace function public.is_open() returns boolean language sql stable as 'select ${isOpen}';
  grant execute on function public.is_open() to svc_authenticated;`;

const db = database();
const [running, other] = [new TestService(db, api, {}, schema), new TestService(db, api, {}, schema)];
const [connect, connectElsewhere] = [sockets(running), sockets(other)];
let folder: string;
const release = (number: number, mark: string, isOpen: boolean) =>
  writeFiles(folder, { [`migrations/900${number}_make_marks.sql`]: made(mark, isOpen) });
const update = () => migrate({ adminUrl: db.url("admin"), platform: root, application: folder });
beforeAll(async () => {
  await db.sql("set synchronous_commit to on");
  folder = await copyApplication("tests/fixture");
  await writeFiles(folder, { "sql/realtime.sql": realtimeFile(followedTables(api, schema)) });
  await release(1, "old", true);
  await update();
  await Promise.all([running.start(), other.start()]);
});
afterAll(async () => {
  await Promise.all([running.stop(), other.stop()]);
  await rm(folder, { recursive: true, force: true });
});

const query = "marks.shown";
const ask = async (service: TestService, user: User | null) => {
  const { body } = await service.fetch("/api/query", {
    method: "POST",
    headers: { "content-type": "application/json", ...bearer(user) },
    body: JSON.stringify({ name: query, watch: true }),
  });
  return body;
};
const watch = async (service: TestService, socket: Socket) => {
  const { json, follows } = await ask(service, null);
  socket.send({ type: "subscribe", query, follows });
  await socket.wait({ type: "subscribed", query });
  return json;
};

test("a page is told of a migration in every process, and finds the rows of a table that was made again", async () => {
  const [here, there, idle] = [await connect(null), await connectElsewhere(null), await connect(null)];
  expect(await watch(running, here)).toEqual([{ mark: "old" }]);
  expect(await watch(other, there)).toEqual([{ mark: "old" }]);
  await release(2, "new", true);
  await update();
  const { xid } = await here.wait({ type: "invalidate", queries: [query] });
  await there.wait({ type: "invalidate", queries: [query], xid });
  expect((await ask(other, null)).json).toEqual([{ mark: "new" }]);
  expect(idle.frames).toEqual([]);
});

test("an update of svc and the application tells once, and one of svc alone tells too", async () => {
  const socket = await connect(null);
  await watch(running, socket);
  await db.sql("update svc_private.applied_sql set checksum = 'earlier' where path = 'search/search_key.sql'");
  await release(4, "both", true);
  expect((await update()).map((path) => path.split("/")[0])).toEqual(
    expect.arrayContaining(["platform", "application"]),
  );
  expect(await heard(socket, db)).toEqual([expect.objectContaining({ type: "invalidate" })]);
  await db.sql("update svc_private.applied_sql set checksum = 'earlier' where path = 'search/search_key.sql'");
  expect(await update()).toEqual(["platform/sql/search/search_key.sql"]);
  expect(await heard(socket, db)).toEqual([expect.objectContaining({ type: "invalidate" })]);
});

test("an update whose application fails tells what svc has changed", async () => {
  const socket = await connect(null);
  await watch(running, socket);
  await db.sql("update svc_private.applied_sql set checksum = 'earlier' where path = 'search/search_key.sql'");
  await writeFiles(folder, { "migrations/9005_fails.sql": "select 1 / 0" });
  await expect(update()).rejects.toThrow("division by zero");
  await rm(join(folder, "migrations/9005_fails.sql"));
  expect(await heard(socket, db)).toEqual([expect.objectContaining({ type: "invalidate" })]);
});

test("an update without anything to apply tells nothing", async () => {
  const socket = await connect(null);
  await watch(running, socket);
  expect(await update()).toEqual([]);
  expect(await heard(socket, db)).toEqual([]);
});

test("members of channels are asked again", async () => {
  const ann = await running.signUp("ann");
  const socket = await connect(ann);
  socket.send({ type: "subscribe", query: "room::{}" });
  await socket.wait({ type: "subscribed", query: "room::{}" });
  await release(3, "newest", false);
  await update();
  await socket.wait({ type: "error", code: "FORBIDDEN", query: "room::{}" });
});
