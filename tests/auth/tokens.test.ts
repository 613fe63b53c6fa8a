// If this file fails, people are signed out for no reason, or stay signed in when they should not.
import { decodeJwt, decodeProtectedHeader } from "jose";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { defineAuth } from "../../src/contract/auth.ts";
import { type AuthServer, ann, secret, startAuthServer } from "../support/auth-server.ts";
import { database } from "../support/database.ts";

const db = database();
let server: AuthServer;
beforeAll(async () => {
  server = await startAuthServer(db);
});
afterAll(() => server.close());

let people = 0;
/** A new user, signed in. */
const somebody = async () => (await server.signUp({ ...ann, email: `somebody${++people}@example.com` })).body;
const bare = (sessionToken: string) => sessionToken.split(".")[0];
const age = (sessionToken: string, remaining: string) =>
  db.sql(
    `update auth.session set expires_at = now() + $2::interval, created_at = created_at + (now() + $2::interval - expires_at)
      where token = $1`,
    [bare(sessionToken), remaining],
  );
const remainingHours = async (sessionToken: string) => {
  const text = "select extract(epoch from expires_at - now()) / 3600 as hours from auth.session where token = $1";
  const [row] = await db.sql<{ hours: string }>(text, [bare(sessionToken)]);
  return Math.round(Number(row?.hours));
};

describe("POST /token", () => {
  test("gives a JWT of five minutes for a session token", async () => {
    const { user, sessionToken } = await somebody();
    const answer = await server.post("/token", undefined, { bearer: sessionToken });
    expect(answer).toMatchObject({ status: 200, body: { token: expect.any(String) } });
    expect(Object.keys(answer.body)).toEqual(["token"]);
    const claims = decodeJwt(answer.body.token);
    expect(Number(claims.exp) - Number(claims.iat)).toBe(300);
    expect(claims).toMatchObject({ sub: user.id, iss: "https://app.test", aud: "https://app.test", email: user.email });
    expect(await server.caller(answer.body.token)).toEqual({ id: claims.sid, user });
  });

  test("gives another JWT each time, in the same second too", async () => {
    const { sessionToken, token } = await somebody();
    const refresh = async () => (await server.post("/token", undefined, { bearer: sessionToken })).body.token;
    expect(new Set([token, ...(await Promise.all([refresh(), refresh(), refresh()]))]).size).toBe(4);
  });

  test.for([
    ["nothing", undefined],
    ["an empty bearer", "Bearer "],
    ["another scheme", "Basic YW5uOnNlY3JldA=="],
    ["an invention", `Bearer ${"x".repeat(32)}`],
    ["a signed-looking invention", `Bearer ${"x".repeat(32)}.${"A".repeat(43)}=`],
    ["text with quotes", "Bearer ' or true --"],
  ] as const)("refuses %s with 401", async ([, authorization]) => {
    const headers: Record<string, string> = authorization === undefined ? {} : { authorization };
    expect(await server.post("/token", undefined, { headers })).toMatchObject({
      status: 401,
      body: { code: "UNAUTHORIZED" },
    });
  });

  test("refuses a JWT: it cannot prolong itself", async () => {
    const { token } = await somebody();
    const answer = await server.post("/token", undefined, { bearer: token });
    expect(answer).toMatchObject({ status: 401, body: { hint: expect.stringContaining("sessionToken") } });
  });

  test("refuses the token as it lies in the database: a stolen backup signs nobody in", async () => {
    const { sessionToken } = await somebody();
    expect((await server.post("/token", undefined, { bearer: bare(sessionToken) ?? "" })).status).toBe(401);
    expect(await server.caller(bare(sessionToken) ?? "")).toBeNull();
  });

  test("refuses a live token under another's signature", async () => {
    const [{ sessionToken }, other] = await Promise.all([somebody(), somebody()]);
    const mixed = `${bare(sessionToken)}.${other.sessionToken.split(".")[1]}`;
    expect((await server.post("/token", undefined, { bearer: mixed })).status).toBe(401);
    expect(await server.caller(mixed)).toBeNull();
    await server.post("/sign-out", undefined, { bearer: mixed });
    expect(await server.caller(sessionToken)).not.toBeNull();
  });
});

