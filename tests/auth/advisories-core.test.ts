// Advisories about the library's origins, paths, cookies and sessions, tried on this service; each test is named after
// one. A failing test means that the hole is open here. Explanations: docs/reference/advisories.md.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createLibrary } from "../../src/auth/library.ts";
import { PluginMessages } from "../../src/auth/plugins/plugin-messages.ts";
import { defineAuth } from "../../src/index.ts";
import { createLog } from "../../src/telemetry/log.ts";
import { type AuthServer, ann, origin, secret, startAuthServer } from "../support/auth-server.ts";
import { database } from "../support/database.ts";
import { rawRequest } from "../support/raw-http.ts";

const db = database();
let server: AuthServer;
beforeAll(async () => {
  server = await startAuthServer(db);
});
afterAll(() => server.close());
beforeEach(() => db.sql('delete from auth."user"'));

const name = "__Secure-authlib.session_token";
const json = (cookie = "", from: string | undefined = origin): [string, string][] => [
  ["Content-Type", "application/json"],
  ...(from === undefined ? [] : [["Origin", from] as [string, string]]),
  ...(cookie === "" ? [] : [["Cookie", cookie] as [string, string]]),
];
const post = (path: string, headers = json(), body: object = ann) =>
  rawRequest(server.url, { method: "POST", path, headers, body: JSON.stringify(body) });
const rows = async (table: string) => (await db.snapshot(table)).length;
const signUp = async (person: object = ann) => {
  const answer = await server.post("/sign-up/email", person, { headers: { origin } });
  return answer.headers.getSetCookie()[0]?.split(";")[0] ?? "";
};
const me = async (cookie: string) => (await server.get("/me", { headers: { cookie } })).status;

describe("GHSA-x732-6j76-qmhm: one endpoint under many paths, past what is set for one of them", () => {
  const spellings: ((path: string) => string)[] = [
    (path) => `//api/auth${path}`,
    (path) => `/api//auth${path}`,
    (path) => `/api/auth/${path}`,
    (path) => `/api/auth//${path}`,
    (path) => `/api/auth${path.replace(/(.)\//g, "$1//")}/`,
    (path) => `/api/auth${path}/`,
    (path) => `/api/auth${path}//`,
    (path) => `/api/auth/.${path}`,
    (path) => `/api/auth/x/..${path}`,
    (path) => `/api/auth/%2e${path}`,
    (path) => `/api/auth${path}/.`,
    (path) => `/api/auth${path}%2f`,
    (path) => `/api/auth${path}%00`,
    (path) => `/api/auth${path};a=b`,
    (path) => `/api/auth${path.replace("s", "%73")}/`,
    (path) => `/api/auth${path.toUpperCase()}`,
    (path) => `/api/auth${path.replace("s", "\u017f")}`,
    (path) => `/api/auth\\${path.slice(1)}`,
    (path) => `\\api\\auth${path}`,
    (path) => `/api/auth${path.replaceAll("/", "%2f")}`,
    (path) => `http://evil.test//api/auth${path}`,
  ];

  test("another spelling of a path is another path", async () => {
    for (const path of ["/sign-up", "/sign-up/email"]) {
      for (const spell of spellings) {
        expect([400, 404], spell(path)).toContain((await post(spell(path))).status);
      }
    }
    expect(await rows('auth."user"')).toBe(0);
    expect((await post("/api/auth/sign-up?a=b")).status).toBe(200);
  });
});

describe("GHSA-569q-mpph-wgww: a stranger's request decides what address the service believes to have", () => {
  test("neither the Host header nor what proxies add moves it", async () => {
    const lies: [string, string][][] = [
      "Host",
      "X-Forwarded-Host",
      "X-Forwarded-Proto",
      "X-Forwarded-Prefix",
      "X-Original-URL",
      "X-Rewrite-URL",
    ].map((header) => [[header, header.endsWith("Proto") ? "javascript" : "evil.test"]]);
    lies.push([["Forwarded", "host=evil.test;proto=http"]], [["Host", "evil.test:80@app.test"]]);
    const fresh = await startAuthServer(db); // the first request is the one that counted
    for (const [index, headers] of lies.entries()) {
      const person = { ...ann, email: `person-${index}@example.com` };
      const request = {
        method: "POST",
        path: "/api/auth/sign-up",
        headers: [...headers, ...json()],
        body: JSON.stringify(person),
      };
      const answer = await rawRequest(fresh.url, request);
      if (answer.status === 400) continue; // a second Host, for Node
      expect(answer.status).toBe(200);
      const claims = JSON.parse(Buffer.from(JSON.parse(answer.body).token.split(".")[1], "base64url").toString());
      expect(claims).toMatchObject({ iss: origin, aud: origin });
      expect(answer.body).not.toContain("evil");
    }
    expect(await rows('auth."user"')).toBeGreaterThan(4);
    await fresh.close();
  });
});

