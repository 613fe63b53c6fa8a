// If this file fails, a deploy cuts requests off, or a balancer sends them to a process that cannot answer.
import { once } from "node:events";
import { Agent, get } from "node:http";
import { connect, type Socket } from "node:net";
import { afterEach, describe, expect, inject, test } from "vitest";
import { createSvcHttpRouteBuilders } from "../../src/index.ts";
import { procedure } from "../fixture/backend/index.ts";
import * as schema from "../fixture/backend/schema.ts";
import { execute } from "../support/admin.ts";
import { database } from "../support/database.ts";
import { apiWith, service, TestService } from "../support/service.ts";

/** Handlers wait here until the test releases them. */
function gate() {
  const { promise: opened, resolve: open } = Promise.withResolvers<void>();
  const { promise: entered, resolve: enter } = Promise.withResolvers<void>();
  const pass = () => {
    enter();
    return opened;
  };
  return { open, entered, pass };
}
let doors = gate();
afterEach(() => {
  doors.open();
  doors = gate();
});

const message = { message: "saved" };
const api = apiWith({
  procedures: {
    fast: procedure.query
      .name("life.fast")
      .allowAnonymous()
      .handler(() => "no database"),
    reads: procedure.query
      .name("life.reads")
      .allowAnonymous()
      .handler(({ context }) => context.db.$count(schema.guestbook)),
    waits: procedure.mutation
      .name("life.waits")
      .allowAnonymous()
      .handler(async ({ context }) => {
        await context.db.insert(schema.guestbook).values(message);
        await doors.pass();
        return "done";
      }),
    hangs: procedure.mutation
      .name("life.hangs")
      .allowAnonymous()
      .handler(async ({ context }) => {
        await context.db.insert(schema.guestbook).values(message);
        doors.pass();
        await new Promise(() => {});
      }),
  },
  httpRoutes: {
    pattern: createSvcHttpRouteBuilders()
      .get.path("/life/:id")
      .allowAnonymous()
      .handler(() => ({ body: "x" })),
  },
});

const db = database();
const svc = service(db, api);
const busy = service(db, api, { pool: { request: 2, perCaller: 10, waitMs: 1_000 } });
/** For the services that a test stops. */
const other = database();

async function started(config: ConstructorParameters<typeof TestService>[2] = {}): Promise<TestService> {
  const running = new TestService(other, api, config);
  await running.start();
  return running;
}
const connections = () =>
  other.sql(
    "select application_name from pg_stat_activity where datname = current_database() and application_name like 'svc %'",
  );

/** Opens a separate connection, and collects the received text. */
async function open(url: string): Promise<{ socket: Socket; text: () => string; closed: Promise<unknown> }> {
  const socket = connect(Number(new URL(url).port), "localhost");
  const closed = once(socket, "close");
  let received = "";
  socket.on("data", (chunk) => {
    received += chunk;
  });
  await once(socket, "connect");
  return { socket, text: () => received, closed };
}

describe("/healthz and /readyz", () => {
  test("say that all is well, to anybody", async () => {
    expect(await svc.fetch("/healthz")).toMatchObject({ status: 200, body: { status: "ok" } });
    expect(await svc.fetch("/readyz")).toMatchObject({
      status: 200,
      body: { status: "ready", checks: { database: "ok", stopping: false } },
    });
    expect((await fetch(`${svc.url}/healthz`, { method: "HEAD" })).status).toBe(200);
  });

  test("tell a running process from one whose database cannot be reached, and notice when it is back", async () => {
    const { admin } = inject("urls");
    await execute(
      admin,
      `alter database ${db.name} allow_connections false`,
      `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${db.name}'`,
    );
    try {
      const unready = {
        status: 503,
        body: { status: "not ready", checks: { database: "unreachable", stopping: false } },
      };
      await expect.poll(() => svc.fetch("/readyz")).toMatchObject(unready);
      expect((await svc.fetch("/healthz")).status).toBe(200);
      for (const answer of [
        await svc.query(null, "guestbook.list"),
        await svc.mutate(null, "guestbook.create", message),
        await svc.query(null, "life.reads"),
        await svc.mutate(null, "life.waits"),
      ]) {
        expect(answer).toMatchObject({ status: 503, body: { code: "UNAVAILABLE" } });
        expect(answer.headers.get("retry-after")).toBe("1");
        const line = () => svc.logged.find((text) => text.includes(answer.body.requestId));
        await expect.poll(line).toContain("is not currently accepting connections");
        expect(line()).not.toContain("stack");
      }
      expect((await svc.query(null, "life.fast")).status).toBe(200);
    } finally {
      await execute(admin, `alter database ${db.name} allow_connections true`);
    }
    expect((await svc.fetch("/readyz")).status).toBe(200);
    expect(await svc.query(null, "life.reads")).toMatchObject({ status: 200, body: { json: 0 } });
  });
});