describe("a session", () => {
  test("lasts seven days", async () => {
    const { sessionToken } = await somebody();
    expect(await remainingHours(sessionToken)).toBe(7 * 24);
  });

  test("ends when its time is over, for every use of its token", async () => {
    const { sessionToken } = await somebody();
    await age(sessionToken, "-1 second");
    expect((await server.post("/token", undefined, { bearer: sessionToken })).status).toBe(401);
    expect((await server.get("/me", { bearer: sessionToken })).status).toBe(401);
    expect(await server.caller(sessionToken)).toBeNull();
    expect(await remainingHours(sessionToken)).toBeLessThanOrEqual(0); // nothing brought it back
  });

  test("does not slide within its first day", async () => {
    const { sessionToken } = await somebody();
    await age(sessionToken, "6 days 1 hour");
    await server.post("/token", undefined, { bearer: sessionToken });
    expect(await remainingHours(sessionToken)).toBe(6 * 24 + 1);
  });

  test("slides to seven days when it was last moved a day ago or earlier", async () => {
    for (const remaining of ["5 days 23 hours", "1 minute"]) {
      const { sessionToken } = await somebody();
      await age(sessionToken, remaining);
      await server.post("/token", undefined, { bearer: sessionToken });
      expect(await remainingHours(sessionToken)).toBe(7 * 24);
    }
  });

  test("lasts and slides as the application's hook says", async () => {
    const definition = defineAuth({
      betterAuth: (defaults) => ({
        ...defaults,
        session: { ...defaults.session, expiresIn: 20 * 3600, updateAge: 2 * 3600 },
      }),
    });
    const hooked = await startAuthServer(db, { definition });
    const { sessionToken } = (await hooked.signUp({ ...ann, email: "hooked@example.com" })).body;
    expect(await remainingHours(sessionToken)).toBe(20);
    for (const [left, after] of [
      ["18 hours 10 minutes", 18],
      ["17 hours", 20],
    ] as const) {
      await age(sessionToken, left);
      await hooked.post("/token", undefined, { bearer: sessionToken });
      expect(await remainingHours(sessionToken)).toBe(after);
    }
    await hooked.close();
  });

  test("does not slide where the hook says that none does", async () => {
    const definition = defineAuth({
      betterAuth: (defaults) => ({ ...defaults, session: { ...defaults.session, disableSessionRefresh: true } }),
    });
    const hooked = await startAuthServer(db, { definition });
    const { sessionToken } = (await hooked.signUp({ ...ann, email: "fixed@example.com" })).body;
    await age(sessionToken, "2 days");
    await hooked.post("/token", undefined, { bearer: sessionToken });
    expect(await remainingHours(sessionToken)).toBe(48);
    await hooked.close();
  });

  test.for([0, -1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 401 * 86_400, "3600"])(
    "that would last %s seconds is refused when the application is loaded",
    async (expiresIn) => {
      const definition = defineAuth({
        betterAuth: (defaults) => ({ ...defaults, session: { ...defaults.session, expiresIn: expiresIn as number } }),
      });
      await expect(startAuthServer(db, { definition })).rejects.toThrow(/betterAuth sets session\.expiresIn to/);
    },
  );

  test("slides when its token is used directly, too", async () => {
    const { sessionToken } = await somebody();
    await age(sessionToken, "2 days");
    expect(await server.caller(sessionToken)).not.toBeNull();
    expect(await remainingHours(sessionToken)).toBe(7 * 24);
  });

  test("ends with its user", async () => {
    const { sessionToken, user } = await somebody();
    await db.sql('delete from auth."user" where id = $1', [user.id]);
    expect(await server.caller(sessionToken)).toBeNull();
  });
});

describe("POST /sign-out", () => {
  test("ends the session and no other", async () => {
    const person = await somebody();
    const other = (await server.post("/sign-in", { email: person.user.email, password: ann.password })).body;
    const answer = await server.post("/sign-out", undefined, { bearer: person.sessionToken });
    expect(answer).toMatchObject({ status: 200, body: { success: true } });
    expect((await server.post("/token", undefined, { bearer: person.sessionToken })).status).toBe(401);
    expect(await server.caller(person.sessionToken)).toBeNull();
    expect((await server.post("/token", undefined, { bearer: other.sessionToken })).status).toBe(200);
  });

  test("succeeds when there is nothing to end", async () => {
    const { sessionToken } = await somebody();
    for (const authorization of ["", "Bearer nonsense", `Bearer ${sessionToken}`]) {
      const answer = await server.post("/sign-out", undefined, { headers: { authorization } });
      expect(answer).toMatchObject({ status: 200, body: { success: true } });
    }
    expect((await server.post("/sign-out", undefined, { bearer: sessionToken })).body).toEqual({ success: true });
  });

  test("does not pretend that a JWT was signed out", async () => {
    const { token, sessionToken } = await somebody();
    expect((await server.post("/sign-out", undefined, { bearer: token })).status).toBe(401);
    expect(await server.caller(sessionToken)).not.toBeNull();
  });
});

