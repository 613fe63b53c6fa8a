// If this file fails, a change of a row that two people read runs the queries of all others again, or one of the two misses it.
import { createCrudFactory, createSvcProcedureBuilders, ownerRls, searchable } from "@svc/core";
import { asc } from "drizzle-orm";
import { integer, pgPolicy, pgRole, pgTable, serial, text } from "drizzle-orm/pg-core";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { crudFile } from "../../src/crud/crud-sql.ts";
import { followedTables } from "../../src/crud/followed-tables.ts";
import { realtimeFile } from "../../src/crud/realtime-sql.ts";
import { database } from "../support/database.ts";
import { watch } from "../support/live.ts";
import { apiWith, bearer, TestService, type User } from "../support/service.ts";
import { heard, type Socket, sockets } from "../support/sockets.ts";

const signedIn = pgRole("svc_authenticated").existing();
const columns = () => ({
  id: serial("id").primaryKey(),
  userId: text("user_id").notNull(),
  recipientId: text("recipient_id"),
  room: integer("room").notNull().default(0),
  body: text("body").notNull().default(""),
});
const letters = pgTable("letters", columns(), (t) => [
  ...searchable({
    fields: [t.body],
    visibility: "shared",
    readers: ownerRls(t.userId, { read: [t.recipientId] }),
  }),
  // A restrictive policy shows nobody more.
  pgPolicy("only_some", { as: "restrictive", for: "select", to: signedIn, using: undefined }),
]);
const cards = pgTable("cards", { ...columns(), recipientId: text("recipient_id").notNull() }, (t) =>
  ownerRls(t.userId, { read: [t.recipientId] }),
);
const schema = { letters, cards };
const builders = createSvcProcedureBuilders<typeof schema>();
const createCrud = createCrudFactory(builders);
const scoped = createCrud(letters, {
  prefix: "scoped",
  allowedFilters: ["room"],
  realtime: {
    policy: "authorized",
    resourceIdentity: "letters",
    scope: ({ filters }) => ({ room: filters?.room }),
    scopeFromRow: ({ row }) => ({ room: row.room }),
    authorize: ({ ctx }) => ctx.address === "127.0.0.1", // that of the client, as in every call
  },
});
const byHand = builders.query
  .name("live.letters")
  .handler(({ context: { db } }) => db.select({ body: letters.body }).from(letters).orderBy(asc(letters.id)));
const api = apiWith({
  procedures: {
    letters: createCrud(letters, { aggregate: { measures: ["count"] } }),
    cards: createCrud(cards),
    scoped,
    byHand,
  },
});

const db = database();
const running = new TestService(db, api, {}, schema);
const connect = sockets(running);
beforeAll(async () => {
  await db.sql("set synchronous_commit to on");
  for (const name of ["letters", "cards"]) {
    await db.sql(`
      create table ${name} (id serial primary key, user_id text not null, recipient_id text ${name === "cards" ? "not null" : ""},
        room integer not null default 0, body text not null default '');
      alter table ${name} enable row level security;
      create policy select_two on ${name} for select to svc_authenticated
        using ((select svc.current_user_id()) in (user_id, recipient_id));
      grant select on ${name} to svc_authenticated`);
  }
  const mine = ["letters", "cards", "scoped"];
  await db.sql(
    api["~svc"].crud
      .filter(({ prefix }) => mine.includes(prefix))
      .map(crudFile)
      .join("\n"),
  );
  await db.sql(realtimeFile(followedTables(api, schema)));
  await running.start();
});
afterAll(() => running.stop());
beforeEach(() => db.sql("delete from letters; delete from cards"));

const watched: [name: string, args?: object][] = [
  ["letters.list"],
  ["letters.get", { id: 1 }],
  ["letters.aggregate", { measures: ["count"] }],
  ["cards.list"],
  ["live.letters"],
];

