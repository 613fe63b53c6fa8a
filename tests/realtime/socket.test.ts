/** Realtime from a client's view: real sockets on a real service, with changes by requests and by SQL. */
import { once } from "node:events";
import { connect as connectTcp } from "node:net";
import { text } from "node:stream/consumers";
import { describe, expect, test } from "vitest";
import { database } from "../support/database.ts";
import { apiWith, service, TestService } from "../support/service.ts";
import { cutReader, heard, Socket, sockets, ticketFor } from "../support/sockets.ts";
import { count, from, gates, oddText, procedures, sinceKey } from "./socket-application.ts";

const db = database();
const running = service(db, apiWith({ procedures }));

const connect = sockets(running);
const boardChanged = { type: "invalidate", queries: ["test.board"] };

describe("lists and rows", () => {
  test("a change reaches their owner, and nobody else", async () => {
    const [ann, bob] = [await running.signUp("ann"), await running.signUp("bob")];
    const [annsSocket, bobsSocket] = [await connect(ann), await connect(bob)];
    for (const socket of [annsSocket, bobsSocket]) await socket.subscribe("notes.list");

    const { body } = await running.mutate(ann, "notes.create", { title: "hers" });
    await annsSocket.wait({ type: "invalidate", queries: ["notes.list"] });
    const key = `notes.get::{"id":${body.json.id}}`;
    expect(await heard(bobsSocket, db)).toEqual([]);
    for (const socket of [annsSocket, bobsSocket]) await socket.subscribe(key);
    await running.mutate(ann, "notes.update", { id: body.json.id, title: "changed" });
    await annsSocket.wait({ type: "invalidate", queries: [key, "notes.list"] });
    await running.mutate(ann, "notes.remove", { id: body.json.id });
    await annsSocket.wait({ type: "invalidate", queries: [key, "notes.list"] });
    expect(await heard(bobsSocket, db)).toEqual([]);
  });

  test("a change that no request made reaches them too", async () => {
    const ann = await running.signUp("ann");
    const socket = await connect(ann);
    await socket.subscribe("notes.list");
    await db.sql("insert into notes (user_id, title) values ($1, 'by psql')", [ann.id]);
    await socket.wait({ type: "invalidate", queries: ["notes.list"] });
  });

  test("rows that everybody may read are told to everybody who watches, signed in or not", async () => {
    const ann = await running.signUp("ann");
    const visitor = await connect(null);
    await visitor.subscribe("posts.list");
    await running.mutate(ann, "posts.create", { title: "news" });
    await visitor.wait({ type: "invalidate", queries: ["posts.list"] });
  });

  test("a thousand writes right after the subscription are all seen", async () => {
    const ann = await running.signUp("ann");
    const socket = await connect(ann);
    await db.sql("set synchronous_commit to on"); // the test cluster's setting lets commits reach the log late
    for (let n = 0; n < 1000; n++) {
      await socket.subscribe("notes.list");
      await db.sql("insert into notes (user_id, title) values ($1, 'x')", [ann.id]);
      await socket.wait({ type: "invalidate", queries: ["notes.list"] });
      socket.send({ type: "unsubscribe", query: "notes.list" });
    }
  });

  test("after unsubscribing nothing comes", async () => {
    const ann = await running.signUp("ann");
    const socket = await connect(ann);
    await socket.subscribe("notes.list");
    socket.send({ type: "unsubscribe", query: "notes.list" });
    await socket.subscribe("test.board"); // its "subscribed" comes after the frame before it was obeyed
    await db.sql("insert into notes (user_id, title) values ($1, 'x')", [ann.id]);
    expect(await heard(socket, db)).toEqual([]);
  });
});