describe("GET /me", () => {
  test("answers the user for a JWT and for a session token", async () => {
    const { user, token, sessionToken } = await somebody();
    for (const bearer of [token, sessionToken]) {
      const answer = await server.get("/me", { bearer });
      expect(answer).toMatchObject({ status: 200 });
      expect(answer.body).toEqual({ user });
      expect(answer.headers.get("cache-control")).toBe("no-store");
    }
  });

  test("answers 401 without a credential", async () => {
    const answer = await server.get("/me");
    expect(answer).toMatchObject({ status: 401, body: { code: "UNAUTHORIZED" } });
  });
});

describe("the secrets", () => {
  const next = "the-next-secret-9876543210-zyxwvutsrqponmlkji";

  test("can be replaced without signing anybody out", async () => {
    const { user, token, sessionToken } = await somebody();
    const rotated = await startAuthServer(db, { secrets: [next, secret] });
    expect(await rotated.caller(token)).toMatchObject({ user });
    expect(await rotated.caller(sessionToken)).toMatchObject({ user });

    // tokens signed by the new process are accepted by one that has not been restarted yet, and vice versa
    const fresh = (await rotated.post("/token", undefined, { bearer: sessionToken })).body.token;
    await expect.poll(() => server.caller(fresh)).toMatchObject({ user });
    expect(await rotated.caller((await somebody()).token)).not.toBeNull();
    await rotated.close();
  });

  test("that are older are replaced in what the client holds, so that it outlives their end", async () => {
    const { user, sessionToken } = await somebody();
    const both = await startAuthServer(db, { secrets: [next, secret] });
    const { status, body } = await both.post("/token", undefined, { bearer: sessionToken });
    expect(status).toBe(200);
    expect(Object.keys(body).sort()).toEqual(["sessionToken", "token"]);
    expect(bare(body.sessionToken)).toBe(bare(sessionToken));
    // Under the newest secret it is not renewed, so no second copy of the token is sent.
    const again = await both.post("/token", undefined, { bearer: body.sessionToken });
    expect(Object.keys(again.body)).toEqual(["token"]);

    const replaced = await startAuthServer(db, { secrets: [next] });
    expect(await replaced.caller(body.sessionToken)).toMatchObject({ user });
    expect(await replaced.caller(sessionToken)).toBeNull();
    await Promise.all([both.close(), replaced.close()]);
  });

  test("retire the signing keys that lay under the old one, after their tokens have expired", async () => {
    const rotated = await startAuthServer(db, { secrets: ["yet-another-secret-0123456789-abcdefghij", next, secret] });
    const { token } = (await rotated.signUp({ ...ann, email: "retired@example.com" })).body;
    const { kid } = decodeProtectedHeader(token);
    const left = "extract(epoch from expires_at - now()) / 60";
    const keys = await db.sql(`select id, expires_at is null as current, ${left} > 6 as long_enough from auth.jwks`);
    expect(keys.length).toBeGreaterThan(1);
    for (const key of keys) expect(key).toMatchObject(key.id === kid ? { current: true } : { long_enough: true });

    await db.sql("update auth.jwks set expires_at = now() - interval '1 second' where id = $1", [kid]);
    const later = await startAuthServer(db, { secrets: [secret] });
    expect(await later.caller(token)).toBeNull();
    await Promise.all([rotated.close(), later.close()]);
  });

  test("retire with their tokens once they leave the list", async () => {
    const { sessionToken } = await somebody();
    const replaced = await startAuthServer(db, { secrets: [next] });
    expect(await replaced.caller(sessionToken)).toBeNull();
    expect((await replaced.signUp({ ...ann, email: "after@example.com" })).status).toBe(200);
    await replaced.close();
  });
});

describe("processes that start together", () => {
  const fresh = database();

  test("share one signing key", async () => {
    const servers = await Promise.all(Array.from({ length: 4 }, () => startAuthServer(fresh, { max: 2 })));
    expect(await fresh.sql("select id from auth.jwks")).toHaveLength(1);
    const { body } = (await servers[0]?.signUp()) ?? {};
    for (const server of servers) expect(await server.caller(body.token)).toMatchObject({ user: body.user });
    await Promise.all(servers.map((server) => server.close()));
  });
});
