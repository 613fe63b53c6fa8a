// If this file fails, every sign-in makes unneeded round trips to the database, or a password that was replaced during
// its comparison still opens a session.
import { twoFactor } from "better-auth/plugins";
import type pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { defineAuth } from "../../src/contract/auth.ts";
import { type Answer, type AuthServer, ann, origin, startAuthServer } from "../support/auth-server.ts";
import { database } from "../support/database.ts";
import { migrateAuth } from "../support/plugin-tables.ts";
import { Browser, enrolled } from "./second-factor.ts";

/** What happens between the comparison of a password and its result. */
let compared: (() => Promise<unknown>) | undefined;
const definition = defineAuth({
  betterAuth: (defaults) => ({
    ...defaults,
    rateLimit: { enabled: false },
    plugins: [twoFactor()],
    emailAndPassword: {
      enabled: true,
      ...defaults.emailAndPassword,
      password: {
        hash: async (password) => `plain:${password}`,
        async verify({ hash, password }) {
          const happening = compared;
          compared = undefined;
          await happening?.();
          return hash === `plain:${password}`;
        },
      },
    },
  }),
});

const db = database();
let server: AuthServer;
beforeAll(async () => {
  await migrateAuth(db, definition);
  server = await startAuthServer(db, { definition });
  await server.signUp();
});
afterAll(() => server.close());

/** The driver's connection: the server says that it is ready once for every round trip, however many statements it had. */
interface Wire {
  connection: { on(event: "readyForQuery", listener: () => void): void; off: Wire["connection"]["on"] };
}

/** Round trips to the database that the pool's connections make during the call. */
async function roundTrips(call: () => Promise<Answer>): Promise<number> {
  let count = 0;
  const heard = new Set<Wire["connection"]>();
  const ready = () => void count++;
  const hear = (client: pg.PoolClient) => {
    const { connection } = client as unknown as Wire;
    if (!heard.has(connection)) connection.on("readyForQuery", ready);
    heard.add(connection);
  };
  server.pool.on("acquire", hear);
  expect(await call()).toMatchObject({ status: 200 });
  server.pool.off("acquire", hear);
  for (const connection of heard) connection.off("readyForQuery", ready);
  return count;
}

describe("a sign-in", () => {
  const { email, password } = ann;
  const doors: [string, () => Promise<Answer>][] = [
    ["token style", () => server.post("/sign-in", { email, password })],
    ["cookie style", () => server.post("/sign-in/email", { email, password }, { headers: { origin } })],
  ];
  test.for(doors)("asks the database at most five times, in %s", async ([, signIn]) => {
    await signIn(); // opens connections and reads the signing key
    const counts = [await roundTrips(signIn), await roundTrips(signIn), await roundTrips(signIn)];
    // A heartbeat of the process may come in between.
    expect(Math.min(...counts)).toBeLessThanOrEqual(5);
    // The attempt, the user and the session are three: fewer means that the test misses some.
    expect(Math.min(...counts)).toBeGreaterThanOrEqual(3);
  });

  test("gives its attempt back, and makes its sender known", async () => {
    await db.sql("delete from auth.attempt");
    expect((await server.post("/sign-in", { email, password })).status).toBe(200);
    const counted = (await db.sql("select kind, count, subject like '%@%' as known from auth.attempt")).map(
      ({ kind, count, known }) => `${kind} ${known ? "known" : count}`,
    );
    expect(counted.sort()).toEqual([
      "passwordsPerAccount 1",
      "passwordsPerAddress 1",
      "signInsPerAccount 0",
      "signInsPerAccount known",
      "signInsPerAddress 0",
    ]);
  });
});

test("right and wrong passwords of one account at the same moment do not wait for each other in a circle", async () => {
  const { email } = ann;
  await db.sql("delete from auth.attempt");
  // Twenty of a network may wait for a hash.
  for (let round = 0; round < 8; round++) {
    const passwords = Array.from({ length: 12 }, (_, n) => (n % 2 ? ann.password : "wrong horse"));
    const answers = await Promise.all(passwords.map((password) => server.post("/sign-in", { email, password })));
    expect(answers.map(({ status }) => status)).toEqual(passwords.map((one) => (one === ann.password ? 200 : 401)));
  }
  const [{ count } = { count: 0 }] = await db.sql("select count from auth.attempt where kind = 'signInsPerAddress'");
  expect(count).toBe(8 * 6);
});

describe("a password that is replaced while it is compared", () => {
  const replace = (email: string) => async () => {
    const user = 'select id from auth."user" where email = $1';
    await db.sql(`update auth.account set password = 'plain:better horse' where user_id = (${user})`, [email]);
  };

  test("opens no session, and stays counted", async () => {
    const who = { email: "replaced@example.com", password: "correct horse", name: "Ann" };
    const { body } = await server.signUp(who);
    await db.sql("delete from auth.session where user_id = $1", [body.user.id]);
    await db.sql("delete from auth.attempt");
    compared = replace(who.email);
    expect(await server.post("/sign-in", who)).toMatchObject({ status: 401, body: { code: "INVALID_CREDENTIALS" } });
    expect(await db.sql("select from auth.session where user_id = $1", [body.user.id])).toEqual([]);
    expect(await db.sql("select kind from auth.attempt where kind like 'signIns%' and count = 1")).toHaveLength(2);
  });

  test("is not completed by a second factor", async () => {
    const { email, password } = await enrolled(server);
    compared = replace(email);
    const browser = new Browser(server);
    expect(await browser.post("/sign-in/email", { email, password })).toMatchObject({
      status: 401,
      body: { code: "INVALID_CREDENTIALS" },
    });
    expect([...browser.jar.keys()]).toEqual([]);
  });
});
