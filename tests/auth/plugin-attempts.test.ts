// If this file fails, an attacker with a session or a password can guess a plugin's codes without limit.
import { twoFactor } from "better-auth/plugins";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { defineAuth } from "../../src/contract/auth.ts";
import { type AuthServer, startAuthServer } from "../support/auth-server.ts";
import { database } from "../support/database.ts";
import { migrateAuth } from "../support/plugin-tables.ts";
import { totp, wrong } from "../support/totp.ts";
import { Browser, enrolled } from "./second-factor.ts";

const definition = defineAuth({
  // Without the plugin's own rate limit, which counts per process.
  betterAuth: (defaults) => ({ ...defaults, rateLimit: { enabled: false }, plugins: [twoFactor()] }),
});

const db = database();
let counting: AuthServer;
beforeAll(async () => {
  await migrateAuth(db, definition);
  counting = await startAuthServer(db, { definition, limits: { signInsPerAccount: 3 } });
});
afterAll(() => counting.close());

test("codes that are tried at the same moment, after many right passwords, are counted before they are compared", async () => {
  const { email, password, totpURI } = await enrolled(counting);
  const browsers = Array.from({ length: 8 }, () => new Browser(counting));
  for (const browser of browsers) {
    expect((await browser.post("/sign-in/email", { email, password })).body).toMatchObject({ twoFactorRedirect: true });
  }
  const code = wrong(totp(totpURI));
  const answers = await Promise.all(browsers.map((browser) => browser.post("/two-factor/verify-totp", { code })));
  expect(answers.map(({ status }) => status).sort()).toEqual([401, 401, 401, 429, 429, 429, 429, 429]);
});

describe("the password that a plugin's endpoint asks for", () => {
  test("is counted as in a sign-in: who holds a session cannot try them all", async () => {
    const { browser, email, password } = await enrolled(counting);
    const guess = (guessed: string) => browser.post("/two-factor/generate-backup-codes", { password: guessed });
    for (let n = 0; n < 3; n++) {
      expect(await guess(`wrong ${n}`)).toMatchObject({ status: 400, body: { hint: "INVALID_PASSWORD" } });
    }
    for (const one of ["wrong 4", password]) {
      expect(await guess(one)).toMatchObject({ status: 429, body: { code: "RATE_LIMITED" } });
    }
    expect((await counting.post("/sign-in", { email, password })).status).toBe(429);
  });

  test("the right one counts for nothing, however often", async () => {
    const { browser, password } = await enrolled(counting);
    for (let n = 0; n < 5; n++) {
      expect((await browser.post("/two-factor/generate-backup-codes", { password })).status).toBe(200);
    }
  });
});
