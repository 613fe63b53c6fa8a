/** Watched queries of the author's own: they hear of every change of what they read, and of nothing else. */
import { describe, expect, test, vi } from "vitest";
import { createSvcProcedureBuilders } from "../../src/contract/procedure.ts";
import { DefinitionError } from "../../src/kit/definition-error.ts";
import { followLifetime } from "../../src/realtime/followed-reads.ts";
import { database } from "../support/database.ts";
import { liveService, watch } from "../support/live.ts";
import { apiWith, bearer, type User } from "../support/service.ts";
import { heard, type Socket, sockets } from "../support/sockets.ts";
import { procedures, schema, tables } from "./live-application.ts";

const db = database();
const api = apiWith({ procedures });
const person = `insert into auth."user" (id, name, email) values ('x', 'x', 'x@example.com')`;
const running = liveService(db, api, schema, `${tables}; ${person}`);
const connect = sockets(running);

const ask = async (user: User | null, name: string) =>
  (
    await running.fetch("/api/query", {
      method: "POST",
      headers: { "content-type": "application/json", ...bearer(user) },
      body: JSON.stringify({ name, watch: true }),
    })
  ).body;

/** The answer has a token of what it read. */
async function watchFollowing(socket: Socket, user: User | null, name: string, args?: unknown) {
  const { body, changed } = await watch(running, socket, user, name, args);
  expect(body.follows).toBeTypeOf("string");
  return { changed, follows: body.follows };
}

describe("a change of what a query read reaches its watchers", () => {
  test.each([
    ["a sub-select of a raw fragment", "live.raw", undefined, "insert into posts (user_id, title) values ('x', 'y')"],
    ["the other table of it", "live.raw", undefined, "insert into guestbook (message) values ('a')"],
    ["a table beneath a view", "live.view", undefined, "insert into guestbook (message) values ('b')"],
    ["another one beneath it", "live.view", undefined, "insert into posts (user_id, title) values ('x', 'z')"],
    ["a table in a CTE", "live.cte", undefined, "insert into guestbook (message) values ('c')"],
    ["a partition that it read", "live.partitioned", { day: 3 }, "insert into visits values (3, 'home')"],
    ["one that it did not read", "live.partitioned", { day: 3 }, "insert into visits values (13, 'home')"],
    ["a table without a key", "live.keyless", undefined, "insert into marks values ('here')"],
    ["a row of it that changes", "live.keyless", undefined, "update marks set mark = 'there'"],
    ["a table in a function's body", "live.called", undefined, "delete from guestbook"],
    ["a table that is emptied", "live.cte", undefined, "truncate guestbook"],
    [
      "more rows than can be named",
      "live.cte",
      undefined,
      "insert into guestbook (message) select 'd' from generate_series(1, 2500)",
    ],
  ])("%s", async (_what, name, args, change) => {
    const visitor = await connect(null);
    const { changed } = await watchFollowing(visitor, null, name, args);
    await db.sql(change);
    await visitor.wait(changed);
  });

  test("a table that .follows() names, which is read past the policies and the transaction", async () => {
    const [ann, bob] = [await running.signUp("ann"), await running.signUp("bob")];
    const socket = await connect(ann);
    const [notes, posts] = [
      await watchFollowing(socket, ann, "live.everybodys"),
      await watchFollowing(socket, ann, "live.outside"),
    ];
    await running.mutate(bob, "notes.create", { title: "his" });
    await socket.wait(notes.changed);
    await running.mutate(bob, "posts.create", { title: "his" });
    await socket.wait(posts.changed);
  });

  test("and what a policy read: who joins a team sees its boards", async () => {
    const ann = await running.signUp("ann");
    const socket = await connect(ann);
    await db.sql("insert into boards (team_id, name) values ('red', 'plans')");
    const { changed } = await watchFollowing(socket, ann, "live.teams");
    await running.mutate(ann, "memberships.create", { teamId: "red" });
    await socket.wait(changed);
    expect((await ask(ann, "live.teams")).json).toEqual([{ board: "plans", member: ann.id }]);
  });
});

