// If this file fails, a stolen one-time code opens a session.
import { Agent, request } from "node:http";
import type pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { OneTimeTokens } from "../../src/auth/mail/one-time-tokens.ts";
import { type AuthServer, startAuthServer } from "../support/auth-server.ts";
import { Browser, exchange, results } from "../support/browser.ts";
import { database } from "../support/database.ts";
import { type ScriptedProvider, startScriptedProvider } from "../support/scripted-provider.ts";

const db = database();
const front = "https://front.test";
const claims = { sub: "p1", email: "pat@example.com", email_verified: true };
let provider: ScriptedProvider;
let server: AuthServer;
let pool: pg.Pool;
let once: OneTimeTokens;
beforeAll(async () => {
  provider = await startScriptedProvider();
  const frontendOrigins = [front, "https://other.test"];
  server = await startAuthServer(db, { google: provider.settings, frontendOrigins, max: 10 });
  pool = db.pool("auth", 4);
  once = new OneTimeTokens(pool);
});
afterAll(async () => {
  await server.close();
  await pool.end();
  await provider.close();
});

/** The code of a complete sign-in. */
async function freshCode(): Promise<string> {
  return results(await new Browser(server).signIn(provider, { claims }, { callbackURL: `${front}/done` })).code ?? "";
}
const sessions = async () => (await db.sql("select id from auth.session")).length;

describe("a one-time code", () => {
  test("is worth one session, and nothing the second time", async () => {
    const code = await freshCode();
    expect((await exchange(server, code)).status).toBe(200);
    const count = await sessions();
    const again = await exchange(server, code);
    expect(again).toMatchObject({ status: 401, body: { code: "UNAUTHORIZED", hint: "Begin the sign-in again." } });
    expect(await sessions()).toBe(count);
  });

  test.for([
    ["another listed one", "https://other.test"],
    ["a foreign one", "https://evil.test"],
    ["the service's own", "https://app.test"],
    ["none", null],
    ["null", "null"],
    ["one that begins alike", `${front}.evil.test`],
    ["one in another spelling", "https://FRONT.test"],
  ])("from an origin that is %s is refused, and spent", async ([, from]) => {
    const code = await freshCode();
    const count = await sessions();
    expect(await exchange(server, code, from)).toMatchObject({ status: 403, body: { code: "FORBIDDEN" } });
    expect((await exchange(server, code)).status).toBe(401);
    expect(await sessions()).toBe(count);
  });

  test("lasts a minute", async () => {
    await freshCode();
    const left = "extract(epoch from expires_at - now()) as seconds";
    const text = `select ${left} from auth.verification where identifier like 'oauth-code:%' order by created_at desc limit 1`;
    const [row] = await db.sql<{ seconds: string }>(text);
    expect(Number(row?.seconds)).toBeGreaterThan(30);
    expect(Number(row?.seconds)).toBeLessThanOrEqual(60);

    const code = await freshCode();
    await db.sql("update auth.verification set expires_at = now()");
    expect((await exchange(server, code)).status).toBe(401);
  });

  test("is not a state, nor a state a code", async () => {
    const browser = new Browser(server);
    const { location } = await browser.begin({ callbackURL: front });
    expect((await exchange(server, location?.searchParams.get("state"))).status).toBe(401);
    expect((await browser.back({ state: await freshCode(), code: "x" })).status).toBe(400);
  });

  test("of a user who is gone opens nothing", async () => {
    const code = await freshCode();
    await db.sql('delete from auth."user"');
    expect(await exchange(server, code)).toMatchObject({ status: 401, body: { code: "UNAUTHORIZED" } });
  });

  test("is not in the table, and leaves the address with no other parameter", async () => {
    const code = await freshCode();
    expect(JSON.stringify(await db.sql("select * from auth.verification"))).not.toContain(code);
  });

  test.for([undefined, null, 7, { $ne: null }, ["x"]])("that is %j is refused as input", async (code) => {
    expect(await exchange(server, code)).toMatchObject({ status: 400, body: { code: "VALIDATION_FAILED" } });
  });

  test.for(["", "x", "A".repeat(43), "A".repeat(4000), "' or true --"])(
    "that was invented (%s) is none",
    async (code) => {
      expect(await exchange(server, code)).toMatchObject({ status: 401, body: { code: "UNAUTHORIZED" } });
    },
  );

  test("is taken as JSON only", async () => {
    const headers = { origin: front, "content-type": "text/plain" };
    const answer = await server.post("/oauth/exchange", undefined, { raw: '{"code":"x"}', headers });
    expect(answer.status).toBe(415);
    for (const raw of ["null", "[]", '"x"']) {
      expect((await server.post("/oauth/exchange", undefined, { raw, headers: { origin: front } })).status).toBe(400);
    }
  });
});

/** The status of one exchange, by bare node:http on kept connections: ten thousand must take seconds. */
function statusOf(agent: Agent, code: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { origin: front, "content-type": "application/json" };
    const options = { agent, method: "POST", headers };
    request(`${server.url}/api/auth/oauth/exchange`, options, (answer) => {
      answer.resume().on("end", () => resolve(answer.statusCode ?? 0));
    })
      .on("error", reject)
      .end(JSON.stringify({ code }));
  });
}

// `npm run chaos` takes five hundred.
const many = process.env.CHAOS_ROUNDS ? 500 : 25;

test(`${many} codes, each brought by twenty at the same moment, open ${many} sessions`, {
  timeout: 240_000,
}, async () => {
  const { user } = (await exchange(server, await freshCode())).body;
  const before = await sessions();
  const codes = Array.from({ length: many }, () => once.add("oauth-code", { userId: user.id, origin: front }, 600));
  const agent = new Agent({ keepAlive: true, maxSockets: 40 });
  const statuses: number[][] = [];
  const queue = (await Promise.all(codes)).values();
  // Two at once: while one code's session is created, the next code is contested.
  const redeem = async () => {
    for (const code of queue) {
      const answers = await Promise.all(Array.from({ length: 20 }, () => statusOf(agent, code)));
      statuses.push(answers.toSorted());
    }
  };
  await Promise.all([redeem(), redeem()]);
  agent.destroy();
  expect(statuses).toHaveLength(many);
  for (const each of statuses) expect(each).toEqual([200, ...Array(19).fill(401)]);
  expect(await sessions()).toBe(before + many);
});