describe("/metrics", () => {
  test("count exchanges by operation, from a bounded set of names", async () => {
    await svc.query(null, "life.fast");
    await svc.query(null, "notes.list");
    await svc.query(null, "canary.unknown");
    for (const path of ["/life/canary-1", "/canary-2", "/healthz"]) await svc.fetch(path);
    const { body, headers } = await svc.fetch("/metrics");
    expect(headers.get("content-type")).toContain("text/plain; version=0.0.4");
    for (const [operation, method, status] of [
      ["life.fast", "POST", 200],
      ["notes.list", "POST", 401],
      ["unknown", "POST", 404],
      ["/life/:id", "GET", 200],
      ["unknown", "GET", 404],
      ["/healthz", "GET", 200],
    ]) {
      expect(body).toMatch(
        new RegExp(
          `svc_http_request_duration_seconds_count{operation="${operation}",method="${method}",status="${status}"} [1-9]`,
        ),
      );
    }
    expect(body).not.toContain("canary");
  });

  test("show the pools and the process", async () => {
    await svc.query(null, "life.reads");
    const { body } = await svc.fetch("/metrics");
    for (const pool of ["request", "system", "auth"]) {
      for (const state of ["total", "idle", "waiting"])
        expect(body).toContain(`svc_pool_connections{pool="${pool}",state="${state}"} `);
    }
    expect(body).toMatch(/svc_pool_connections{pool="request",state="total"} [1-9]/);
    expect(body).toContain("process_resident_memory_bytes");
  });
});

test("calls that find no free connection in time are 503 with Retry-After, and served again afterwards", async () => {
  const before = (await busy.query(null, "life.reads")).body.json;
  const holding = [busy.mutate(null, "life.waits"), busy.mutate(null, "life.waits")];
  const inUse = /svc_pool_connections{pool="request",state="idle"} 0/;
  await expect.poll(async () => (await busy.fetch("/metrics")).body).toMatch(inUse);
  for (const answer of await Promise.all([
    busy.query(null, "guestbook.list"),
    busy.mutate(null, "guestbook.create", message),
    busy.query(null, "life.reads"),
    busy.mutate(null, "life.waits"),
  ])) {
    expect(answer).toMatchObject({
      status: 503,
      body: { code: "UNAVAILABLE", error: expect.stringContaining("busy") },
    });
    expect(answer.headers.get("retry-after")).toBe("1");
  }
  expect((await busy.fetch("/readyz")).status).toBe(200); // a balancer would give its load to the others
  doors.open();
  for (const answer of await Promise.all(holding)) expect(answer.status).toBe(200);
  expect((await busy.query(null, "life.reads")).body).toEqual({ json: before + 2 });
  expect((await busy.fetch("/readyz")).status).toBe(200);
});