describe("GHSA-99h5-pjcv-gr6v: a user id in the body stands in for a session", () => {
  test("nobody becomes somebody by saying so", async () => {
    await signUp();
    const [victim] = await db.sql<{ id: string }>('select id from auth."user"');
    const body = {
      ...ann,
      email: "mallory@example.com",
      userId: victim?.id,
      id: victim?.id,
      user: { id: victim?.id },
      sub: victim?.id,
    };
    for (const path of [
      "api-key/create",
      "api-key/update",
      "update-user",
      "token",
      "me",
      "change-email",
      "set-password",
    ]) {
      expect([401, 404], path).toContain((await post(`/api/auth/${path}`, json(), body)).status);
    }
    const answer = await post("/api/auth/sign-up", json(), body);
    expect(JSON.parse(answer.body).user.id).not.toBe(victim?.id);
    expect(await rows("auth.session")).toBe(2);
  });
});

describe("GHSA-cq3f-vc6p-68fh, CVE-2026-53514, CVE-2026-67333, CVE-2026-67336, GHSA-xr8f-h2gw-9xh6: what the library's own endpoints let happen", () => {
  test("none of them is mounted, and of a plugin's each by its own method alone", async () => {
    const called: string[] = [];
    const { createAuthEndpoint } = await import("better-auth/api");
    const endpoint = createAuthEndpoint("/planted/endpoint", { method: "POST" }, async (context) => {
      called.push("planted");
      return context.json({});
    });
    const definition = defineAuth({
      betterAuth: (defaults) => ({ ...defaults, plugins: [{ id: "planted", endpoints: { planted: endpoint } }] }),
    });
    const pool = db.pool("auth", 1);
    const parts = {
      pool,
      secrets: [secret],
      origins: { own: origin, all: [origin] },
      definition,
      fields: {},
      attempts: { newUser: async () => {} },
      messages: new PluginMessages(createLog("silent")),
      log: createLog("silent"),
    };
    const { api } = await createLibrary(parts);
    await pool.end();
    const paths = Object.values(api).flatMap((value) => ((value as { path?: string }).path ?? "").match(/^\/.+/) ?? []);
    expect(paths.length).toBeGreaterThan(25);
    expect(paths).toContain("/planted/endpoint");

    const planted = await startAuthServer(db, { definition });
    const cookie = await signUp(); // the router has the endpoints now
    const ours = new Set(server.router.stack.map(({ route }) => route?.path));
    for (const path of paths.filter((path) => !ours.has(path))) {
      for (const method of ["GET", "POST"]) {
        const filled = path.replaceAll(/:\w+/g, "google");
        if (ours.has(filled)) continue;
        const request = { method, path: `/api/auth${filled}`, headers: json(cookie) };
        const answer = await rawRequest(planted.url, method === "GET" ? request : { ...request, body: "{}" });
        const isPlanted = `${method} ${path}` === "POST /planted/endpoint";
        expect(answer.status, `${method} ${path}`).toBe(isPlanted ? 200 : 404);
      }
    }
    expect(called).toEqual(["planted"]);
    expect(await me(cookie)).toBe(200);
    await planted.close();
  });
});

