// If this file fails, one caller can use up all capacity, or is refused without a time to wait.
import { execFileSync } from "node:child_process";
import type pg from "pg";
import { describe, expect, test } from "vitest";
import { createSvcProcedureBuilders } from "../../src/contract/procedure.ts";
import { addressOf, RequestLimits } from "../../src/http/request-limits.ts";
import { createPing } from "../../src/server/health.ts";
import { database } from "../support/database.ts";
import { apiWith, service, type User } from "../support/service.ts";

const { query, mutation } = createSvcProcedureBuilders();
const ping = query
  .name("test.ping")
  .allowAnonymous()
  .handler(() => 1);
const pong = mutation
  .name("test.pong")
  .allowAnonymous()
  .handler(() => 1);
const limits = { requestsPerAddress: 40, requestsPerUser: 10, signInsPerAccount: 3 };
const db = database();
const running = service(db, apiWith({ procedures: { ping, pong } }), { trustProxy: 1, limits } as object);

/** Requests from a given address; the service trusts one proxy. */
const from = (address: string, user: User | null = null) =>
  running.fetch("/api/query", {
    method: "POST",
    headers: {
      "content-type": "application/json",
      "x-forwarded-for": address,
      ...(user && { authorization: `Bearer ${user.token}` }),
    },
    body: JSON.stringify({ name: "test.ping" }),
  });

const expectRefused = ({ status, body, headers }: Awaited<ReturnType<typeof from>>) => {
  expect([status, body.code]).toEqual([429, "RATE_LIMITED"]);
  const seconds = Number(headers.get("retry-after"));
  expect(seconds).toBeGreaterThanOrEqual(1);
  expect(seconds).toBeLessThanOrEqual(60);
};

describe("requests", () => {
  test("of one address are answered up to the limit, then refused with Retry-After; others go on", async () => {
    for (let n = 0; n < 40; n++) expect((await from("192.0.2.1")).status).toBe(200);
    expectRefused(await from("192.0.2.1"));
    expect((await from("192.0.2.2")).status).toBe(200);
    // Health checks are not limited, and routes of Express count as calls do.
    const headers = { "x-forwarded-for": "192.0.2.1" };
    expect((await running.fetch("/healthz", { headers })).status).toBe(200);
    expect((await running.fetch("/api/realtime/ticket", { method: "POST", headers })).status).toBe(429);
    expect((await running.fetch("/nothing", { headers })).status).toBe(429);
  });

  test("that are sent together count for their address one by one", async () => {
    const headers = { "content-type": "application/json", "x-forwarded-for": "192.0.2.3" };
    const body = JSON.stringify({ calls: Array(20).fill({ name: "test.pong" }) });
    const send = () => running.fetch("/api/batch", { method: "POST", headers, body });
    for (let n = 0; n < 2; n++) expect((await send()).status).toBe(200);
    expectRefused(await send());
  });

  test("of one user are counted together, wherever they come from", async () => {
    const [ann, bob] = [await running.signUp("ann"), await running.signUp("bob")];
    for (let n = 0; n < 10; n++) expect((await from(`192.0.3.${n}`, ann)).status).toBe(200);
    expectRefused(await from("192.0.3.99", ann));
    expect((await from("192.0.3.99", bob)).status).toBe(200);
  });

  test("beyond a limit are a line of the log that names the limit, which the caller is not told", async () => {
    const cyd = await running.signUp("cyd");
    for (let n = 0; n <= 10; n++) await from("192.0.4.1", cyd);
    for (let n = 0; n <= 10; n++) {
      const password = { email: "cyd@example.com", password: "wrong horse" };
      const answer = await running.fetch("/api/auth/sign-in", {
        method: "POST",
        headers: { "content-type": "application/json", "x-forwarded-for": "192.0.4.2" },
        body: JSON.stringify(password),
      });
      expect(JSON.stringify(answer.body)).not.toContain("limits.");
    }
    const reasons = running.logged.map((line) => JSON.parse(line)).filter(({ code }) => code === "RATE_LIMITED");
    expect(reasons.map(({ reason }) => reason)).toContain("limits.requestsPerUser");
    expect(reasons.at(-1).reason).toContain("limits.signInsPerAccount");
  });
});

