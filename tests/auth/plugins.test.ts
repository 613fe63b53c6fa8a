// If this file fails, a better-auth plugin opens more than its own endpoints, or cannot be used.
import { APIError, createAuthEndpoint, sessionMiddleware } from "better-auth/api";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { defineAuth } from "../../src/contract/auth.ts";
import { type AuthServer, ann, origin, secret, startAuthServer } from "../support/auth-server.ts";
import { database } from "../support/database.ts";
import { rawRequest } from "../support/raw-http.ts";

let reached: string[] = [];
const post = (path: string, use: (typeof sessionMiddleware)[] = []) =>
  createAuthEndpoint(path, { method: "POST", use }, async (context) => {
    reached.push(path);
    return context.json({ user: context.context.session?.user.email ?? null });
  });

const sample = {
  id: "sample",
  endpoints: {
    open: post("/sample/open"),
    closed: post("/sample/closed", [sessionMiddleware]),
    deep: post("/sample/:a/:b/:c"),
    headers: createAuthEndpoint("/sample/headers", { method: "GET" }, async (context) =>
      context.json(Object.fromEntries(context.headers ?? [])),
    ),
    says: createAuthEndpoint("/sample/says/:what", { method: "GET" }, async (context) => {
      if (context.params.what === "refusal") {
        context.setCookie("authlib.sample", "", { maxAge: 0 });
        const refusal = new APIError("CONFLICT", { message: "Somebody was quicker.", code: "TOO_LATE" });
        context.context.logger.error("The sample refuses:", refusal);
        throw refusal;
      }
      if (context.params.what === "mistake") throw new Error("the canary sings");
      if (context.params.what === "elsewhere") throw context.redirect("https://app.test/there?token=secret");
      context.setHeader("access-control-allow-origin", "*");
      context.setHeader("set-auth-token", "a session token");
      context.setCookie("authlib.sample", "kept", { httpOnly: true });
      return context.json({ what: context.params.what, token: "of the plugin's own" });
    }),
    hidden: createAuthEndpoint.serverOnly({ method: "POST" }, async () => ({})),
  },
  rateLimit: [{ window: 60, max: 2, pathMatcher: (path: string) => path === "/sample/open" }],
};

const db = database();
let server: AuthServer;
let limited: AuthServer;
beforeAll(async () => {
  const plugins = [sample];
  server = await startAuthServer(db, {
    definition: defineAuth({ betterAuth: (defaults) => ({ ...defaults, plugins, rateLimit: { enabled: false } }) }),
  });
  limited = await startAuthServer(db, {
    definition: defineAuth({ betterAuth: (defaults) => ({ ...defaults, plugins }) }),
  });
});
afterAll(async () => {
  await server.close();
  await limited.close();
});

let people = 0;
const signUp = async () => (await server.signUp({ ...ann, email: `ann-${++people}@example.com` })).body;
const cookieOf = (sessionToken: string) => `__Secure-authlib.session_token=${encodeURIComponent(sessionToken)}`;
const json: [string, string][] = [["Content-Type", "application/json"]];

describe("an endpoint", () => {
  test.for([
    "/sample//open",
    "//sample/open",
    "/sample/open/",
    "/Sample/open",
    "/sample/OPEN",
    "/sample/%6fpen",
    "/sample/open%2f",
    "/sample/open;a",
    "/sample/./open",
    "/sample/x/../open",
    "/sample\\open",
    "/open",
    "/hidden",
    "/sample",
  ])("is not reached as %s", async (path) => {
    reached = [];
    const answer = await rawRequest(server.url, {
      method: "POST",
      path: `/api/auth${path}`,
      headers: json,
      body: "{}",
    });
    expect(answer.status).toBe(404);
    expect(reached).toEqual([]);
  });

  test("with parameters leads to no endpoint of the library", async () => {
    const people = async () => (await db.sql('select 1 from auth."user"')).length;
    const before = await people();
    const body = JSON.stringify({ ...ann, email: "smuggled@example.com" });
    for (const path of ["/sample/%2e%2e/sign-up/email", "/sample/%2E./sign-up/email", "/sample/..\\sign-up/x/email"]) {
      reached = [];
      const answer = await rawRequest(server.url, { method: "POST", path: `/api/auth${path}`, headers: json, body });
      expect([answer.status, reached], path).toEqual([404, []]);
    }
    expect(await people()).toBe(before);
    expect(await server.post("/sample/1/2/3", {})).toMatchObject({ status: 200 });
  });

  test("takes JSON of 16 KiB at most", async () => {
    expect(await server.post("/sample/open", { text: "x".repeat(16 * 1024) })).toMatchObject({
      status: 413,
      body: { code: "PAYLOAD_TOO_LARGE" },
    });
    const text = { raw: "a=b", headers: { "content-type": "text/plain" } };
    expect(await server.post("/sample/open", undefined, text)).toMatchObject({ status: 415 });
    expect(await server.post("/sample/open", undefined, { raw: "{" })).toMatchObject({ status: 400 });
    expect(await server.post("/sample/open", { text: "x" })).toMatchObject({ status: 200 });
  });

  test("is named in the log by its path, parameters unfilled", async () => {
    await server.post("/sample/1/2/3", {});
    await expect.poll(() => server.log.at(-1)).toContain('"operation":"/api/auth/sample/:a/:b/:c"');
  });

  test("that logs its refusals does not wake the operator", async () => {
    await server.get("/sample/says/refusal");
    const line = server.log.find((line) => line.includes("The sample refuses:")) ?? "{}";
    expect(JSON.parse(line).level).toBe(20); // debug
  });
});