describe("CVE-2025-71402: a sign-out ends the sessions that forged cookies name", () => {
  test("only a signed token ends its session, and only in the session cookie", async () => {
    const victim = await signUp();
    const mine = await signUp({ ...ann, email: "mallory@example.com" });
    const signed = decodeURIComponent(victim.slice(name.length + 1));
    const [bare = ""] = signed.split(".");
    for (const forged of [
      `authlib.session_token_multi-${bare.toLowerCase()}=${bare}.x`,
      `__Secure-authlib.session_token_multi-${bare}=${bare}`,
      `authlib.session_token=${bare}`,
      `__Secure-authlib.session_data=${Buffer.from(JSON.stringify({ session: { token: bare } })).toString("base64")}`,
    ]) {
      expect((await post("/api/auth/sign-out", json(`${forged}; ${mine}`), {})).status).toBe(200);
      expect(await me(victim), forged).toBe(200);
    }
    for (const value of [bare, `${bare}.`, `${bare}.${"A".repeat(43)}=`, `${bare}.${"A".repeat(43)}%3D`]) {
      expect((await post("/api/auth/sign-out", json(`${name}=${value}`), {})).status).toBe(200);
      expect(await server.post("/sign-out", undefined, { bearer: value })).toMatchObject({ status: 200 });
      expect(await me(victim), value).toBe(200);
    }
    expect(await me(mine)).toBe(401);
  });
});

describe("GHSA-xg6x-h9c9-2m83: a session that lives on in a cache of cookies", () => {
  test("is over when it is over, also where the application switches the library's cache on", async () => {
    const definition = defineAuth({
      betterAuth: (defaults) => ({
        ...defaults,
        session: { ...defaults.session, cookieCache: { enabled: true, maxAge: 3600 } },
      }),
    });
    const cached = await startAuthServer(db, { definition });
    const up = await cached.post("/sign-up/email", ann, { headers: { origin } });
    expect(up.headers.getSetCookie().map((line) => line.split("=")[0])).toEqual([name]);
    const cookie = up.headers.getSetCookie()[0]?.split(";")[0] ?? "";
    const data = Buffer.from(JSON.stringify({ session: { user: up.body.user }, expiresAt: Date.now() + 1e9 })).toString(
      "base64url",
    );
    const withCache = `${cookie}; __Secure-authlib.session_data=${data}`;
    const ask = async () => (await cached.get("/me", { headers: { cookie: withCache } })).status;
    expect(await ask()).toBe(200);
    await db.sql("delete from auth.session");
    expect(await ask()).toBe(401);
    await cached.close();
  });
});

describe("GHSA-p6v2-xcpg-h6xw: a client that names its own address", () => {
  test("is written down with the one it has", async () => {
    const headers: [string, string][] = [
      "X-Forwarded-For",
      "X-Real-IP",
      "CF-Connecting-IP",
      "True-Client-IP",
      "Forwarded",
      "X-Svc-Client-Address",
    ].map((header) => [header, "2001:db8::bad"]);
    expect((await post("/api/auth/sign-up", [...headers, ...json()])).status).toBe(200);
    const [session] = await db.sql<{ ip_address: string }>("select ip_address from auth.session");
    expect(session?.ip_address).toMatch(/127\.0\.0\.1$/);
  });
});

describe("CVE-2025-71403: trusted origins with wildcards and patterns", () => {
  test("what looks like a pattern of the list is not looked at as one", async () => {
    const cookie = await signUp();
    for (const from of [
      "https://app.testevil.test",
      "https://x.app.test",
      "https://*.app.test",
      "https://app.test*",
      "https://app?test",
      "https://appxtest",
    ]) {
      expect((await post("/api/auth/sign-out", json(cookie, from), {})).status, from).toBe(403);
    }
    expect(await me(cookie)).toBe(200);
  });

  test("the library is given the list as it is, and no hook of the application widens it", async () => {
    const lists: string[][] = [];
    // Starts a plugin with the library's settings.
    const plugin = {
      id: "planted",
      init: (context: { trustedOrigins: string[] }) => void lists.push(context.trustedOrigins),
    };
    const definition = defineAuth({
      betterAuth: (defaults) => ({
        ...defaults,
        trustedOrigins: ["*"],
        baseURL: "https://evil.test",
        plugins: [plugin as never],
      }),
    });
    const wide = await startAuthServer(db, { definition });
    expect(lists.map((list) => [...new Set(list)])).toEqual([[origin]]);
    const answer = await wide.post("/sign-up/email", ann, { headers: { origin: "https://evil.test" } });
    expect(answer.status).toBe(403);
    await wide.close();
  });
});
