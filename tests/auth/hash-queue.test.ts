// If this file fails, many sign-ins from one network keep other users from signing in.
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { defineAuth } from "../../src/contract/auth.ts";
import { type AuthServer, ann, startAuthServer } from "../support/auth-server.ts";
import { database } from "../support/database.ts";

/** Passwords in the order of their comparison. The test ends each comparison. */
const compared: string[] = [];
let ends: (() => void)[] = [];
let isHolding = true;
const password = {
  hash: async (text: string) => `hash of ${text}`,
  verify: async ({ hash, password: text }: { hash: string; password: string }) => {
    compared.push(text);
    if (isHolding) await new Promise<void>((end) => ends.push(end));
    return hash === `hash of ${text}`;
  },
};
const definition = defineAuth({
  betterAuth: (defaults) => ({ ...defaults, emailAndPassword: { enabled: true, password } }),
});

const db = database();
let server: AuthServer;
beforeAll(async () => {
  server = await startAuthServer(db, { definition, trustProxy: 1 });
  await server.signUp();
});
afterEach(() => {
  isHolding = false;
  for (const end of ends.splice(0)) end();
});
afterAll(() => server.close());

const at = (address: string) => ({ headers: { "x-forwarded-for": address } });
const running = 3;
const waitingPerNetwork = 20;
const begin = () => {
  isHolding = true;
  compared.length = 0;
  ends = [];
};
/** Ends the oldest comparison, and waits until the expected number has begun. */
async function endOne(): Promise<void> {
  const before = compared.length;
  ends.shift()?.();
  await expect.poll(() => compared.length).toBe(before + 1);
}
/** All counted attempts are in the queue when no connection is in use. */
const areQueued = (network: string, count: number) =>
  expect
    .poll(async () => {
      const [row] = await db.sql("select count from auth.attempt where kind = 'signInsPerAddress' and subject = $1", [
        network,
      ]);
      const { idleCount, totalCount, waitingCount } = server.pool;
      return row?.count === count && waitingCount === 0 && idleCount === totalCount;
    })
    .toBe(true);

test("one sign-in is served in its turn behind 115 from another network, all with their right password", async () => {
  begin();
  const crowd = Array.from({ length: 115 }, () => server.post("/sign-in", ann, at("198.51.100.1")));
  let refused = 0;
  for (const one of crowd) void one.then(({ status }) => (refused += status === 503 ? 1 : 0));
  await expect.poll(() => refused).toBe(115 - running - waitingPerNetwork);
  expect(compared).toHaveLength(running);

  const own = server.post("/sign-in", { ...ann, password: "the wrong horse" }, at("192.0.2.1"));
  await areQueued("192.0.2.1", 1);
  for (let n = 0; n < 2; n++) await endOne();
  expect(compared).toContain("the wrong horse");
  isHolding = false;
  for (const end of ends.splice(0)) end();
  expect((await own).status).toBe(401);
  const statuses = (await Promise.all(crowd)).map(({ status }) => status);
  expect(statuses.filter((status) => status === 200)).toHaveLength(running + waitingPerNetwork);
});

test("a client that goes away leaves the queue: its password is never hashed, and its place is free", async () => {
  begin();
  await db.sql("delete from auth.attempt");
  const body = (text: string) => JSON.stringify({ ...ann, password: text });
  const first = Array.from({ length: running }, () => server.post("/sign-in", ann, at("192.0.2.1")));
  await expect.poll(() => compared.length).toBe(running);
  const leaving = new AbortController();
  const gone = Array.from({ length: waitingPerNetwork }, () =>
    fetch(`${server.url}/api/auth/sign-in`, {
      method: "POST",
      body: body("of somebody who left"),
      headers: { "content-type": "application/json", ...at("192.0.2.1").headers },
      signal: leaving.signal,
    }).catch(() => null),
  );
  await areQueued("192.0.2.1", running + waitingPerNetwork);
  expect((await server.post("/sign-in", ann, at("192.0.2.1"))).status).toBe(503);
  const left = () => server.log.filter((line) => line.includes('"status":499')).length;
  const before = left();
  leaving.abort();
  await Promise.all(gone);
  await expect.poll(() => left() - before).toBe(waitingPerNetwork);

  const stays = server.post("/sign-in", { ...ann, password: "of somebody who stays" }, at("192.0.2.1"));
  await areQueued("192.0.2.1", running + 1); // those who left are not counted either
  await endOne();
  expect(compared.slice(running)).toEqual(["of somebody who stays"]);
  isHolding = false;
  for (const end of ends.splice(0)) end();
  expect((await stays).status).toBe(401);
  expect((await Promise.all(first)).map(({ status }) => status)).toEqual([200, 200, 200]);
  expect(compared).not.toContain("of somebody who left");
});
