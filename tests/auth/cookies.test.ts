// If this file fails, a session in cookie mode can be stolen, forged, planted or kept alive, or a user loses theirs.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { SessionCookie } from "../../src/auth/sessions/session-cookie.ts";
import { type Answer, type AuthServer, ann, origin, secret, startAuthServer } from "../support/auth-server.ts";
import { database } from "../support/database.ts";

const db = database();
let server: AuthServer;
beforeAll(async () => {
  server = await startAuthServer(db, { frontendOrigins: ["https://front.test"] });
});
afterAll(() => server.close());
beforeEach(() => db.sql('delete from auth."user"'));

const name = "__Secure-authlib.session_token";
const from = { origin };
const setCookies = (answer: Answer) => answer.headers.getSetCookie();
/** `name=value`, as a browser sends it back. */
const kept = (answer: Answer) => setCookies(answer)[0]?.split(";")[0] ?? "";
const contentOf = (cookie: string) => cookie.slice(cookie.indexOf("=") + 1);
const signUp = (person: object = ann) => server.post("/sign-up/email", person, { headers: from });
const signIn = (options = { headers: from as Record<string, string> }) => server.post("/sign-in/email", ann, options);
const me = (cookie: string, headers: Record<string, string> = {}) =>
  server.get("/me", { headers: { cookie, ...headers } });
const isCleared = (answer: Answer) => setCookies(answer).join() === cleared;
const cleared = `${name}=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax; Secure`;
const value = "[A-Za-z0-9]{32}\\.[A-Za-z0-9%]{43,}";

describe("a life in cookie mode", () => {
  test("begins with a sign-up, lasts over sign-ins and ends with the sign-out", async () => {
    const up = await signUp();
    expect(up.status).toBe(200);
    expect(up.body).toEqual({ user: { id: expect.any(String), email: ann.email, name: ann.name } });
    expect(up.headers.get("cache-control")).toBe("no-store");
    expect((await me(kept(up))).body).toEqual(up.body);

    const second = await signIn();
    expect([second.status, second.body]).toEqual([200, up.body]);
    expect(kept(second)).not.toBe(kept(up));

    const out = await server.post("/sign-out", undefined, { headers: { ...from, cookie: kept(up) } });
    expect([out.status, out.body, isCleared(out)]).toEqual([200, { success: true }, true]);
    expect(await me(kept(up))).toMatchObject({ status: 401 });
    expect(await me(kept(second))).toMatchObject({ status: 200 });
  });

  test("shows no token in any body", async () => {
    const up = await signUp();
    const answers = [up, await signIn(), await me(kept(up))];
    const token = decodeURIComponent(contentOf(kept(up)));
    for (const { text, body } of answers) {
      expect(Object.keys(body)).toEqual(["user"]);
      for (const part of [token, ...token.split(".")]) expect(text).not.toContain(part);
    }
  });

  test("works from a listed frontend, too", async () => {
    const headers = { origin: "https://front.test" };
    const up = await server.post("/sign-up/email", ann, { headers });
    expect(up.status).toBe(200);
    expect(await me(kept(up), headers)).toMatchObject({ status: 200 });
  });

  test("needs no cookie to sign out: what was wanted is so", async () => {
    const out = await server.post("/sign-out", undefined, { headers: from });
    expect([out.status, setCookies(out)]).toEqual([200, []]);
  });
});