describe("a caller", () => {
  test("is who the cookie or the session token says, and nobody by JWT", async () => {
    const { user, sessionToken, token } = await signUp();
    const answer = { status: 200, body: { user: user.email } };
    const cookie = cookieOf(sessionToken);
    expect(await server.post("/sample/closed", {}, { bearer: sessionToken })).toMatchObject(answer);
    expect(await server.post("/sample/closed", {}, { headers: { origin, cookie } })).toMatchObject(answer);
    expect(await server.post("/sample/closed", {}, { bearer: token })).toMatchObject({ status: 401 });
    expect(await server.post("/sample/closed", {})).toMatchObject({ status: 401, body: { code: "UNAUTHORIZED" } });
  });

  test("is nobody with a token that is not signed, or with two cookies", async () => {
    const [one, two] = [await signUp(), await signUp()];
    const [bare = ""] = one.sessionToken.split(".");
    expect((await server.post("/sample/closed", {}, { bearer: bare })).status).toBe(401);
    for (const cookie of [cookieOf(bare), `${cookieOf(one.sessionToken)}; ${cookieOf(two.sessionToken)}`]) {
      expect((await server.post("/sample/closed", {}, { headers: { origin, cookie } })).status).toBe(401);
    }
    await server.post("/sign-out", undefined, { bearer: one.sessionToken });
    expect((await server.post("/sample/closed", {}, { bearer: one.sessionToken })).status).toBe(401);
  });

  test("stays who it is when the secret is replaced", async () => {
    const { user, sessionToken } = await signUp();
    const definition = defineAuth({ betterAuth: (defaults) => ({ ...defaults, plugins: [sample] }) });
    const secrets = ["another-secret-0123456789-abcdefghijklmnopqr", secret];
    const rotated = await startAuthServer(db, { definition, secrets });
    const answer = await rotated.post("/sample/closed", {}, { bearer: sessionToken });
    expect(answer).toMatchObject({ status: 200, body: { user: user.email } });
    await rotated.close();
  });

  test.for<[from: string | undefined, by: "cookie" | "session token" | "nothing", status: number]>([
    [undefined, "cookie", 403],
    ["https://evil.test", "cookie", 403],
    ["null", "cookie", 403],
    [origin, "cookie", 200],
    [undefined, "session token", 200],
    ["https://evil.test", "session token", 403],
    [undefined, "nothing", 200],
    ["https://evil.test", "nothing", 403],
    [origin, "nothing", 200],
  ])("from %s by %s is answered %i", async ([from, by, status]) => {
    const { sessionToken } = await signUp();
    reached = [];
    const { status: answered } = await server.post(
      "/sample/open",
      {},
      {
        headers: { ...(from && { origin: from }), ...(by === "cookie" && { cookie: cookieOf(sessionToken) }) },
        ...(by === "session token" && { bearer: sessionToken }),
      },
    );
    expect(answered).toBe(status);
    expect(reached).toHaveLength(status === 200 ? 1 : 0);
  });

  test("from a foreign page reads nothing either", async () => {
    expect((await server.get("/sample/headers", { headers: { origin: "https://evil.test" } })).status).toBe(403);
    expect((await server.get("/sample/headers")).status).toBe(200);
  });

  test("cannot say where it is, and its credential reaches the plugin as a cookie alone", async () => {
    const { sessionToken } = await signUp();
    const cookie = `theme=dark; authlib.session_token=x; __Secure-authlib.session_data=y; __Secure-authlib.trust_device=z`;
    const headers = { "x-svc-client-address": "203.0.113.9", "x-forwarded-for": "203.0.113.9", cookie };
    const { body } = await server.get("/sample/headers", { headers, bearer: sessionToken });
    expect(body["x-svc-client-address"]).toMatch(/127\.0\.0\.1$/);
    expect(body).not.toHaveProperty("x-forwarded-for");
    expect(body).not.toHaveProperty("authorization");
    expect(body.cookie).toBe(`${cookieOf(sessionToken)}; __Secure-authlib.trust_device=z`);
  });
});

