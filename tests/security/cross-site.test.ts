// If this file fails, a foreign page can act in the name of a user whose browser has our cookie.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Context } from "../../src/contract/context.ts";
import { createSvcHttpRouteBuilders } from "../../src/index.ts";
import { procedure } from "../fixture/backend/index.ts";
import * as schema from "../fixture/backend/schema.ts";
import { type AuthServer, ann, origin, startAuthServer } from "../support/auth-server.ts";
import { database } from "../support/database.ts";
import { type RawRequest, rawRequest } from "../support/raw-http.ts";
import { apiWith, service } from "../support/service.ts";

/** Origins that a browser may send for a foreign page. */
const strangers: (string | undefined)[] = [
  undefined,
  "null",
  "https://evil.test",
  `${origin}.evil.test`,
  origin.replace("//", "//evil"),
  origin.replace("https:", "http:"),
];

/** Bodies that forms and scripts can send without a preflight, and those that need one. */
function bodies(json: string): { type: string | undefined; body: string }[] {
  const boundary = "xxxx";
  const part = `--${boundary}\r\ncontent-disposition: form-data; name="data"\r\n\r\n{"json":${json || "{}"}}\r\n--${boundary}--\r\n`;
  return [
    { type: "application/x-www-form-urlencoded", body: json },
    { type: "application/x-www-form-urlencoded", body: `json=${encodeURIComponent(json)}` },
    { type: "text/plain", body: json },
    { type: `multipart/form-data; boundary=${boundary}`, body: part },
    { type: undefined, body: json },
    { type: "text/plain; application/json", body: json },
    { type: "application/json", body: json },
  ];
}

function request(path: string, from: string | undefined, cookie: string, body?: ReturnType<typeof bodies>[number]) {
  const headers: [string, string][] = [];
  if (from !== undefined) headers.push(["Origin", from]);
  if (cookie) headers.push(["Cookie", cookie]);
  if (body?.type !== undefined) headers.push(["Content-Type", body.type]);
  const call: RawRequest = { method: "POST", path, headers };
  return body ? { ...call, body: body.body } : call;
}

const db = database();

