/** Tokens that work once, against the real table. */
import type pg from "pg";
import { beforeAll, describe, expect, test } from "vitest";
import { OneTimeTokens } from "../../src/auth/mail/one-time-tokens.ts";
import { database } from "../support/database.ts";

const db = database();
let pool: pg.Pool;
let once: OneTimeTokens;
beforeAll(() => {
  pool = db.pool("auth", 20);
  once = new OneTimeTokens(pool);
});

describe("a one-time token", () => {
  test("gives back what was kept, once", async () => {
    const token = await once.add("reset-password", { user: "u1" }, 60);
    expect(await once.take("reset-password", token)).toEqual({ user: "u1" });
    expect(await once.take("reset-password", token)).toBeNull();
  });

  test("of twenty at the same moment exactly one succeeds, for each of fifty tokens", async () => {
    const tokens = await Promise.all(Array.from({ length: 50 }, (_, n) => once.add("oauth-code", { n }, 60)));
    const winners = await Promise.all(
      tokens.map(async (token) => {
        const results = await Promise.all(Array.from({ length: 20 }, () => once.take("oauth-code", token)));
        return results.filter((result) => result !== null);
      }),
    );
    expect(winners).toEqual(tokens.map((_, n) => [{ n }]));
  });

  test("is nothing for another purpose, and survives the attempt", async () => {
    const token = await once.add("verify-email", { user: "u2" }, 60);
    expect(await once.take("reset-password", token)).toBeNull();
    expect(await once.take("verify-email", token)).toEqual({ user: "u2" });
  });

  test("is nothing when its time is over", async () => {
    const token = await once.add("oauth-code", { user: "u3" }, 60);
    await db.sql("update auth.verification set expires_at = now() - interval '1 second'");
    expect(await once.take("oauth-code", token)).toBeNull();
  });

  test.each([undefined, null, 7, "", "short", "a".repeat(44), `${"a".repeat(42)}'`, { token: "x" }])(
    "%j is none",
    async (token) => {
      expect(await once.take("oauth-code", token)).toBeNull();
    },
  );

  test("is not in the table", async () => {
    const token = await once.add("oauth-code", { user: "u4" }, 60);
    const rows = await db.sql("select * from auth.verification");
    expect(JSON.stringify(rows)).not.toContain(token);
  });
});