describe("a stop", () => {
  test("lets requests in flight finish, and takes no new connections", async () => {
    const running = await started();
    const inFlight = running.mutate(null, "life.waits");
    await doors.entered;
    const stopping = running.stop();
    await expect
      .poll(() =>
        fetch(`${running.url}/healthz`).then(
          () => "taken",
          (error) => error.cause?.code,
        ),
      )
      .toBe("ECONNREFUSED");
    doors.open();
    const { status, body, headers } = await inFlight;
    expect({ status, body, connection: headers.get("connection") }).toEqual({
      status: 200,
      body: { json: "done" },
      connection: "close",
    });
    await stopping;
    expect(await other.sql("select message from guestbook")).toEqual([message]);
    await expect.poll(connections).toEqual([]);
  });

  test("closes connections that are kept alive, and tells those in the middle of a request", async () => {
    const running = await started();
    const agent = new Agent({ keepAlive: true });
    const [response] = await once(get(`${running.url}/healthz`, { agent }), "response");
    const { socket: idle } = response;
    response.resume();
    await once(response, "end");
    const busy = await open(running.url);
    busy.socket.write("GET /readyz HTTP/1.1\r\nhost: localhost\r\n");
    const inFlight = running.mutate(null, "life.waits"); // until it has arrived, the half request has too
    await doors.entered;

    const stopping = running.stop();
    if (!idle.destroyed) await once(idle, "close");
    busy.socket.write("\r\n");
    await busy.closed;
    expect(busy.text()).toMatch(/^HTTP\/1.1 503 [\s\S]*connection: close[\s\S]*"stopping":true/i);
    doors.open();
    expect((await inFlight).status).toBe(200);
    await stopping;
    agent.destroy();
    const probes = running.logged.map((line) => JSON.parse(line)).filter(({ operation }) => operation === "/readyz");
    expect(probes).toMatchObject([{ level: 30, status: 503 }]);
  });

  test("goes on for limits.lingerMs to take requests, says 503 at /readyz, and closes connections by their answer", async () => {
    const running = await started({ limits: { lingerMs: 1_500 } });
    const agent = new Agent({ keepAlive: true });
    const ask = async (path: string) => {
      const [response] = await once(get(`${running.url}${path}`, { agent }), "response");
      response.resume();
      await once(response, "end");
      const { statusCode: status, headers, req } = response;
      return { status, connection: headers.connection, reused: req.reusedSocket };
    };
    expect(await ask("/healthz")).toMatchObject({ status: 200, reused: false });
    const stopping = running.stop();
    expect(await ask("/readyz")).toMatchObject({ status: 503, connection: "close", reused: true });
    expect(await ask("/healthz")).toMatchObject({ status: 200, connection: "close", reused: false });
    agent.destroy();
    await stopping;
  });

  test("is what closes an idle connection: by itself it is kept for longer than proxies keep theirs", async () => {
    const { socket, text } = await open(svc.url);
    socket.write("GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n");
    await expect.poll(text).toMatch(/^keep-alive: timeout=75\r$/im);
    socket.destroy();
  });

  test("asked for twice is one stop", async () => {
    const running = await started();
    const inFlight = running.mutate(null, "life.waits");
    await doors.entered;
    const ends: string[] = [];
    const stops = [1, 2].map((n) => running.stop().then(() => ends.push(`stop ${n}`)));
    doors.open();
    await inFlight;
    await Promise.all(stops);
    await running.stop();
    expect(ends).toEqual(["stop 1", "stop 2"]);
    expect(running.logged.filter((line) => line.includes('"stopped"'))).toHaveLength(1);
  });

  test("breaks off what is not done by its deadline, and ends", async () => {
    const running = await started({ limits: { shutdownMs: 200 } });
    const inFlight = running.mutate(null, "life.hangs").catch((error: Error) => error);
    await doors.entered;
    await running.stop();
    expect(await inFlight).toBeInstanceOf(Error);
    expect(running.logged.join("")).toMatch(/"level":50.*"life.hangs".*did not end within limits.shutdownMs/);
    await expect.poll(connections).toEqual([]);
  });
});
