// If this file fails, a change of one team's rows runs the queries of other teams again, or a member misses one.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createAuthClient, createSvcClient, type SvcClient } from "../../client/sdk/src/index.ts";
import type { Query } from "../../client/sdk/src/operation.ts";
import { crudFile } from "../../src/crud/crud-sql.ts";
import { followedTables } from "../../src/crud/followed-tables.ts";
import { realtimeFile } from "../../src/crud/realtime-sql.ts";
import { createCrudFactory, createSvcProcedureBuilders, defineApi } from "../../src/index.ts";
import { database } from "../support/database.ts";
import { watch } from "../support/live.ts";
import { apiWith, TestService, type User } from "../support/service.ts";
import { heard, type Socket, sockets } from "../support/sockets.ts";
import { procedures, runs, schema, tables } from "./live-application.ts";

const db = database();
const counted = createCrudFactory(createSvcProcedureBuilders())(schema.boards, {
  prefix: "counted",
  allowedFilters: ["name"],
  aggregate: { groupBy: ["teamId"], measures: ["count"] },
});
const api = apiWith({ procedures: { ...procedures, counted } });
const running = new TestService(db, api, {}, schema);
const connect = sockets(running);
beforeAll(async () => {
  await db.sql("set synchronous_commit to on");
  await db.sql(tables);
  await db.sql(
    api["~svc"].crud
      .filter(({ prefix }) => prefix === "counted")
      .map(crudFile)
      .join("\n"),
  );
  await db.sql(realtimeFile(followedTables(api, schema)));
  await running.start();
});
afterAll(() => running.stop());
beforeEach(() => db.sql("delete from boards; delete from places; delete from memberships"));

const join = (user: { id: string }, ...teams: string[]) =>
  db.sql("insert into memberships (user_id, team_id) select $1, unnest($2::text[])", [user.id, teams]);
/** Of both tables at once. */
const rows = (text: string) => db.sql([text, text.replace("boards", "places")].join(";"));
const add = (team: string, name = "plan") => rows(`insert into boards (team_id, name) values ('${team}', '${name}')`);
/** A query of the author's own, and what a resource offers of its list. */
const watched: [name: string, args?: object][] = [
  ["live.ofTeams"],
  ["boards.list"],
  ["boards.list", { orderBy: "name" }],
  ["counted.list", { filters: { name: "plan" } }],
  ["counted.aggregate", { groupBy: ["teamId"], measures: ["count"] }],
];
const keys = watched.map(([name, args]) => (args ? `${name}::${JSON.stringify(args)}` : name)).sort();

async function watchAll(socket: Socket, user: User): Promise<void> {
  for (const [name, args] of watched) await watch(running, socket, user, name, args);
}
/** The keys that a socket heard of since it was last asked. */
const heardOf = async (socket: Socket) =>
  [...new Set((await heard(socket, db)).flatMap(({ queries = [] }) => queries))].sort();

async function member(...teams: string[]) {
  const user = await running.signUp("member");
  await join(user, ...teams);
  const socket = await connect(user);
  await watchAll(socket, user);
  return { user, socket };
}

describe("a change of a team's row", () => {
  test("reaches the members of its team alone, also of one that it leaves", async () => {
    const [red, blue, both] = [await member("red"), await member("blue"), await member("blue", "red")];
    const told = async () => {
      const [a, b, c] = [await heardOf(red.socket), await heardOf(blue.socket), await heardOf(both.socket)];
      return { red: a, blue: b, both: c };
    };
    expect(await told()).toEqual({ red: [], blue: [], both: [] });
    await add("red");
    expect(await told()).toEqual({ red: keys, blue: [], both: keys });
    await rows("update boards set name = 'changed'");
    expect(await told()).toEqual({ red: keys, blue: [], both: keys });
    await rows("update boards set team_id = 'blue'");
    expect(await told()).toEqual({ red: keys, blue: keys, both: keys });
    await rows("delete from boards");
    expect(await told()).toEqual({ red: [], blue: keys, both: keys });
    await add("green");
    expect(await told()).toEqual({ red: [], blue: [], both: [] });
  });

  test("reaches everybody when a transaction has more than can be named, or the table is emptied", async () => {
    const [red, blue] = [await member("red"), await member("blue")];
    await rows("insert into boards (team_id, name) select 'team ' || n, 'x' from generate_series(1, 2500) n");
    expect(await heardOf(blue.socket)).toEqual(keys);
    expect(await heardOf(red.socket)).toEqual(keys);
    await rows("truncate boards");
    expect(await heardOf(blue.socket)).toEqual(keys);
  });

  test("reaches no other team of who has as many teams as a token names", async () => {
    const teams = Array.from({ length: 100 }, () => crypto.randomUUID());
    const many = await member(...teams);
    await add(crypto.randomUUID());
    expect(await heardOf(many.socket)).toEqual([]);
    await add(teams[99] as string);
    expect(await heardOf(many.socket)).toEqual(keys);
  });

  test("reaches who has more teams than a token names", async () => {
    const many = await member(...Array.from({ length: 101 }, (_, n) => `team ${n}`));
    await add("another team");
    expect(await heardOf(many.socket)).toEqual(keys);
  });
});