describe("an answer", () => {
  test("keeps its cookies, and loses headers that are ours to set", async () => {
    const { headers, body } = await server.get("/sample/says/hello");
    expect(body).toEqual({ what: "hello", token: "of the plugin's own" });
    expect(headers.getSetCookie()).toEqual(["authlib.sample=kept; HttpOnly"]);
    expect(headers.get("access-control-allow-origin")).toBeNull();
    expect(headers.get("set-auth-token")).toBeNull();
    expect(headers.get("cache-control")).toBe("no-store");
    expect(headers.get("x-content-type-options")).toBe("nosniff");
  });

  test("that redirects tells nobody where from", async () => {
    const answer = await rawRequest(server.url, {
      method: "GET",
      path: "/api/auth/sample/says/elsewhere",
      headers: [],
    });
    expect(answer.status).toBe(302);
    expect(answer.headers.get("location")).toEqual(["https://app.test/there?token=secret"]);
    expect(answer.headers.get("referrer-policy")).toEqual(["no-referrer"]);
    expect(answer.headers.get("cache-control")).toEqual(["no-store"]);
  });

  test("that refuses is in our form, its own word being the hint", async () => {
    const { status, body, headers } = await server.get("/sample/says/refusal");
    expect(status).toBe(409);
    expect(body).toEqual({
      error: "Somebody was quicker.",
      code: "CONFLICT",
      hint: "TOO_LATE",
      requestId: expect.any(String),
    });
    expect(headers.getSetCookie().join()).toContain("authlib.sample=; Max-Age=0");
  });

  test("to a mistake of the plugin says nothing of it, and the log everything", async () => {
    const { status, body, text } = await server.get("/sample/says/mistake");
    expect([status, body.code]).toEqual([500, "INTERNAL"]);
    expect(text).not.toContain("canary");
    await expect.poll(() => server.log.at(-1)).toContain("the canary sings");
  });

  test("comes as often as the plugin allows", async () => {
    const answers = [];
    for (let call = 0; call < 3; call++) answers.push(await limited.post("/sample/open", {}));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 429]);
    expect(answers[2]?.body.code).toBe("RATE_LIMITED");
    expect(Number(answers[2]?.headers.get("retry-after"))).toBeGreaterThan(0);
  });
});

describe("the betterAuth hook", () => {
  test("cannot rename cookies, widen them, skip checks, or keep sessions elsewhere", async () => {
    const stolen = new Map<string, string>();
    const secondaryStorage = {
      get: (key: string) => stolen.get(key) ?? null,
      set: (key: string, value: string) => void stolen.set(key, value),
      delete: (key: string) => void stolen.delete(key),
    };
    const definition = defineAuth({
      betterAuth: (defaults) => ({
        ...defaults,
        plugins: [sample],
        rateLimit: { enabled: false },
        secondaryStorage: secondaryStorage as never,
        session: { modelName: "sessions" },
        user: { modelName: "people" },
        advanced: {
          cookiePrefix: "other",
          useSecureCookies: false,
          crossSubDomainCookies: { enabled: true, domain: "test" },
          defaultCookieAttributes: { sameSite: "none", httpOnly: false },
          disableOriginCheck: true,
          disableCSRFCheck: true,
          ipAddress: { ipAddressHeaders: ["x-forwarded-for"] },
        },
      }),
    });
    const bent = await startAuthServer(db, { definition });
    const up = await bent.post("/sign-up/email", { ...ann, email: "bent@example.com" }, { headers: { origin } });
    const [line = ""] = up.headers.getSetCookie();
    expect(line).toMatch(/^__Secure-authlib\.session_token=.*; HttpOnly; SameSite=Lax; Secure$/);
    const [cookie = ""] = line.split(";");
    expect(await bent.post("/sample/closed", {}, { headers: { origin, cookie } })).toMatchObject({ status: 200 });
    expect(await bent.post("/sample/closed", {}, { headers: { cookie } })).toMatchObject({ status: 403 });
    expect(stolen.size).toBe(0);
    await bent.close();
  });
});
