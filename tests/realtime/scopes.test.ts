// If this file fails, lists miss changes of their scope, or subscribers receive private changes of others.
import { beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { createSvcProcedureBuilders } from "../../src/contract/procedure.ts";
import { Grants } from "../../src/realtime/grants.ts";
import { database } from "../support/database.ts";
import { apiWith, bearer, secret, service, type User } from "../support/service.ts";
import { heard, type Socket, sockets } from "../support/sockets.ts";

const db = database();
const say = createSvcProcedureBuilders()
  .mutation.name("test.say")
  .input(z.object({ key: z.string() }))
  .handler(({ context, input }) => context.realtime.emit(input.key, { said: input.key }));
const running = service(db, apiWith({ procedures: { say } }));
beforeAll(() => db.sql("set synchronous_commit to on"));

const connect = sockets(running);

const authorize = (user: User | null, query: unknown, args?: unknown) =>
  running.fetch("/api/realtime/query/authorize", {
    method: "POST",
    headers: { "content-type": "application/json", ...bearer(user) },
    body: JSON.stringify({ query, args }),
  });
const ofTeam = (teamId: unknown, more = {}) => ({ filters: { teamId }, ...more });
const ofRank = (rank: string, published: boolean) => ({ filters: { rank, published } });

/** A user who is a member of teams. */
async function member(name: string, ...teams: string[]): Promise<User> {
  const user = await running.signUp(name);
  for (const team of teams) await running.mutate(user, "memberships.create", { teamId: team });
  return user;
}

/** Watches a list with a grant. @returns the subscription key */
async function watch(socket: Socket, user: User | null, query: string, args: unknown): Promise<string> {
  const { status, body } = await authorize(user, query, args);
  expect([status, body]).toMatchObject([200, { token: expect.any(String) }]);
  socket.send({ type: "subscribeQuery", token: body.token });
  await socket.wait({ type: "query:subscribed", subscriptionKey: body.subscriptionKey });
  return body.subscriptionKey;
}

const changed = (subscriptionKey: string) => ({
  type: "query:invalidate",
  query: subscriptionKey.split("#")[0],
  subscriptionKey,
});

describe("a bucket", () => {
  test("is told when a row comes, changes and goes, and no other bucket is", async () => {
    const ann = await member("ann", "red", "blue");
    const [red, blue] = [await connect(ann), await connect(ann)];
    const redKey = await watch(red, ann, "team_boards.list", ofTeam("red"));
    await watch(blue, ann, "team_boards.list", ofTeam("blue"));
    const { body } = await running.mutate(ann, "team_boards.create", { teamId: "red", name: "plans" });
    await red.wait(changed(redKey));
    await running.mutate(ann, "team_boards.update", { id: body.json.id, name: "better plans" });
    await red.wait(changed(redKey));
    await running.mutate(ann, "team_boards.remove", { id: body.json.id });
    await red.wait(changed(redKey));
    expect(await heard(blue, db)).toEqual([]);
  });

  test("is told of an update that takes a row away from it, and so is the one that gets it", async () => {
    const ann = await member("ann", "red", "blue");
    const socket = await connect(ann);
    const [id] = await db.sql("insert into boards (team_id, name) values ('red', 'moving') returning id");
    const redKey = await watch(socket, ann, "team_boards.list", ofTeam("red"));
    const blueKey = await watch(socket, ann, "team_boards.list", ofTeam("blue"));
    await heard(socket, db);
    await running.mutate(ann, "team_boards.update", { id: id?.id, teamId: "blue" });
    const frames = [await socket.wait({ type: "query:invalidate" }), await socket.wait({ type: "query:invalidate" })];
    expect(frames.map(({ subscriptionKey }) => subscriptionKey).sort()).toEqual([redKey, blueKey].sort());
    expect(frames[0].xid).toMatch(/^\d+$/);
  });

  test("is one for all pages of a scope, told once to a socket that watches several", async () => {
    const ann = await member("ann", "red");
    const socket = await connect(ann);
    const key = await watch(socket, ann, "team_boards.list", ofTeam("red"));
    expect(await watch(socket, ann, "team_boards.list", ofTeam("red", { page: 2 }))).toBe(key);
    await db.sql("insert into boards (team_id, name) values ('red', 'x')");
    await socket.wait(changed(key));
    expect(await heard(socket, db)).toEqual([]);
    socket.send({ type: "unsubscribe", query: 'team_boards.list::{"filters":{"teamId":"red"},"page":2}' });
    await db.sql("insert into boards (team_id, name) values ('red', 'y')");
    await socket.wait(changed(key));
    socket.send({ type: "unsubscribe", subscriptionKey: key });
    await heard(socket, db);
    await db.sql("insert into boards (team_id, name) values ('red', 'z')");
    expect(await heard(socket, db)).toEqual([]);
  });

  test("is found from a row with the application's types", async () => {
    const visitor = await connect(null);
    const key = await watch(visitor, null, "ranked_articles.list", ofRank("9007199254740993", true));
    const insert = "insert into articles (user_id, title, rank, published_at) values ('nobody', 'x', $1, $2)";
    await db.sql("set session_replication_role = replica");
    await db.sql(insert, ["9007199254740993", "2026-01-01"]);
    await visitor.wait(changed(key));
    await db.sql(insert, ["9007199254740993", null]);
    await db.sql(insert, ["5", "2026-01-01"]);
    await db.sql("reset session_replication_role");
    expect(await heard(visitor, db)).toEqual([]);
  });

  test("is told when all rows go at once", async () => {
    const ann = await member("ann", "red");
    const socket = await connect(ann);
    const key = await watch(socket, ann, "team_boards.list", ofTeam("red"));
    await db.sql("truncate boards");
    await socket.wait(changed(key));
  });

  test("is told by ctx.realtime's key too", async () => {
    const ann = await member("ann", "red");
    const socket = await connect(ann);
    const key = await watch(socket, ann, "team_boards.list", ofTeam("red"));
    await db.sql(`select svc.emit_message('{"invalidate":"team_boards.list"}')`);
    await socket.wait(changed(key));
  });
});

describe("a grant", () => {
  test("says under which name events come, by which policy, and until when", async () => {
    const ann = await member("ann", "red");
    const { body } = await authorize(ann, "team_boards.list", ofTeam("red"));
    expect(body).toEqual({
      token: expect.any(String),
      subscriptionKey: expect.stringMatching(/^team_boards\.list#[\w-]{22}$/),
      policy: "authorized",
      expiresAt: expect.stringMatching(/^\d{4}-.*Z$/),
    });
    expect(Date.parse(body.expiresAt)).toBeGreaterThan(Date.now());
    expect((await authorize(null, "ranked_articles.list", ofRank("1", true))).body.policy).toBe("public");
  });

  test("is refused to whom authorize refuses, and to nobody in particular", async () => {
    const bob = await member("bob", "blue");
    expect(await authorize(bob, "team_boards.list", ofTeam("red"))).toMatchObject({
      status: 403,
      body: { code: "FORBIDDEN" },
    });
    expect((await authorize(null, "team_boards.list", ofTeam("red"))).status).toBe(401);
  });

  test("is asked of nobody where the policy is public", async () => {
    expect((await authorize(null, "ranked_articles.list", ofRank("1", true))).status).toBe(200);
  });

  test.each([
    ["arguments without what decides the scope", {}, "team: undefined"],
    ["no arguments", undefined, "team: undefined"],
    [
      "a condition with an operator, which no row has for a scope",
      ofTeam({ op: "in", value: ["red"] }),
      "team: a condition",
    ],
  ])("is refused for %s", async (_name, args, reason) => {
    const { status, body } = await authorize(await member("ann", "red"), "team_boards.list", args);
    expect([status, body.code]).toEqual([400, "BAD_REQUEST"]);
    expect(body.hint).toContain(reason);
  });

  test.each([
    ["nothing.list", {}, 404],
    ["team_boards.create", {}, 404],
    [7, {}, 404],
    ["team_boards.list", { page: "one" }, 400],
    ["team_boards.list", "everything", 400],
    ["team_boards.list", { search: "x".repeat(6000) }, 400],
    ["team_boards.list", { search: "x".repeat(10_000) }, 413],
  ])("for %j with %.40j is answered %i", async (query, args, status) => {
    expect((await authorize(await running.signUp("ann"), query, args)).status).toBe(status);
  });

  // A frame that is too large ends the socket: the SDK would connect and ask for the same grant for ever.
  test.each([
    [500, "query:subscribed"],
    [1_800, "query:subscribed"],
    [2_500, "BAD_REQUEST"],
  ])("for arguments of %i Korean characters fits a frame, or is refused", async (length, expected) => {
    const ann = await member("ann", "red");
    const { status, body } = await authorize(ann, "team_boards.list", ofTeam("red", { orderBy: "한".repeat(length) }));
    expect([status, body.code]).toEqual(expected === "BAD_REQUEST" ? [400, expected] : [200, undefined]);
    if (status !== 200) return;
    const socket = await connect(ann);
    socket.send({ type: "subscribeQuery", token: body.token });
    await socket.wait({ type: expected });
  });

  test("is what such a list is watched with, and nothing less", async () => {
    const ann = await member("ann", "red");
    const socket = await connect(ann);
    socket.send({ type: "subscribe", query: "team_boards.list" });
    await socket.wait({ type: "error", code: "GRANT_REQUIRED", query: "team_boards.list" });
  });

  test("of somebody else is refused, and so is one that was made up", async () => {
    const [ann, bob] = [await member("ann", "red"), await member("bob")];
    const { token } = (await authorize(ann, "team_boards.list", ofTeam("red"))).body;
    const [text, signature] = token.split(".");
    const moved = Buffer.from(text, "base64url").toString().replaceAll(ann.id, bob.id);
    const forged = `${Buffer.from(moved).toString("base64url")}.${signature}`;
    const socket = await connect(bob);
    for (const wrong of [token, forged, `${text}.`, "x", "", 7, undefined, `${token}.${token}`]) {
      socket.send({ type: "subscribeQuery", token: wrong });
      await socket.wait({ type: "error", code: "FORBIDDEN" });
    }
    await db.sql("insert into boards (team_id, name) values ('red', 'secret')");
    expect(await heard(socket, db)).toEqual([]);
  });

  test("ends, and the subscription with it", async () => {
    const ann = await member("ann", "red");
    const socket = await connect(ann);
    const grant = { query: "team_boards.list", subscriptionKey: "team_boards.list#x", topics: ["key:guestbook.list"] };
    const sign = (ms: number) => new Grants([secret]).sign({ ...grant, user: ann.id, expiresAt: Date.now() + ms });
    const { query, subscriptionKey } = grant;
    // As short as this machine allows a grant to be used.
    const isTaken = ({ type }: { type: string }) => type === "query:subscribed" || type === "error";
    for (let ms = 500, type = ""; type !== "query:subscribed"; ms *= 2) {
      socket.frames.length = 0;
      socket.send({ type: "subscribeQuery", token: sign(ms) });
      await expect.poll(() => socket.frames.some(isTaken)).toBe(true);
      type = socket.frames.find(isTaken).type;
    }
    await socket.wait({ type: "revoked", query, subscriptionKey, reason: "expired" });
    await db.sql(`select svc.emit_message('{"invalidate":"guestbook.list"}')`);
    expect(await heard(socket, db)).toEqual([]);
    socket.send({ type: "subscribeQuery", token: sign(-1) });
    await socket.wait({ type: "error", code: "FORBIDDEN" });
  });
});

test("a grant that is not used any more ends no subscription, and tells nothing", async () => {
  const socket = await connect(null);
  const watch = async (query: string, subscriptionKey: string, ms: number) => {
    const grant = { query, subscriptionKey, topics: [`key:${query}`], user: null, expiresAt: Date.now() + ms };
    socket.send({ type: "subscribeQuery", token: new Grants([secret]).sign(grant) });
    await socket.wait({ type: "query:subscribed", query });
  };
  await watch("posts.list", "posts.list", 5_000);
  await socket.subscribe("posts.list"); // without it from now on
  await watch("guestbook.list", "several", 5_000);
  socket.send({ type: "unsubscribe", subscriptionKey: "several" });
  await watch('guestbook.list::{"limit":1}', "last", 5_001);
  const before = await socket.upTo({ type: "revoked", subscriptionKey: "last" });
  expect(before.filter(({ type }) => type === "revoked").length).toBe(1);
  await db.sql(`select svc.emit_message('{"invalidate":"posts.list"}')`);
  await socket.wait({ type: "invalidate", queries: ["posts.list"] });
});

describe("ctx.realtime.emit", () => {
  test("sends data to those who have a grant for the same arguments, and to nobody else", async () => {
    const [ann, bob] = [await member("ann", "red"), await member("bob", "blue")];
    const [red, blue] = [await connect(ann), await connect(bob)];
    await watch(red, ann, "team_boards.list", ofTeam("red"));
    await watch(blue, bob, "team_boards.list", ofTeam("blue"));
    const key = 'team_boards.list::{"filters":{"teamId":"red"}}';
    expect((await running.mutate(ann, "test.say", { key })).status).toBe(200);
    const { query, data } = await red.wait({ type: "query:updated" });
    expect([query, data]).toEqual([key, { said: key }]);
    expect(await heard(blue, db)).toEqual([]);
  });

  test("refuses what is its owners' alone", async () => {
    const ann = await member("ann");
    expect((await running.mutate(ann, "test.say", { key: "notes.list" })).status).toBe(500);
  });
});

describe("a get of such a resource", () => {
  test("is watched as any other: by its id, without a grant, whatever the list's scope is", async () => {
    const ann = await member("ann", "red");
    const { body } = await running.mutate(ann, "team_boards.create", { teamId: "red", name: "plans" });
    const socket = await connect(ann);
    const key = `team_boards.get::{"id":${body.json.id}}`;
    await socket.subscribe(key);
    await heard(socket, db); // the creation may still be on its way
    await running.mutate(ann, "team_boards.update", { id: body.json.id, name: "better" });
    await socket.wait({ type: "invalidate", queries: [key] });
    await db.sql("insert into boards (team_id, name) values ('red', 'another')");
    expect(await heard(socket, db)).toEqual([]);
  });

  test("keeps the get's own contract: nobody watches it without a session", async () => {
    const visitor = await connect(null);
    visitor.send({ type: "subscribe", query: 'team_boards.get::{"id":1}' });
    await visitor.wait({ type: "error", code: "UNAUTHORIZED" });
  });
});