describe("a generated operation", () => {
  test.each([
    ["in the default order", undefined],
    ["by a prepared statement", { orderBy: "name" }],
  ])("hears of what its policies read: a list %s, of who joins a team and leaves it", async (_how, args) => {
    const ann = await running.signUp("ann");
    const socket = await connect(ann);
    await db.sql("delete from boards; insert into boards (team_id, name) values ('blue', 'plans')");
    const { changed } = await watchFollowing(socket, ann, "boards.list", args);
    expect((await ask(ann, "boards.list")).json.data).toEqual([]);
    await running.mutate(ann, "memberships.create", { teamId: "blue" });
    await socket.wait(changed);
    expect((await ask(ann, "boards.list")).json.data).toMatchObject([{ name: "plans" }]);
    await db.sql("delete from memberships where user_id = $1", [ann.id]);
    await socket.wait(changed);
    expect((await ask(ann, "boards.list")).json.data).toEqual([]);
  });

  test("has no token where its own topics tell everything, or a grant decides what is heard", async () => {
    const ann = await running.signUp("ann");
    for (const name of ["notes.list", "posts.list", "guestbook.list", "team_boards.list"]) {
      expect(Object.keys(await ask(ann, name)), name).toEqual(["json", "snapshot"]);
    }
  });
});

describe("a change of another owner's row", () => {
  test("reaches nobody else", async () => {
    const [ann, bob] = [await running.signUp("ann"), await running.signUp("bob")];
    const [annsSocket, bobsSocket] = [await connect(ann), await connect(bob)];
    const { changed } = await watchFollowing(annsSocket, ann, "live.mine");
    await watchFollowing(bobsSocket, bob, "live.mine");
    const { body } = await running.mutate(ann, "notes.create", { title: "hers" });
    await annsSocket.wait(changed);
    await running.mutate(ann, "notes.update", { id: body.json.id, title: "changed" });
    await annsSocket.wait(changed);
    expect(await heard(bobsSocket, db)).toEqual([]);
    // Given to him: both hear of it, and from then on he alone.
    await db.sql("update notes set user_id = $1 where id = $2", [bob.id, body.json.id]);
    await annsSocket.wait(changed);
    await bobsSocket.wait(changed);
    await db.sql("delete from notes where id = $1", [body.json.id]);
    await bobsSocket.wait(changed);
    expect(await heard(annsSocket, db)).toEqual([]);
  });

  test("not even of one with another's token, a forged one, or one that is over", async () => {
    const [ann, bob] = [await running.signUp("ann"), await running.signUp("bob")];
    const socket = await connect(bob);
    const { follows } = await ask(ann, "live.mine");
    for (const token of [follows, `${follows}x`, follows.replace(".", ".A"), "", "a.b", 7, null]) {
      socket.send({ type: "subscribe", query: "live.mine", follows: token });
      expect(await socket.wait({ type: "subscribed" })).toEqual({ type: "subscribed", query: "live.mine" });
    }
    await running.mutate(ann, "notes.create", { title: "hers" });
    expect(await heard(socket, db)).toEqual([]);
  });
});

describe("a token", () => {
  test("names no table, and says the same thing by the same id", async () => {
    const [ann, bob] = [await running.signUp("ann"), await running.signUp("bob")];
    const tokens = [await ask(ann, "live.mine"), await ask(ann, "live.mine"), await ask(bob, "live.mine")];
    const [one, again, bobs] = tokens.map(({ follows }) => String(follows));
    const ids = [one, again, bobs].map((token) => token?.split(".")[0]);
    expect(ids[0]).toBe(ids[1]);
    expect(ids[0]).not.toBe(ids[2]);
    for (const part of one?.split(".") ?? []) {
      expect(Buffer.from(part, "base64url").toString("latin1")).not.toMatch(/notes|public/);
    }
  });

  test("that is handed over again for the same tables leaves no gap, and says so", async () => {
    const ann = await running.signUp("ann");
    const socket = await connect(ann);
    const { follows } = await watchFollowing(socket, ann, "live.mine");
    socket.send({ type: "subscribe", query: "live.mine", follows });
    expect(await socket.wait({ type: "subscribed" })).toMatchObject({ renewed: true });
    socket.send({ type: "subscribe", query: "live.mine", follows: (await ask(ann, "live.outside")).follows });
    expect(await socket.wait({ type: "subscribed" })).not.toHaveProperty("renewed");
  });
});

