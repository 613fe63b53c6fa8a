// If this file fails, an operator who follows docs/how-to/rotate-secrets.md signs users out, or locks out users with a
// second factor.
import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { twoFactor } from "better-auth/plugins";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { countEncrypted, reencryptAll } from "../../src/auth/reencrypt.ts";
import { defineAuth } from "../../src/contract/auth.ts";
import { type AuthServer, startAuthServer } from "../support/auth-server.ts";
import { fixture, svc } from "../support/cli.ts";
import { database } from "../support/database.ts";
import { root } from "../support/global-setup.ts";
import { migrateAuth } from "../support/plugin-tables.ts";
import { totp } from "../support/totp.ts";

const definition = defineAuth({
  betterAuth: (defaults) => ({ ...defaults, rateLimit: { enabled: false }, plugins: [twoFactor({ issuer: "svc" })] }),
});
const names = { OLD: randomBytes(32).toString("hex"), NEW: randomBytes(32).toString("hex") };
const listOf = (text: string) => text.replaceAll(/OLD|NEW/g, (name) => names[name as keyof typeof names]);

const db = database();
/** Two processes behind a balancer. */
let servers: AuthServer[];
const start = (list: string) => startAuthServer(db, { definition, secrets: listOf(list).split(",") });

beforeAll(async () => {
  await migrateAuth(db, definition);
  servers = [await start("OLD"), await start("OLD")];
});
afterAll(() => Promise.all(servers.map((one) => one.close())));

/** The steps of the page: each value of AUTHLIB_SECRET, and each command. */
async function steps(): Promise<string[]> {
  const text = await readFile(join(root, "docs/how-to/rotate-secrets.md"), "utf8");
  const part = text.slice(text.indexOf("**1. "), text.indexOf("## After a leak"));
  return [...part.matchAll(/^```(?:ini|sh)\n(.*)\n```$/gm)].map(([, line = ""]) => line);
}

describe("docs/how-to/rotate-secrets.md", () => {
  test("is followed step by step, and nobody is signed out or loses a second factor", async () => {
    const person = { email: "rotation@example.com", password: "correct horse", name: "Ann" };
    const [first] = servers as [AuthServer];
    let { sessionToken } = (await first.signUp(person)).body;
    const enabled = await first.post("/two-factor/enable", { password: person.password }, { bearer: sessionToken });
    const { totpURI } = enabled.body;
    const verified = await first.post("/two-factor/verify-totp", { code: totp(totpURI) }, { bearer: sessionToken });
    sessionToken = verified.body.sessionToken;

    /** Acts as a client: on either process, with its latest token. */
    const isSignedIn = async () => {
      for (const server of servers) {
        const { status, body } = await server.post("/token", undefined, { bearer: sessionToken });
        expect(status).toBe(200);
        expect((await server.get("/me", { bearer: body.token })).body.user.email).toBe(person.email);
        sessionToken = body.sessionToken ?? sessionToken;
      }
    };
    /** Restarts the processes with a list of secrets, one after the other, while the client continues. */
    const roll = async (list: string) => {
      for (const at of servers.keys()) {
        await servers[at]?.close();
        servers[at] = await start(list);
        await isSignedIn();
      }
    };

    await isSignedIn();
    let list = "OLD";
    const done: string[] = [];
    for (const step of await steps()) {
      const [, next] = /^AUTHLIB_SECRET=(.+)$/.exec(step) ?? [];
      const [, command] = /^npx svc (.+)$/.exec(step) ?? [];
      list = next ?? list;
      if (next) await roll(list);
      if (command) {
        const { code, text } = await svc(db, fixture, command.split(" "), { AUTHLIB_SECRET: listOf(list) }).ended;
        expect([command, code]).toEqual([command, 0]);
        for (const secret of Object.values(names)) expect(text).not.toContain(secret);
      }
      done.push(next ?? command ?? "");
    }
    expect(done).toEqual(["OLD,NEW", "NEW,OLD", "secrets reseal", "secrets status", "NEW"]);
    const { email, password } = person;
    const signIn = await servers[0]?.post("/sign-in", { email, password, code: totp(totpURI) });
    expect(signIn?.status).toBe(200);
  });

  test("is right that the new one must not come in front at once, and that status sees what is left", async () => {
    const pool = db.pool("system");
    const counted = await countEncrypted(pool, [randomBytes(32).toString("hex"), names.NEW]);
    expect(counted.lost).toBe(0);
    expect(counted.bySecret[0]).toBe(0);
    expect(counted.bySecret[1]).toBeGreaterThan(1); // the app's secret and the backup codes
    expect((await countEncrypted(pool, [names.OLD])).lost).toBe(counted.bySecret[1]);
    expect(await reencryptAll(pool, [names.OLD])).toEqual({ resealed: 0, lost: counted.bySecret[1] });
    await pool.end();

    const ahead = await start("NEW,OLD");
    const behind = await start("OLD");
    const { sessionToken } = (await ahead.signUp({ email: "x@example.com", password: "correct horse", name: "X" }))
      .body;
    expect((await behind.post("/token", undefined, { bearer: sessionToken })).status).toBe(401);
    await Promise.all([ahead.close(), behind.close()]);
  });

  test("signs nobody out at a process whose clock was an hour ahead and has been set back", async () => {
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 3_600_000 });
    const corrected = await start("OLD,NEW");
    vi.useRealTimers();
    const other = await start(`${randomBytes(32).toString("hex")},NEW,OLD`); // makes a key
    const { token } = (await other.signUp({ email: "y@example.com", password: "correct horse", name: "Y" })).body;
    await expect.poll(() => corrected.caller(token), { timeout: 10_000 }).not.toBeNull();
    await Promise.all([corrected.close(), other.close()]);
  });
});