test("readiness, which nobody is refused, asks the database once for all who want to know at the same time", async () => {
  const pool = db.pool("request", 1);
  let taken = 0;
  pool.on("acquire", () => taken++);
  try {
    const isReachable = createPing([pool]);
    const answers = await Promise.all(Array.from({ length: 50 }, () => isReachable()));
    expect([taken, new Set(answers)]).toEqual([1, new Set([true])]);
    expect([await isReachable(), taken]).toEqual([true, 2]);
  } finally {
    await pool.end();
  }
});

test("readiness says no while none of the pools has a connection for its question", async () => {
  const pools = [db.pool("request", 1), db.pool("system", 1)] as const;
  const [request] = await Promise.all(pools.map((pool) => pool.connect()));
  const isReachable = createPing(pools, 50);
  expect(await isReachable()).toBe(false);
  request?.release();
  await expect.poll(isReachable).toBe(true);
});

test("readiness asks other logins where the connections of one are taken at a pooler, and that one only once", async () => {
  let asked = 0;
  const connect = () => {
    asked++;
    return new Promise(() => {});
  };
  const taken = { idleCount: 1, totalCount: 1, options: { max: 1 }, connect } as unknown as pg.Pool;
  const isReachable = createPing([taken, db.pool("system", 1)], 8_000);
  expect(await Promise.all([isReachable(), isReachable()])).toEqual([true, true]);
  expect(asked).toBe(1);
});

test("readiness counts an answer that came while the process itself was busy", async () => {
  const pool = db.pool("request", 1);
  try {
    await createPing([pool])(); // connects
    const busyPing = async () => {
      await new Promise((resolve) => setImmediate(resolve)); // behind it Node looks at timers before it reads
      const answer = createPing([pool], 50)();
      for (let tick = 0; tick < 5; tick++) await new Promise<void>((resolve) => process.nextTick(resolve));
      execFileSync("sleep", ["0.3"]); // the question is sent, and nothing is read
      return answer;
    };
    await expect.poll(busyPing).toBe(true);
  } finally {
    await pool.end();
  }
});

describe("the count", () => {
  const request = (remoteAddress: string, forwarded?: string) =>
    ({ socket: { remoteAddress }, headers: { "x-forwarded-for": forwarded } }) as never;

  test("begins anew with the next minute", () => {
    let now = 0;
    const one = new RequestLimits({ requestsPerAddress: 2, requestsPerUser: false, trustProxy: false, now: () => now });
    const count = () => one.countAddress(request("192.0.2.1"));
    count();
    count();
    now = 59_000;
    expect(count).toThrow(expect.objectContaining({ code: "RATE_LIMITED", retryAfter: 1 }));
    now = 60_000;
    count();
  });

  test("of a user begins anew with the next minute, too", () => {
    let now = 0;
    const one = new RequestLimits({ requestsPerAddress: false, requestsPerUser: 2, trustProxy: false, now: () => now });
    const session = { id: "1", user: { id: "ann", email: "", name: "" } };
    const count = (calls: number) => one.countCalls(request("192.0.2.1"), session, calls);
    count(2);
    expect(() => count(1)).toThrow(expect.objectContaining({ code: "RATE_LIMITED" }));
    now = 60_000;
    count(2);
  });

  test("stays bounded in memory: beyond a hundred thousand addresses, new ones are counted together", () => {
    const one = new RequestLimits({ requestsPerAddress: 5, requestsPerUser: false, trustProxy: false, now: () => 0 });
    const address = (n: number) => `10.${n >> 16}.${(n >> 8) & 255}.${n & 255}`;
    for (let n = 0; n < 100_005; n++) one.countAddress(request(address(n)));
    expect(() => one.countAddress(request(address(200_000)))).toThrow(/Too many requests/);
    one.countAddress(request(address(7)));
  });

  test.for<[boolean | number, string | undefined, string]>([
    [false, "192.0.2.9", "127.0.0.1"],
    [true, "192.0.2.9, 192.0.2.8", "192.0.2.9"],
    [1, "192.0.2.9, 192.0.2.8", "192.0.2.8"],
    [2, "192.0.2.9, 192.0.2.8", "192.0.2.9"],
    [5, "192.0.2.9", "192.0.2.9"],
    [1, undefined, "127.0.0.1"],
  ])("with trustProxy %s, of %s it is %s", ([trustProxy, forwarded, address]) => {
    expect(addressOf(request("127.0.0.1", forwarded), trustProxy)).toBe(address);
  });
});