describe("ctx.realtime", () => {
  test("invalidate, refresh and emit reach subscribers when the mutation commits", async () => {
    const ann = await running.signUp("ann");
    const visitor = await connect(null);
    await visitor.subscribe("test.board");
    await running.mutate(ann, "test.tell", { how: "invalidate" });
    await visitor.wait(boardChanged);
    await running.mutate(ann, "test.tell", { how: "refresh" });
    await visitor.wait({ type: "query:updated", query: "test.board", result: { json: { count } } });
    await running.mutate(ann, "test.tell", { how: "emit" });
    await visitor.wait({ type: "query:updated", query: "test.board", data: { count: 99 } });
    await running.mutate(ann, "test.tell", { how: "emit odd text" });
    await visitor.wait({ type: "query:updated", query: "test.board", data: { odd: oddText } });
  });

  test("a function is a mistake: nothing of it would arrive", async () => {
    const { status, body } = await running.mutate(await running.signUp("ann"), "test.tell", { how: "emit function" });
    expect([status, body.code]).toEqual([500, "INTERNAL"]);
    const said = () => running.logged.find((line) => line.includes(body.requestId));
    await expect.poll(said).toContain("What is emitted is a function");
  });

  test("arguments and data that JSON does not have reach those who watch with the same arguments", async () => {
    const ann = await running.signUp("ann");
    const visitor = await connect(null);
    await visitor.subscribe(sinceKey);
    await running.mutate(ann, "test.tell", { how: "invalidate since" });
    await visitor.wait({ type: "invalidate", queries: [sinceKey] });
    await running.mutate(ann, "test.tell", { how: "emit since" });
    const result = { json: { at: from.toISOString(), id: "7" }, meta: expect.arrayContaining([[1, "at"]]) };
    expect(await visitor.wait({ type: "query:updated", query: sinceKey })).toMatchObject({ result });
  });

  test("refresh makes those ask again who watch with arguments that it does not name", async () => {
    const visitor = await connect(null);
    await visitor.subscribe(sinceKey);
    await running.mutate(await running.signUp("ann"), "test.tell", { how: "refresh since" });
    await visitor.wait({ type: "invalidate", queries: [sinceKey] });
  });

  test("the result of an earlier refresh never comes after that of a later one", async () => {
    const ann = await running.signUp("ann");
    const visitor = await connect(null);
    await visitor.subscribe("test.slow");
    const { promise, resolve: open } = Promise.withResolvers<void>();
    gates.push(promise);
    await running.mutate(ann, "test.tell", { how: "refresh slow" });
    await expect.poll(() => gates.length).toBe(0);
    const first = count;
    for (let times = 0; times < 3; times++) await running.mutate(ann, "test.tell", { how: "refresh slow" });
    await heard(visitor, db); // all have been told here
    open();
    for (const json of [first, count])
      await visitor.wait({ type: "query:updated", query: "test.slow", result: { json } });
    expect((await heard(visitor, db)).filter(({ type }) => type === "query:updated")).toEqual([]);
  });

  test("a name that is no query's is a mistake, and the log says which may have been meant", async () => {
    const { status, body } = await running.mutate(await running.signUp("ann"), "test.tell", { how: "misspelt" });
    expect([status, body.code]).toEqual([500, "INTERNAL"]);
    expect(body.hint).toMatch(/^ctx\.realtime\.\w+: "test\.bord" is not a query/);
    const said = () => running.logged.find((line) => line.includes(body.requestId) && line.includes("test.bord"));
    await expect.poll(said).toContain('Did you mean \\"test.board\\"');
  });

  test("a mutation that fails tells nothing", async () => {
    const ann = await running.signUp("ann");
    const visitor = await connect(null);
    await visitor.subscribe("test.board");
    for (const how of ["invalidate", "refresh", "emit"]) {
      expect((await running.mutate(ann, "test.tell", { how, fail: true })).status).toBe(500);
    }
    expect(await heard(visitor, db)).toEqual([]);
  });

  test("data of a query that needs a session is never pushed", async () => {
    const ann = await running.signUp("ann");
    const socket = await connect(ann);
    await socket.subscribe("test.secret");
    await running.mutate(ann, "test.tell", { how: "refresh secret" });
    await socket.wait({ type: "invalidate", queries: ["test.secret"] });
    expect((await running.mutate(ann, "test.tell", { how: "emit secret" })).status).toBe(500);
  });

  test("a query cannot tell anybody anything", async () => {
    const { status, body } = await running.query(await running.signUp("ann"), "test.speaking");
    expect([status, body.code]).toEqual([500, "QUERY_WROTE"]);
  });
});