describe("what changes data", () => {
  const route = createSvcHttpRouteBuilders<typeof schema>();
  const insert = (title: string) => async (context: Pick<Context, "db" | "auth">) => {
    await context.db.insert(schema.notes).values({ title, userId: context.auth.requireAuth().user.id });
  };
  const svc = service(
    db,
    apiWith({
      procedures: {
        add: procedure.mutation.name("cross.add").handler(({ context }) => insert("by hand")(context)),
        open: procedure.mutation
          .name("cross.open")
          .allowAnonymous()
          .handler(({ context }) => insert("by anyone")(context)),
        look: procedure.query.name("cross.look").handler(({ context }) => context.auth.requireAuth().user.email),
      },
      httpRoutes: {
        post: route.post.path("/cross").handler(async ({ context }) => ({ body: await insert("post")(context) })),
        put: route.put.path("/cross").handler(async ({ context }) => ({ body: await insert("put")(context) })),
        patch: route.patch.path("/cross").handler(async ({ context }) => ({ body: await insert("patch")(context) })),
        delete: route.delete.path("/cross").handler(async ({ context }) => ({ body: await insert("delete")(context) })),
        get: route.get.path("/cross").handler(({ context }) => ({ body: context.auth.requireAuth().user.email })),
      },
    }),
    { auth: { url: origin, secrets: [], google: null } } as object,
  );
  const json = { "content-type": "application/json" };
  let cookie: string;
  beforeAll(async () => {
    const init = { method: "POST", headers: { origin, ...json }, body: JSON.stringify(ann) };
    const answer = await svc.fetch("/api/auth/sign-up/email", init);
    cookie = answer.headers.getSetCookie()[0]?.split(";")[0] ?? "";
  });
  const notes = () => db.snapshot("notes");

  const call = (name: string, args?: unknown) => JSON.stringify({ name, args });
  const writes: { what: string; method: string; path: string; json: string }[] = [
    { what: "a generated mutation", method: "POST", path: "/api/mutation", json: call("notes.create", { title: "x" }) },
    { what: "a mutation", method: "POST", path: "/api/mutation", json: call("cross.add") },
    { what: "an anonymous mutation", method: "POST", path: "/api/mutation", json: call("cross.open") },
    ...["POST", "PUT", "PATCH", "DELETE"].map((method) => ({
      what: `${method} on a route`,
      method,
      path: "/cross",
      json: "{}",
    })),
  ];

  describe.for(writes)("$what", ({ method, path, json }) => {
    test("is refused to every other page, whatever it sends", async () => {
      const before = await notes();
      for (const from of strangers) {
        for (const body of bodies(json)) {
          const answer = await rawRequest(svc.url, { ...request(path, from, cookie, body), method });
          expect([403, 415], `${from} ${body.type}`).toContain(answer.status);
          expect(answer.headers.has("access-control-allow-origin")).toBe(false);
        }
        expect((await rawRequest(svc.url, { ...request(path, from, cookie), method })).status).toBeGreaterThanOrEqual(
          400,
        );
      }
      expect(await notes()).toEqual(before);
    });

    test("is done for our own", async () => {
      const before = await notes();
      // The form that was refused above because of its origin, and not because of its content.
      const accepted = bodies(json).filter(({ type }) => type === "application/json" || type?.startsWith("multipart/"));
      for (const body of accepted) {
        const answer = await rawRequest(svc.url, { ...request(path, origin, cookie, body), method });
        expect(answer.status, body.type).toBeLessThan(300);
      }
      expect((await notes()).length).toBe(before.length + accepted.length);
    });
  });

  test("is done by no GET, whatever the headers make of it", async () => {
    const before = await notes();
    for (const name of ["X-HTTP-Method-Override", "X-Method-Override", "X-HTTP-Method"]) {
      for (const path of ["/cross?_method=POST", "/api/mutation?name=cross.add&_method=POST"]) {
        await rawRequest(svc.url, {
          method: "GET",
          path,
          headers: [
            ["Cookie", cookie],
            [name, "POST"],
          ],
        });
      }
    }
    expect(await notes()).toEqual(before);
  });

  describe("a query by cookie", () => {
    test.for(strangers.filter((from) => from !== undefined))("tells %s nothing", async (from) => {
      const body = { type: "application/json", body: call("cross.look") };
      const answers = [
        await rawRequest(svc.url, request("/api/query", from, cookie, body)),
        await rawRequest(svc.url, { ...request("/cross", from, cookie), method: "GET" }),
        await rawRequest(svc.url, { ...request("/api/auth/me", from, cookie), method: "GET" }),
      ];
      for (const answer of answers) {
        expect(answer.status).toBe(403);
        expect(answer.body).not.toContain(ann.email);
        expect(answer.headers.has("access-control-allow-origin")).toBe(false);
        expect(answer.headers.has("set-cookie")).toBe(false);
      }
    });

    test("tells our own pages, and a server or a navigation, which name no origin", async () => {
      const body = { type: "application/json", body: call("cross.look") };
      for (const from of [origin, undefined]) {
        expect((await rawRequest(svc.url, request("/api/query", from, cookie, body))).body).toContain(ann.email);
        expect((await rawRequest(svc.url, { ...request("/cross", from, cookie), method: "GET" })).body).toContain(
          ann.email,
        );
      }
    });
  });

  test("a token in the header needs no origin: no browser adds it by itself", async () => {
    const user = await svc.signUp("bob");
    for (const from of ["https://evil.test", undefined]) {
      const headers = { ...json, authorization: `Bearer ${user.sessionToken}`, ...(from && { origin: from }) };
      const answer = await svc.fetch("/api/mutation", { method: "POST", headers, body: call("cross.add") });
      expect(answer.status).toBe(200);
    }
  });
});