describe("the cookie", () => {
  test("of a page that is not ours is refused, also while its session is remembered", async () => {
    const cookie = kept(await signUp());
    const call = (page: string | undefined) => server.auth.authenticate({ cookie, origin: page }, "write");
    await expect.poll(async () => (await call(origin)) && !(call(origin) instanceof Promise)).toBe(true);
    expect(() => call("https://evil.test")).toThrow(expect.objectContaining({ code: "FORBIDDEN" }));
    expect(() => call(undefined)).toThrow(expect.objectContaining({ code: "FORBIDDEN" }));
  });

  test("on https is Secure, says so in its name, and is out of reach of scripts, for seven days", async () => {
    const [line = "", ...others] = setCookies(await signUp());
    expect(others).toEqual([]);
    expect(line).toMatch(new RegExp(`^${name}=${value}; Max-Age=\\d+; Path=/; HttpOnly; SameSite=Lax; Secure$`));
    const age = Number(/Max-Age=(\d+)/.exec(line)?.[1]);
    expect(age).toBeGreaterThan(7 * 86_400 - 60);
    expect(age).toBeLessThanOrEqual(7 * 86_400);
  });

  test("lasts until its session ends, and not a second less", () => {
    const expires = Date.now() + 7 * 86_400_000 - 500;
    const age = Number(/Max-Age=(\d+)/.exec(new SessionCookie(true).set("token", new Date(expires)))?.[1]);
    expect(Date.now() + age * 1000).toBeGreaterThanOrEqual(expires);
    expect(age).toBeLessThanOrEqual(7 * 86_400);
  });

  test("on http has its plain name, and the other one is not looked at", async () => {
    const http = "http://localhost:4000";
    const plain = await startAuthServer(db, { baseUrl: http });
    const up = await plain.post("/sign-up/email", ann, { headers: { origin: http } });
    expect(setCookies(up)[0]).toMatch(
      new RegExp(`^authlib\\.session_token=${value}; Max-Age=\\d+; Path=/; HttpOnly; SameSite=Lax$`),
    );
    const get = async (cookie: string) => (await plain.get("/me", { headers: { cookie } })).status;
    expect(await get(kept(up))).toBe(200);
    expect(await get(`__Secure-${kept(up)}`)).toBe(401);
    expect((await me(kept(up))).status).toBe(401); // nor the plain one on https
    await plain.close();
  });

  test("is found among others, and only by its whole name", async () => {
    const cookie = kept(await signUp());
    const token = contentOf(cookie);
    for (const header of [
      `a=b; ${cookie}`,
      `${cookie}; a=b`,
      `${cookie};a=b`,
      `a; ${cookie}; =; ;`,
      `${cookie}; ${cookie}`,
    ]) {
      expect(await me(header), header).toMatchObject({ status: 200 });
    }
    const raw = decodeURIComponent(token);
    expect(await me(`${name}=${raw}`), "as a server may forward it").toMatchObject({ status: 200 });
    for (const header of [
      `x${cookie}`,
      `${name}x=${token}`,
      `${name.toLowerCase()}=${token}`,
      `${name} =${token}`,
      `${name}==${token}`,
    ]) {
      expect(await me(header), header).toMatchObject({ status: 401 });
    }
    // Blanks that a careless server trims; for a browser such a name is not protected.
    for (const blank of ["\t", "\u00a0", "\u00c2\u00a0", "\u0085", "\u00a0\t"]) {
      expect(await me(`a=b; ${blank}${cookie}`), JSON.stringify(blank)).toMatchObject({ status: 401 });
      expect(await me(`a=b; ${name}${blank}=${token}`), JSON.stringify(blank)).toMatchObject({ status: 401 });
    }
  });

  test("moves with its session, which slides after a day", async () => {
    const cookie = kept(await signUp());
    const earlier = "set created_at = created_at - interval '4 days', expires_at = expires_at - interval '4 days'";
    await db.sql(`update auth.session ${earlier}`);
    const answer = await me(cookie);
    expect(kept(answer)).toBe(cookie);
    expect(Number(/Max-Age=(\d+)/.exec(setCookies(answer)[0] ?? "")?.[1])).toBeGreaterThan(7 * 86_400 - 60);
    const [row] = await db.sql<{ moved: boolean }>(
      "select expires_at > now() + interval '6 days' as moved from auth.session",
    );
    expect(row?.moved).toBe(true);
  });

  test("stays when the secret is replaced", async () => {
    const cookie = kept(await signUp());
    const rotated = await startAuthServer(db, { secrets: [`new-${secret}`, secret] });
    const answer = await rotated.get("/me", { headers: { cookie } });
    expect(answer.status).toBe(200);
    // From here on it is signed with the new secret, which then suffices.
    const alone = await startAuthServer(db, { secrets: [`new-${secret}`] });
    expect((await alone.get("/me", { headers: { cookie: kept(answer) } })).status).toBe(200);
    expect((await alone.get("/me", { headers: { cookie } })).status).toBe(401);
    await Promise.all([rotated.close(), alone.close()]);
  });
});