test("who joins a team hears of its rows from then on, and who leaves it does not", async () => {
  const { user, socket } = await member("red");
  await join(user, "blue");
  expect(await heardOf(socket)).toEqual(keys);
  await watchAll(socket, user);
  await heardOf(socket);
  await add("blue");
  expect(await heardOf(socket)).toEqual(keys);
  await db.sql("delete from memberships where team_id = 'blue'");
  expect(await heardOf(socket)).toEqual(keys);
  await watchAll(socket, user);
  await heardOf(socket);
  await add("blue");
  expect(await heardOf(socket)).toEqual([]);
});

test("the log says the team of a changed row", () => {
  const team = { column: "team_id", schema: "public", table: "memberships", team: "team_id", user: "user_id" };
  const followed = followedTables(api, schema).find(({ name }) => name === "places");
  expect(followed).toMatchObject({ identity: ["id", "team_id"], owners: [], team });
  // Nobody would hear of a membership that changes.
  const silent = followedTables(defineApi({ procedures: {} }), { places: schema.places });
  expect(silent[0]).toMatchObject({ name: "places", team: null });
});

describe("pages", () => {
  const open: SvcClient<object>[] = [];
  afterEach(() => {
    for (const client of open.splice(0)) client.close();
  });
  /** A page of the SDK that shows boards of its user's teams. */
  async function page(team: string) {
    const auth = createAuthClient(running.url, { sessionTokenStorage: "memory" });
    const client = createSvcClient({ api: {}, baseUrl: running.url, auth });
    open.push(client);
    const user = await auth.signUp(`${crypto.randomUUID()}@example.com`, "correct horse", "Ann");
    await join(user, team);
    let shown: { name: string }[] = [];
    client.watch(
      { kind: "query", name: "live.ofTeams" } as unknown as Query,
      {} as never,
      (result) => {
        shown = result as typeof shown;
      },
      () => {},
    );
    await expect.poll(() => client.realtime.getStatus()).toBe("live");
    await expect.poll(() => runs.get(`live.ofTeams ${user.id}`) ?? 0).toBeGreaterThan(0);
    return { user, runs: () => runs.get(`live.ofTeams ${user.id}`), names: () => shown.map(({ name }) => name) };
  }

  test("do not run their queries again for changes of other teams, and are right when a row moves", async () => {
    const [red, blue] = [await page("red"), await page("blue")];
    await add("blue", "first");
    await expect.poll(blue.names).toEqual(["first"]);
    const before = blue.runs();
    for (let n = 0; n < 30; n++) await add("red", `${n}`);
    await expect.poll(() => red.names().length).toBe(30);
    // This one comes behind all of them.
    await add("blue", "last");
    await expect.poll(blue.names).toEqual(["first", "last"]);
    expect(blue.runs()).toBe((before ?? 0) + 1);
    await rows("update boards set team_id = 'blue' where name in ('7', '8')");
    await expect.poll(blue.names).toEqual(["first", "7", "8", "last"]);
    await expect.poll(() => red.names().length).toBe(28);
    expect(blue.runs()).toBe((before ?? 0) + 2);
    await rows("update boards set team_id = 'red' where name = 'first'");
    await expect.poll(blue.names).toEqual(["7", "8", "last"]);
    await expect.poll(red.names).toContain("first");
  });
});

test("a caller's teams are named once, also where a membership is stored twice or names no team", async () => {
  await db.sql(`create table seats (team text, user_id text);
    insert into seats values ('a', 'ann'), ('a', 'ann'), (null, 'ann'), ('b', 'ann'), ('c', 'bob');
    grant select on seats to svc_authenticated`);
  const client = await db.connect("request");
  await client.query("begin; set local svc.user_id = 'ann'; set local role svc_authenticated");
  const scopes = [{ schema: "public", table: "seats", team: "team", user: "user_id" }];
  const { rows } = await client.query("select svc.caller_teams($1) as teams", [JSON.stringify(scopes)]);
  await client.query("rollback");
  expect(rows).toEqual([{ teams: [["a", "b"]] }]);
});