describe("who may connect, and watch what", () => {
  const socketUrl = (path: string) => running.url.replace("http", "ws") + path;
  const refusal = (socket: Socket) =>
    new Promise<number>((resolve) => {
      socket.websocket.on("unexpected-response", (_request, response) => resolve(response.statusCode ?? 0));
    });

  test("a ticket works once", async () => {
    const ticket = await ticketFor(running, await running.signUp("ann"));
    const first = new Socket(socketUrl(`/ws?ticket=${ticket}`));
    await first.wait({ type: "status" });
    first.close();
    expect(await refusal(new Socket(socketUrl(`/ws?ticket=${ticket}`)))).toBe(401);
    expect(await refusal(new Socket(socketUrl("/ws?ticket=invented")))).toBe(401);
  });

  test("a ticket ends with its session", async () => {
    const ann = await running.signUp("ann");
    const ticket = await ticketFor(running, ann);
    await db.sql("delete from auth.session where user_id = $1", [ann.id]);
    expect(await refusal(new Socket(socketUrl(`/ws?ticket=${ticket}`)))).toBe(401);
  });

  test("nobody gets a ticket without a session", async () => {
    expect((await running.fetch("/api/realtime/ticket", { method: "POST" })).status).toBe(401);
  });

  test.each(["https://evil.test", "null", "http://localhost.evil.test"])(
    "a page of %s is refused before the upgrade",
    async (origin) => {
      expect(await refusal(new Socket(socketUrl("/ws"), { origin }))).toBe(403);
    },
  );

  test("a refusal is told as other errors are, and when to come back", async () => {
    const limits = { limits: { requestsPerAddress: 2 } } as object;
    const busy = new TestService(db, apiWith(), limits);
    await busy.start();
    const refused = (origin: string) =>
      new Promise<[number | undefined, string | undefined, { code: string; hint?: string }]>((resolve) => {
        const { websocket } = new Socket(`${busy.url.replace("http", "ws")}/ws`, { origin });
        websocket.on("unexpected-response", async (_request, response) => {
          resolve([response.statusCode, response.headers["retry-after"], JSON.parse(await text(response))]);
        });
      });
    for (let n = 0; n < 2; n++) {
      const foreign = { code: "FORBIDDEN", hint: expect.stringContaining("frontendOrigins") };
      expect(await refused("https://evil.test")).toEqual([403, undefined, expect.objectContaining(foreign)]);
    }
    const [status, after, body] = await refused("https://evil.test");
    expect([status, Number(after) > 0, body.code]).toEqual([429, true, "RATE_LIMITED"]);
    await busy.stop();
  });

  test("a subprotocol that a client offers is not agreed to: none is spoken", async () => {
    for (const protocols of ["chat", "graphql-transport-ws, chat"]) {
      const headers = { "sec-websocket-protocol": protocols };
      const { websocket } = new Socket(socketUrl("/ws"), { headers });
      const [answer] = await once(websocket, "upgrade");
      expect(answer.headers["sec-websocket-protocol"]).toBeUndefined();
      websocket.close();
    }
  });

  test("other paths are no sockets", async () => {
    expect(await refusal(new Socket(socketUrl("/api/query")))).toBe(404);
  });

  test.each([
    ["notes.list", "UNAUTHORIZED"],
    ["notes.nothing", "NOT_FOUND"],
    ["notes.create", "NOT_FOUND"],
    ["posts.get::{", "BAD_REQUEST"],
    ["posts.list::{", "BAD_REQUEST"],
    ["x".repeat(5000), "BAD_REQUEST"],
    [7, "BAD_REQUEST"],
  ])("a visitor who watches %j gets %s", async (watched, code) => {
    const visitor = await connect(null);
    visitor.send({ type: "subscribe", query: watched });
    expect(await visitor.wait({ type: "error" })).toMatchObject({ code, query: watched });
  });
});

describe("a session that ends while it watches", () => {
  test("takes its sockets along, and no others", async () => {
    const ann = await running.signUp("ann");
    const second = (await running.post("/api/auth/sign-in", { email: ann.email, password: "correct horse" })).body;
    const [ended, other] = [await connect(ann), await connect({ ...ann, ...second })];
    await ended.subscribe("notes.list");
    const headers = { authorization: `Bearer ${ann.sessionToken}` };
    expect((await running.fetch("/api/auth/sign-out", { method: "POST", headers })).status).toBe(200);
    await expect.poll(() => ended.closed?.code).toBe(4401);
    await other.subscribe("notes.list");
    await db.sql("insert into notes (user_id, title) values ($1, 'x')", [ann.id]);
    await other.wait({ type: "invalidate", queries: ["notes.list"] });
  });

  test("also when it ended in another process, or by SQL", async () => {
    const ann = await running.signUp("ann");
    const socket = await connect(ann);
    await db.sql("delete from auth.session where user_id = $1", [ann.id]);
    await expect.poll(() => socket.closed?.code).toBe(4401);
  });

  test("and when the user's row changes, for what they may hear may have changed", async () => {
    const ann = await running.signUp("ann");
    const socket = await connect(ann);
    await db.sql(`update auth."user" set name = 'Ann the second' where id = $1`, [ann.id]);
    await expect.poll(() => socket.closed?.code).toBe(4401);
  });
});

test("clients that are gone before they are admitted harm nobody", async () => {
  const { port } = new URL(running.url);
  for (let n = 0; n < 50; n++) {
    const socket = connectTcp(Number(port), "127.0.0.1");
    socket.on("error", () => {});
    await once(socket, "connect");
    const head = "GET /ws?ticket=invented HTTP/1.1\r\nhost: localhost\r\nconnection: upgrade\r\nupgrade: websocket\r\n";
    socket.write(`${head}sec-websocket-version: 13\r\nsec-websocket-key: ${"x".repeat(22)}==\r\n\r\n`);
    socket.resetAndDestroy();
  }
  const visitor = await connect(null);
  await visitor.subscribe("test.board");
});

test("a reader that was lost is told: degraded, then live and resync", async () => {
  const visitor = await connect(null);
  await visitor.subscribe("test.board");
  await cutReader(db);
  await visitor.wait({ type: "status", flow: "degraded" });
  await visitor.wait({ type: "status", flow: "live" });
  expect(await visitor.wait({ type: "resync" })).toMatchObject({ before: expect.stringMatching(/^\d+$/) });
  await db.sql('select svc.emit_message(\'{"invalidate":"test.board"}\')');
  await visitor.wait(boardChanged);
});
