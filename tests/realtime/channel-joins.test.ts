// If this file fails, somebody stays in a channel whose join says no, or hears what is said in another one.
import { eq, sql } from "drizzle-orm";
import { pgTable, text } from "drizzle-orm/pg-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { createSvc } from "../../src/app/create-svc.ts";
import { followedTables } from "../../src/crud/followed-tables.ts";
import { realtimeFile } from "../../src/crud/realtime-sql.ts";
import { openRls } from "../../src/index.ts";
import { topicOf } from "../../src/realtime/channel-codec.ts";
import * as fixture from "../fixture/backend/schema.ts";
import { database } from "../support/database.ts";
import { apiWith, TestService } from "../support/service.ts";
import { type Socket, sockets } from "../support/sockets.ts";

const db = database();
const halls = pgTable("halls", { id: text("id").primaryKey() }, () =>
  openRls({ read: "anyone", write: "authenticated" }),
);
const schema = { ...fixture, halls };
const { channel, procedure } = createSvc({ schema });

/** Open while the team has any member. A function with its owner's rights says so. */
const club = channel("club", {
  input: z.object({ id: z.string() }),
  join: async ({ context, input }) => {
    const open = sql`public.has_member(${input.id}) as open`;
    const [row] = await context.db.select({ open: sql<boolean>`open` }).from(open);
    return row?.open === true;
  },
  notices: { moved: z.object({ to: z.string() }) },
});

/** While it is asked, others commit. */
const busy = channel("busy", {
  input: z.object({}),
  join: async ({ context }) => {
    const isThere = (await context.db.$count(schema.memberships)) >= 0;
    await meanwhile();
    return isThere;
  },
});
let meanwhile: () => Promise<unknown> = async () => {};

/** Open to those who see its row. The policy below asks the same function. */
const hall = channel("hall", {
  input: z.object({ id: z.string() }),
  join: async ({ context, input }) => (await context.db.$count(halls, eq(halls.id, input.id))) === 1,
  notices: { moved: z.object({ to: z.string() }) },
});

/** Its input has no shape. */
const loose = channel("loose", { input: z.any(), join: () => true });

const tell = procedure.mutation
  .name("test.tellClub")
  .input(z.object({ id: z.string() }))
  .handler(({ context, input }) => {
    context.realtime.send(club, input, "moved", { to: "all" });
    context.realtime.send(hall, input, "moved", { to: "all" });
  });
const api = apiWith({ procedures: { tell }, channels: { busy, club, hall, loose } });
const running = new TestService(db, api, { production: true } as object, schema);
const connect = sockets(running);
beforeAll(async () => {
  await db.sql(`create function public.has_member(team text) returns boolean language sql stable security definer
                as 'select exists (select from public.memberships where team_id = team)'`);
  await db.sql(`create table halls (id text primary key);
                alter table halls enable row level security;
                create policy select_open on halls for select to svc_authenticated using (public.has_member(id));
                grant select on halls to svc_authenticated;
                insert into halls values ('hall')`);
  await db.sql(realtimeFile(followedTables(api, schema)));
  await running.start();
});
afterAll(() => running.stop());

const join = async (socket: Socket, query: string) => {
  socket.send({ type: "subscribe", query });
  return socket.wait({ type: "subscribed", query });
};

test("also in production, join is asked again when a row changes that a function read with its owner's rights", async () => {
  const [ann, bob] = [await running.signUp("ann"), await running.signUp("bob")];
  await db.sql("insert into memberships (user_id, team_id) values ($1, 'club')", [bob.id]);
  const [socket, key] = [await connect(ann), 'club::{"id":"club"}'];
  await join(socket, key);
  await db.sql("delete from memberships where user_id = $1", [bob.id]);
  await running.mutate(ann, "test.tellClub", { id: "club" });
  const frames = await socket.upTo({ type: "error", code: "FORBIDDEN", query: key });
  expect(frames.filter(({ data }) => data?.message)).toEqual([]);
});

test("and when a function in a policy read that row with its owner's rights", async () => {
  const [ann, bob] = [await running.signUp("ann"), await running.signUp("bob")];
  await db.sql("insert into memberships (user_id, team_id) values ($1, 'hall')", [bob.id]);
  const [socket, key] = [await connect(ann), 'hall::{"id":"hall"}'];
  await join(socket, key);
  await db.sql("delete from memberships where user_id = $1", [bob.id]);
  await running.mutate(ann, "test.tellClub", { id: "hall" });
  const frames = await socket.upTo({ type: "error", code: "FORBIDDEN", query: key });
  expect(frames.filter(({ data }) => data?.message)).toEqual([]);
});

test("a transaction that writes for long keeps nobody out", async () => {
  const ann = await running.signUp("ann");
  await db.sql("insert into memberships (user_id, team_id) values ($1, 'busy')", [ann.id]);
  const socket = await connect(ann);
  const writer = await db.pool("admin", 1).connect();
  await writer.query("begin; insert into guestbook (message) values ('waits')");
  await db.sql("insert into guestbook (message) values ('later')");
  await running.mutate(ann, "test.tellClub", { id: "busy" });
  await new Promise((resolve) => setTimeout(resolve, 300)); // until these are read
  await join(socket, 'club::{"id":"busy"}');
  await writer.query("rollback");
  writer.release();
});

test("others who write without a pause keep nobody out", async () => {
  const [ann, bob] = [await running.signUp("ann"), await running.signUp("bob")];
  const [joining, watching] = [await connect(ann), await connect(bob)];
  await watching.subscribe("guestbook.list");
  meanwhile = async () => {
    await db.sql("insert into guestbook (message) values ('busy')");
    await watching.wait({ type: "invalidate", queries: ["guestbook.list"] }); // the service has read it
  };
  await join(joining, "busy::{}");
  meanwhile = async () => {};
});

test("two inputs name one channel only if they are equal, also where the schema refuses nothing", () => {
  const date = new Date("2026-01-01");
  const different = [{}, [], null, "", 0, date, { json: date.toISOString(), meta: [[1]] }, [date.toISOString(), [[1]]]];
  const topics = different.map((input) => topicOf(loose["~svc"].channel, input).topic);
  expect(new Set(topics).size).toBe(different.length);
  const topic = (input: unknown) => topicOf(loose["~svc"].channel, input).topic;
  expect(topic({ a: 1, b: [new Set([1]), date] })).toBe(topic({ b: [new Set([1]), date], a: 1 }));
});
