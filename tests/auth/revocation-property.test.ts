// If this file fails, there is an order of sign-ins, sign-outs, changes and deletions after which a process accepts a
// revoked JWT or refuses a valid one.
import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { SessionTokens } from "../../src/auth/sessions/session-token.ts";
import { type AuthServer, secret, startAuthServer } from "../support/auth-server.ts";
import { database } from "../support/database.ts";
import { fc } from "../support/properties.ts";

const db = database();
let servers: [AuthServer, AuthServer];
beforeAll(async () => {
  servers = await Promise.all([startAuthServer(db), startAuthServer(db)]);
  // Until they receive notices, they query the database for every token, and a marker would be lost.
  const hearing = () => servers.every(({ auth }) => auth.hearsRevocations());
  await vi.waitUntil(hearing, { timeout: 30_000, interval: 2 });
});
afterAll(() => Promise.all(servers.map((server) => server.close())));

const sign = new SessionTokens([secret]);
const users = ["a", "b"] as const;
type Name = (typeof users)[number];

/** The expected state of a token, maintained by the test. */
interface Token {
  jwt: string;
  sessionToken: string;
  user: Name;
  good: boolean;
}

type Step =
  | { kind: "sign in"; user: Name }
  | { kind: "change"; user: Name }
  | { kind: "delete"; user: Name }
  | { kind: "sign out"; which: number; at: 0 | 1 }
  | { kind: "refresh"; which: number; at: 0 | 1 };

const user = fc.constantFrom(...users);
const which = fc.nat(20);
const at = fc.constantFrom(0 as const, 1 as const);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("sign in" as const), user }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("change" as const), user }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("delete" as const), user }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("sign out" as const), which, at }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("refresh" as const), which, at }) },
);

class World {
  readonly #run = randomBytes(6).toString("hex");
  readonly #tokens: Token[] = [];
  #notices = 0;

  id = (name: Name) => `${name}-${this.#run}`;

  async take(step: Step): Promise<void> {
    if (step.kind === "sign in") return this.#signIn(step.user);
    if (step.kind === "change") {
      await db.sql(`update auth."user" set name = name || '.' where id = $1`, [this.id(step.user)]);
      this.#spoil((token) => token.user === step.user);
    } else if (step.kind === "delete") {
      await db.sql('delete from auth."user" where id = $1', [this.id(step.user)]);
      this.#spoil((token) => token.user === step.user);
    } else {
      const token = this.#tokens[step.which % Math.max(1, this.#tokens.length)];
      if (!token) return;
      const server = servers[step.at];
      if (step.kind === "refresh") return this.#refresh(server, token.user, token.sessionToken);
      await server.post("/sign-out", undefined, { bearer: token.sessionToken });
      this.#spoil(({ sessionToken }) => sessionToken === token.sessionToken);
    }
  }

  /** Expects the right answer for every token from both servers, in any order and repeatedly. */
  async check(): Promise<void> {
    for (const server of [...servers, ...servers]) {
      const answers = await Promise.all(this.#tokens.map(({ jwt }) => server.caller(jwt)));
      expect(answers.map((answer) => answer !== null)).toEqual(this.#tokens.map(({ good }) => good));
    }
  }

  /** Calls that are not awaited: their lookups run during the next step. */
  disturb(): Promise<unknown> {
    return Promise.all(servers.flatMap((server) => this.#tokens.map(({ jwt }) => server.caller(jwt))));
  }

  /** Waits until both have received all notices so far; notices arrive in commit order. */
  async heard(): Promise<void> {
    const mark = `mark-${this.#run}-${++this.#notices}`;
    await db.sql(`notify svc_auth, '{"user":"nobody","session":"${mark}"}'`);
    const logged = () => servers.every(({ log }) => log.some((line) => line.includes(`"${mark}"`)));
    await expect.poll(logged, { interval: 2 }).toBe(true);
  }

  async #signIn(user: Name): Promise<void> {
    const token = randomBytes(16).toString("hex");
    const id = this.id(user);
    await db.sql(`insert into auth."user" (id, name, email) values ($1, 'x', $1) on conflict do nothing`, [id]);
    await db.sql(
      `insert into auth.session (id, user_id, token, expires_at) values ($2, $1, $2, now() + interval '7 days')`,
      [id, token],
    );
    await this.#refresh(servers[0], user, sign.sign(token));
  }

  async #refresh(server: AuthServer, user: Name, sessionToken: string): Promise<void> {
    const { status, body } = await server.post("/token", undefined, { bearer: sessionToken });
    if (status === 200) this.#tokens.push({ jwt: body.token, sessionToken, user, good: true });
  }

  #spoil(isMeant: (token: Token) => boolean): void {
    for (const token of this.#tokens) if (isMeant(token)) token.good = false;
  }
}

test("a token is good, or refused by both processes once they have heard, whatever happened in which order", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async (steps) => {
      const world = new World();
      for (const one of steps) {
        const disturbance = world.disturb();
        await world.take(one);
        await world.heard();
        await disturbance;
        await world.check();
      }
    }),
    { numRuns: process.env.FUZZ_RUNS ? 500 : 25 },
  );
}, 3_600_000);