describe("a token that is soon over", () => {
  /** Made half an hour ago, but for a second. */
  async function watchShortly(socket: Socket) {
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() - followLifetime + 1_000 });
    const body = await ask(null, "live.keyless").finally(() => vi.useRealTimers());
    socket.send({ type: "subscribe", query: "live.keyless", follows: body.follows });
    expect(await socket.wait({ type: "subscribed" })).toHaveProperty("follows");
    expect(await socket.wait({ type: "subscribed" })).toEqual({ type: "subscribed", query: "live.keyless" });
  }
  const changed = { type: "invalidate", queries: ["live.keyless"] };

  test("is announced, and replaced by a new one without a gap", async () => {
    const visitor = await connect(null);
    await watchShortly(visitor);
    visitor.send({ type: "subscribe", query: "live.keyless", follows: (await ask(null, "live.keyless")).follows });
    expect(await visitor.wait({ type: "subscribed" })).toMatchObject({ renewed: true });
    await db.sql("insert into marks values ('after')");
    await visitor.wait(changed);
  });

  test("ends what it let its holder hear", async () => {
    const visitor = await connect(null);
    await watchShortly(visitor);
    const hears = async () => {
      await db.sql("insert into marks values ('again')");
      return (await heard(visitor, db)).map(({ queries }) => queries);
    };
    await expect.poll(hears).toEqual([]);
  });
});

test("an answer that is not watched says nothing of what it read", async () => {
  const ann = await running.signUp("ann");
  expect((await running.query(ann, "live.mine")).body).toEqual({ json: [] });
});

test("what cannot be told is said while developing, with the remedy, and once in the log", async () => {
  const ann = await running.signUp("ann");
  const [{ notice }] = [await ask(ann, "live.untold"), await ask(ann, "live.untold")];
  expect(notice).toContain('Those who watch "live.untold" miss changes.');
  expect(notice).toContain("Changes of public.counted, public.unseen are not read from the log");
  expect(notice).toContain('ctx.realtime.invalidate("live.untold")');
  expect(notice).toContain("by ctx.unsafeDb or ctx.read: name those tables by .follows(schema.table)");
  expect(notice).toContain("all_notes() reads with the rights of its owner, but of public.notes");
  const said = () => running.logged.filter((line) => line.includes("live.untold") && line.includes("miss changes"));
  await expect.poll(() => said().length).toBe(1);
  for (const name of ["live.mine", "live.teams", "live.outside", "live.everybodys", "live.view"])
    expect(await ask(ann, name)).not.toHaveProperty("notice");
});

test("a function counts as read by a policy only if that policy decides what this caller reads", async () => {
  const ann = await running.signUp("ann");
  await db.sql(`create type asked as (n bigint); create type given as (n integer);
    create function all_as(given) returns asked language sql stable security definer set search_path = ''
      as 'select row((select count(*) from public.notes))::public.asked';
    create cast (given as asked) with function all_as(given)`);
  const noticeWith = async (policy: string) => {
    await db.sql(`create policy asking on notes ${policy}`);
    const { notice } = await ask(ann, "live.mine");
    await db.sql("drop policy asking on notes");
    return notice;
  };
  const asks = "public.all_notes() < 0";
  expect(await noticeWith(`for all to svc_authenticated using (false) with check (${asks})`)).toBeUndefined();
  expect(await noticeWith(`for select to svc_anonymous, svc_system using (${asks})`)).toBeUndefined();
  // A cast does not name its function.
  const cast = "for all to svc_authenticated using (row(0)::given::asked is not null) with check (true)";
  expect(await noticeWith(cast)).toContain("all_as() reads with the rights");
  for (const to of ["svc_authenticated", "public", "svc_reader_authenticated"])
    expect(await noticeWith(`for all to ${to} using (${asks})`), to).toContain("all_notes() reads with the rights");
});

test("a refresh sends each caller the result that is theirs", async () => {
  const ann = await running.signUp("ann");
  const [visitor, hers] = [await connect(null), await connect(ann)];
  for (const socket of [visitor, hers]) await socket.subscribe("live.caller");
  await running.mutate(ann, "live.renew");
  await visitor.wait({ type: "query:updated", query: "live.caller", result: { json: "nobody" } });
  await hers.wait({ type: "query:updated", query: "live.caller", result: { json: "ann" } });
  for (const socket of [visitor, hers])
    expect((await heard(socket, db)).filter(({ type }) => type === "query:updated")).toEqual([]);
});

test(".follows() takes tables, of queries alone", () => {
  const { query, mutation } = createSvcProcedureBuilders();
  expect(() => mutation.name("a.b").follows(schema.notes as never)).toThrow(DefinitionError);
  const mistake = ".follows() takes tables, and got";
  expect(() => query.name("a.b").follows("notes" as never)).toThrow(`${mistake} a string`);
  expect(() => query.name("a.b").follows(schema.notes, undefined as never)).toThrow(`${mistake} nothing`);
});
