// If this file fails, an API key uploads, listens or acts on the account without the right to, or leaves its identity behind.
import { beforeAll, describe, expect, test } from "vitest";
import type { User } from "../support/service.ts";
import { Socket, sockets } from "../support/sockets.ts";
import { create as createUpload, head as uploadHead } from "../support/uploads.ts";
import { keysWorld } from "./api-keys-world.ts";

const world = keysWorld();
const { db, app, keys } = world;
const connect = sockets(app);
let ann: User;
beforeAll(() => {
  ann = world.ann;
});

test("uploads take the scope files:write", async () => {
  expect((await createUpload(app, keys.write, 3)).status).toBe(403);
  const made = await createUpload(app, keys.all, 3);
  expect(made.status).toBe(201);
  const id = made.headers.get("location")?.split("/").at(-1) ?? "";
  expect((await uploadHead(app, keys.write, id)).status).toBe(403);
  expect((await uploadHead(app, keys.all, id)).status).toBe(200);
});

test("the log says which key called, and which user's it is", async () => {
  const { headers } = await app.query(keys.read, "tickets.list");
  const mine = await app.query(ann, "tickets.list");
  const lineOf = (id: string | null) =>
    app.logged.map((line) => JSON.parse(line)).find((line) => line.requestId === id);
  await expect
    .poll(() => lineOf(headers.get("x-request-id")))
    .toMatchObject({ userId: ann.id, keyId: expect.any(String) });
  const { keyId } = lineOf(headers.get("x-request-id"));
  expect(await db.sql("select user_id from auth.api_key where id = $1", [keyId])).toEqual([{ user_id: ann.id }]);
  await expect.poll(() => lineOf(mine.headers.get("x-request-id"))?.userId).toBe(ann.id);
  expect(lineOf(mine.headers.get("x-request-id"))).not.toHaveProperty("keyId");
});

describe("sockets", () => {
  test("get of a query that is run again for them what the key sees, and not what its user sees", async () => {
    const [page, program] = [await connect(world.ann), await connect(keys.read)];
    for (const socket of [page, program]) await socket.subscribe("counted");
    await app.mutate(keys.write, "recount");
    const results = [page, program].map((socket) => socket.wait({ type: "query:updated", query: "counted" }));
    expect((await Promise.all(results)).map(({ result }) => result.json)).toEqual([1, 0]);
  });

  test("of a key hear of the tables that its scopes open", async () => {
    const socket = await connect(keys.read);
    await socket.subscribe("tickets.list");
    await db.sql("insert into tickets (user_id, title) values ($1, 'heard')", [ann.id]);
    await socket.wait({ type: "invalidate", queries: ["tickets.list"] });
    for (const query of ["diaries.list", "unscoped"]) {
      socket.send({ type: "subscribe", query });
      await socket.wait({ type: "error", code: "FORBIDDEN", query });
    }
    await db.sql("delete from tickets where title = 'heard'");
  });

  test("get a grant for a scoped list with the scope, if its authorize lets the user in", async () => {
    const ask = (key: User) =>
      app.post(
        "/api/realtime/query/authorize",
        { query: "watched_tickets.list", args: { filters: { title: "a" } } },
        key,
      );
    for (const key of [ann, keys.read, keys.all]) {
      expect((await ask(key)).body).toMatchObject({ token: expect.any(String), policy: "authorized" });
    }
    expect((await ask(keys.none)).body).toMatchObject({
      code: "FORBIDDEN",
      hint: expect.stringContaining("tickets:read"),
    });
  });

  test("take a key in the header, and no grant of another session", async () => {
    const { body } = await app.post("/api/realtime/query/authorize", { query: "diaries.list" }, ann);
    const headers = { authorization: `Bearer ${keys.read.token}` };
    const socket = new Socket(`${app.url.replace("http", "ws")}/ws`, { headers });
    await socket.wait({ type: "status", flow: "live" });
    socket.send({ type: "subscribeQuery", token: body.token });
    await socket.wait({ type: "error", code: "FORBIDDEN" });
    socket.close();
    expect((await app.post("/api/realtime/query/authorize", { query: "diaries.list" }, keys.read)).status).toBe(403);
  });
});

test("channels let in keys for everything alone, and speak for nobody else", async () => {
  const [all, read] = [await connect(keys.all), await connect(keys.read)];
  all.send({ type: "subscribe", query: "talk" });
  expect(await all.wait({ type: "subscribed", query: "talk" })).toMatchObject({ member: { userId: ann.id } });
  read.send({ type: "subscribe", query: "talk" });
  await read.wait({ type: "error", code: "FORBIDDEN", query: "talk" });
  read.send({ type: "send", query: "talk", event: "said", data: { json: { text: "x" } }, ref: 1 });
  expect(await read.wait({ query: "talk" })).toMatchObject({ data: { failed: 1, code: "FORBIDDEN" } });
});

describe("no identity is left behind", () => {
  test("on connections that a key and its user share, also for short reads together", async () => {
    const ask = async (caller: User) => (await app.query(caller, "diaries.list")).body.json.total;
    await Promise.all([ask(ann), ask(keys.read)]);
    for (let round = 0; round < 15; round++) {
      const callers = Array.from(
        { length: 8 },
        (_, at) => [ann, keys.read, keys.all, keys.write][(at * 7 + round) % 4] as User,
      );
      const totals = await Promise.all(callers.map(ask));
      expect(totals).toEqual(callers.map((caller) => (caller === ann || caller === keys.all ? 1 : 0)));
    }
  });

  test("on a connection after any call", async () => {
    const rows = await db.sql(
      "select count(*)::int as open from pg_stat_activity where state like 'idle in%' and usename = 'svc_request' and datname = current_database()",
    );
    expect(rows).toEqual([{ open: 0 }]);
  });
});

describe("below /api/auth a key", () => {
  const paths: [string, string][] = [
    ["GET", "/me"],
    ["GET", "/api-keys"],
    ["POST", "/api-keys"],
    ["DELETE", "/api-keys"],
    ["POST", "/token"],
    ["POST", "/sign-out"],
    ["POST", "/sign-out-everywhere"],
    ["POST", "/change-password"],
    ["POST", "/delete-user"],
    ["POST", "/send-verification-email"],
    ["POST", "/two-factor/enable"],
  ];
  test.for(paths)("is refused by %s %s", async ([method, path]) => {
    const { status, body, headers } = await app.fetch(`/api/auth${path}`, {
      method,
      headers: { authorization: `Bearer ${keys.all.token}`, "content-type": "application/json" },
      ...(method === "POST" && { body: "{}" }),
    });
    expect([status, body.code, headers.get("set-cookie")]).toEqual([403, "FORBIDDEN", null]);
    expect(body.hint).toContain("session");
  });
});