describe("every POST below /api/auth", () => {
  let server: AuthServer;
  let cookie: string;
  beforeAll(async () => {
    server = await startAuthServer(db);
    const answer = await server.post("/sign-up/email", { ...ann, email: "eve@example.com" }, { headers: { origin } });
    cookie = answer.headers.getSetCookie()[0]?.split(";")[0] ?? "";
  });
  afterAll(() => server.close());

  /** These neither read nor set cookies; their credentials are in the body or in the Authorization header. */
  const withoutCookies = new Set([
    "/sign-up",
    "/sign-in",
    "/token",
    "/oauth/exchange",
    "/request-password-reset",
    "/reset-password",
  ]);

  const posts = () =>
    server.router.stack
      .map(({ route }) => route as { path: string; methods?: Record<string, boolean> } | undefined)
      .filter((route) => route?.methods?.post)
      .map((route) => route?.path ?? "");
  const tables = ['auth."user"', "auth.session", "auth.account", "auth.verification"];
  const everything = async () => {
    const found = [];
    for (const table of tables) found.push(await db.snapshot(table));
    return found;
  };

  let count = 0;
  /** Valid input for every route. */
  const body = () =>
    JSON.stringify({
      ...ann,
      email: `cross-${++count}@example.com`,
      currentPassword: ann.password,
      newPassword: "another password",
      code: "x".repeat(43),
      token: "x".repeat(43),
      redirectTo: `${origin}/`,
      callbackURL: `${origin}/`,
    });

  test("is found in the router itself", () => {
    expect(posts()).toEqual(expect.arrayContaining(["/sign-up", "/sign-up/email", "/sign-in/email", "/sign-out"]));
    for (const { route } of server.router.stack) {
      const methods = Object.keys((route as { methods?: object } | undefined)?.methods ?? {});
      expect(
        methods.every((method) => ["get", "head", "post"].includes(method)),
        String(route?.path),
      ).toBe(true);
    }
  });

  test("is refused to every other page, whatever it sends, and changes nothing", async () => {
    for (const path of posts().filter((path) => !withoutCookies.has(path))) {
      const before = await everything();
      for (const from of strangers) {
        for (const sent of bodies(body())) {
          const answer = await rawRequest(server.url, request(`/api/auth${path}`, from, cookie, sent));
          expect([403, 415], `${path} ${from} ${sent.type}`).toContain(answer.status);
          expect(answer.headers.has("set-cookie"), path).toBe(false);
        }
      }
      expect(await everything(), path).toEqual(before);
    }
  });

  test("that looks at no cookie answers the same with one and without, and sets none", async () => {
    for (const path of posts().filter((path) => withoutCookies.has(path))) {
      for (const from of [undefined, "https://evil.test", origin]) {
        for (const index of bodies("").keys()) {
          const [bare, sent] = [bodies(body())[index], bodies(body())[index]];
          const without = await rawRequest(server.url, request(`/api/auth${path}`, from, "", bare));
          const answer = await rawRequest(server.url, request(`/api/auth${path}`, from, cookie, sent));
          expect(answer.status, `${path} ${from} ${sent?.type}`).toBe(without.status);
          expect(answer.headers.has("set-cookie"), path).toBe(false);
        }
      }
    }
    expect((await server.get("/me", { headers: { cookie } })).body.user.email).toBe("eve@example.com");
  });

  test("is open to our own page", async () => {
    for (const path of posts().filter((path) => !withoutCookies.has(path))) {
      const sent = { type: "application/json", body: body() };
      const answer = await rawRequest(server.url, request(`/api/auth${path}`, origin, cookie, sent));
      expect(answer.status, path).not.toBe(415);
      expect(answer.body, path).not.toContain("This origin may not do this");
    }
  });
});

describe("signing somebody else's browser in (login CSRF)", () => {
  let server: AuthServer;
  beforeAll(async () => {
    server = await startAuthServer(db);
    await server.signUp({ ...ann, email: "mallory@example.com" });
  });
  afterAll(() => server.close());

  test.for(strangers)("%s gets no cookie set, not with the right password either", async (from) => {
    const credentials = JSON.stringify({ email: "mallory@example.com", password: ann.password });
    const fresh = JSON.stringify({ ...ann, email: "fresh@example.com" });
    for (const [path, json] of [
      ["/sign-in/email", credentials],
      ["/sign-up/email", fresh],
    ] as const) {
      for (const sent of bodies(json)) {
        const answer = await rawRequest(server.url, request(`/api/auth${path}`, from, "", sent));
        expect([403, 415]).toContain(answer.status);
        expect(answer.headers.has("set-cookie")).toBe(false);
      }
    }
    expect(await db.sql(`select 1 from auth."user" where email = 'fresh@example.com'`)).toEqual([]);
  });
});