async function watchAll(socket: Socket, user: User): Promise<void> {
  for (const [name, args] of watched) await watch(running, socket, user, name, args);
  const { body } = await running.fetch("/api/realtime/query/authorize", {
    method: "POST",
    headers: { "content-type": "application/json", ...bearer(user) },
    body: JSON.stringify({ query: "scoped.list", args: { filters: { room: 7 } } }),
  });
  socket.send({ type: "subscribeQuery", token: body.token });
  await socket.wait({ type: "query:subscribed" });
}
/** The names of the queries that a socket heard of since it was last asked. */
const heardOf = async (socket: Socket) => {
  const events = await heard(socket, db);
  const names = events.flatMap(({ queries = [], query }) => [...queries, ...(query ? [query] : [])]);
  return [...new Set(names.map((name) => name.split("::")[0]))].sort();
};
async function person(name: string) {
  const user = await running.signUp(name);
  const socket = await connect(user);
  await watchAll(socket, user);
  await heardOf(socket);
  return { user, socket };
}
const ofLetters = ["letters.aggregate", "letters.list", "live.letters"];
const withRow = ["letters.aggregate", "letters.get", "letters.list", "live.letters"];
const insert = (table: string, from: { user: User }, to: { user: User }, more = "") =>
  db.sql(
    `insert into ${table} (id, user_id, recipient_id, room) values (${more || "default, $1, $2, 0"}) returning id`,
    [from.user.id, to.user.id],
  );

describe("a change of a row of two people", () => {
  test("reaches these two alone, also the user who loses the row", async () => {
    const [ann, bob, eve] = [await person("ann"), await person("bob"), await person("eve")];
    const told = async () => [await heardOf(ann.socket), await heardOf(bob.socket), await heardOf(eve.socket)];
    await insert("letters", ann, bob, "1, $1, $2, 0");
    expect(await told()).toEqual([withRow, withRow, []]);
    await db.sql("update letters set body = 'changed'");
    expect(await told()).toEqual([withRow, withRow, []]);
    await db.sql("update letters set recipient_id = $1", [eve.user.id]);
    expect(await told()).toEqual([withRow, withRow, withRow]);
    await db.sql("delete from letters");
    expect(await told()).toEqual([withRow, [], withRow]);
    await insert("letters", ann, bob, "2, $1, $2, 7");
    expect(await told()).toEqual([[...ofLetters, "scoped.list"], [...ofLetters, "scoped.list"], []]);
    await db.sql("insert into letters (id, user_id) values (3, $1)", [eve.user.id]);
    expect(await told()).toEqual([[], [], ofLetters]);
  });

  test("whose log has only its key and these two", async () => {
    const [ann, bob, eve] = [await person("amy"), await person("ben"), await person("eli")];
    const told = async () => [await heardOf(ann.socket), await heardOf(bob.socket), await heardOf(eve.socket)];
    await insert("cards", ann, bob);
    expect(await told()).toEqual([["cards.list"], ["cards.list"], []]);
    await db.sql("update cards set user_id = $1", [eve.user.id]);
    expect(await told()).toEqual([["cards.list"], ["cards.list"], ["cards.list"]]);
    await db.sql("delete from cards");
    expect(await told()).toEqual([[], ["cards.list"], ["cards.list"]]);
    const followed = followedTables(api, schema).find(({ name }) => name === "cards");
    expect(followed).toMatchObject({
      identity: ["id", "user_id", "recipient_id"],
      owners: ["user_id", "recipient_id"],
    });
  });

  test("reaches everybody while the log does not say whose the old row was", async () => {
    const [ann, bob, eve] = [await person("ada"), await person("bo"), await person("edda")];
    const told = async () => [await heardOf(ann.socket), await heardOf(bob.socket), await heardOf(eve.socket)];
    await insert("cards", ann, bob);
    await told();
    await db.sql("alter table cards replica identity default");
    await db.sql("update cards set body = 'changed'");
    expect(await told()).toEqual([["cards.list"], ["cards.list"], []]);
    await db.sql("delete from cards");
    expect(await told()).toEqual([["cards.list"], ["cards.list"], ["cards.list"]]);
    await db.sql(realtimeFile(followedTables(api, schema)));
  });

  test("reaches everybody when a transaction has more than can be named, or the table is emptied", async () => {
    const eve = await person("eva");
    await db.sql("insert into cards (user_id, recipient_id) select 'a' || n, 'b' || n from generate_series(1, 1500) n");
    expect(await heardOf(eve.socket)).toEqual(["cards.list"]);
    await db.sql("truncate cards");
    expect(await heardOf(eve.socket)).toEqual(["cards.list"]);
  });
});