describe("a cookie that is no session", () => {
  const refused = async (cookie: string) => {
    const answer = await me(cookie);
    expect([answer.status, answer.body.code, isCleared(answer)], cookie).toEqual([401, "UNAUTHORIZED", true]);
  };

  test.for([
    "",
    "x",
    "undefined",
    "null",
    `${"a".repeat(32)}.${"A".repeat(43)}%3D`,
    "%",
    "%00",
    "%E0%A4%A",
    "a".repeat(8000),
  ])("%s is answered with 401 and cleared", (text) => refused(`${name}=${text}`));

  test("because its session is over, is answered with 401 and cleared", async () => {
    const cookie = kept(await signUp());
    await db.sql("update auth.session set expires_at = now() - interval '1 second'");
    await refused(cookie);
    await db.sql("delete from auth.session");
    await refused(cookie);
  });

  test("because it was signed elsewhere, is answered with 401 and cleared", async () => {
    const elsewhere = await startAuthServer(db, { secrets: [`another-${secret}`] });
    await refused(kept(await elsewhere.post("/sign-up/email", ann, { headers: from })));
    await elsewhere.close();
  });

  test("because one bit of it is another, is none: 10,000 tries", async () => {
    const cookie = kept(await signUp());
    const bytes = Buffer.from(contentOf(cookie));
    let accepted = 0;
    let random = 1;
    for (let tries = 0; tries < 10_000; tries++) {
      const flipped = Buffer.from(bytes);
      // Flips every bit of the value once, then random pairs of bits.
      const flip = (bit: number) => {
        flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      };
      flip(tries % (bytes.length * 8));
      if (tries >= bytes.length * 8) {
        random = (random * 48_271) % 2_147_483_647;
        const second = random % (bytes.length * 8);
        if (second !== tries % (bytes.length * 8)) flip(second);
      }
      const header = `${name}=${flipped.toString("latin1")}`;
      if (await server.auth.authenticate({ cookie: header, origin }, "write")) accepted += 1;
    }
    expect(accepted).toBe(0);
    expect(await server.auth.authenticate({ cookie, origin }, "write")).toMatchObject({ user: { email: ann.email } });
  });

  test("because a neighbouring host set another one, signs nobody in, and leaves both to the user", async () => {
    const mine = kept(await signUp());
    const theirs = kept(await signUp({ ...ann, email: "mallory@example.com" }));
    for (const header of [`${mine}; ${theirs}`, `${theirs}; ${mine}`, `${mine}; ${name}=%`, `${name}=; ${mine}`]) {
      const answer = await me(header);
      expect([answer.status, setCookies(answer)]).toEqual([401, []]);
      expect(answer.body.hint).toContain("Remove the cookies");
      expect(await server.auth.authenticate({ cookie: header, origin }, "write")).toBeNull();
    }
    // Signing out works with all of them.
    const out = await server.post("/sign-out", undefined, { headers: { ...from, cookie: `${mine}; ${theirs}` } });
    expect([out.status, isCleared(out)]).toEqual([200, true]);
    expect([(await me(mine)).status, (await me(theirs)).status]).toEqual([401, 401]);
  });
});

describe("the Authorization header", () => {
  test("goes before the cookie, also when it is no good", async () => {
    const cookie = kept(await signUp());
    const bob = (await server.signUp({ ...ann, email: "bob@example.com" })).body;
    const withBoth = await me(cookie, { authorization: `Bearer ${bob.sessionToken}` });
    expect([withBoth.body.user.email, setCookies(withBoth)]).toEqual(["bob@example.com", []]);
    const bad = await me(cookie, { authorization: "Bearer nonsense" });
    expect([bad.status, setCookies(bad)]).toEqual([401, []]);
    const out = await server.post("/sign-out", undefined, { bearer: bob.sessionToken, headers: { cookie } });
    expect([out.status, setCookies(out)]).toEqual([200, []]);
    expect((await me(cookie)).status).toBe(200);
  });
});

describe("session fixation", () => {
  test("a sign-in never takes over a token that was there before", async () => {
    const planted = kept(await signUp({ ...ann, email: "mallory@example.com" }));
    await signUp();
    const answer = await signIn({ headers: { ...from, cookie: planted } });
    expect(kept(answer)).not.toBe(planted);
    expect((await me(planted)).body.user.email).toBe("mallory@example.com");
    expect((await me(kept(answer))).body.user.email).toBe(ann.email);

    const unsigned = await signIn({ headers: { ...from, cookie: `${name}=chosen-by-somebody-else` } });
    expect(contentOf(kept(unsigned))).not.toContain("chosen");
    expect((await me(`${name}=chosen-by-somebody-else`)).status).toBe(401);
  });
});
