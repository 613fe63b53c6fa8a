// If this file fails, headers that protect users are missing (https only, no framing, no sniffing, no leaking of
// addresses), or are so strict that an application cannot work.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createSvcHttpRouteBuilders } from "../../src/index.ts";
import { procedure } from "../fixture/backend/index.ts";
import { database } from "../support/database.ts";
import { type Answer, apiWith, service, TestService } from "../support/service.ts";

const own = "https://api.example.com";
const front = "https://app.example.com";
const webDir = await mkdtemp(join(tmpdir(), "svc-headers-"));
await writeFile(join(webDir, "index.html"), "<!doctype html><title>x</title>");
afterAll(() => rm(webDir, { recursive: true, force: true }));

const route = createSvcHttpRouteBuilders();
const api = apiWith({
  procedures: {
    broken: procedure.query
      .name("headers.broken")
      .allowAnonymous()
      .handler(() => {
        throw new Error("broken");
      }),
  },
  httpRoutes: {
    page: route.get
      .path("/page")
      .allowAnonymous()
      .handler(() => ({ headers: { "content-type": "text/html" }, body: "<p>" })),
    away: route.get
      .path("/away")
      .allowAnonymous()
      .handler(() => ({ status: 302, headers: { location: "/" } })),
    widget: route.get
      .path("/widget")
      .allowAnonymous()
      .handler(() => ({
        headers: { "Content-Security-Policy": "frame-ancestors *", "Referrer-Policy": "origin" },
        body: "for everybody to frame",
      })),
    throws: route.get
      .path("/throws")
      .allowAnonymous()
      .handler(() => {
        throw new Error("broken");
      }),
  },
});
const db = database();
const auth = {
  url: own,
  secrets: [],
  google: { clientId: "id", clientSecret: "secret", issuer: "http://127.0.0.1:1" },
};
const config = { frontendOrigins: [front], webDir, auth, limits: { jsonBytes: 1024 } } as object;
const svc = service(db, api, config);

const post = (path: string, body: string, headers: Record<string, string> = {}) =>
  svc.fetch(path, { method: "POST", headers: { "content-type": "application/json", ...headers }, body });
const get = (path: string, init: RequestInit = {}) => svc.fetch(path, { redirect: "manual", ...init });
const preflight = (origin: string) =>
  get("/api/query", { method: "OPTIONS", headers: { origin, "access-control-request-method": "POST" } });

const json: [what: string, status: number, () => Promise<Answer>][] = [
  ["a query", 200, () => post("/api/query", '{"name":"guestbook.list"}')],
  ["a query that broke", 500, () => post("/api/query", '{"name":"headers.broken"}')],
  ["an unknown query", 404, () => post("/api/query", '{"name":"no.such"}')],
  ["a call without a session", 401, () => post("/api/query", '{"name":"notes.list"}')],
  ["a body that is no JSON", 400, () => post("/api/query", "{")],
  ["a body that is too large", 413, () => post("/api/query", `"${"x".repeat(2000)}"`)],
  ["a form", 415, () => post("/api/query", "a=b", { "content-type": "application/x-www-form-urlencoded" })],
  ["a preflight from a stranger", 403, () => preflight("https://evil.test")],
  ["a sign-in", 401, () => post("/api/auth/sign-in", '{"email":"a@example.com","password":"wrong horse"}')],
  ["the key set", 200, () => get("/api/auth/jwks")],
  [
    "a social sign-in that leads elsewhere",
    400,
    () => get("/api/auth/sign-in/social/redirect?provider=google&callbackURL=//evil.test"),
  ],
  ["an unknown path", 404, () => get("/no/such")],
  ["a path that cannot be decoded", 404, () => get("/%E0%A4%A")],
  ["a route that broke", 500, () => get("/throws")],
  ["health", 200, () => get("/healthz")],
  ["readiness", 200, () => get("/readyz")],
];
const others: [what: string, status: number, () => Promise<Answer>][] = [
  ["a page of the application's folder", 200, () => get("/")],
  [
    "a page that has not changed",
    304,
    async () =>
      get("/", {
        headers: { "cache-control": "max-age=0", "if-none-match": (await get("/")).headers.get("etag") ?? "" },
      }),
  ],
  ["a route's page", 200, () => get("/page")],
  ["a route's redirect", 302, () => get("/away")],
  ["a route's HEAD", 200, () => get("/page", { method: "HEAD" })],
  ["a preflight", 204, () => preflight(front)],
  ["OPTIONS", 204, () => get("/api/auth/sign-in", { method: "OPTIONS" })],
  ["the metrics", 200, () => get("/metrics")],
];

describe("every answer", () => {
  test.for([...json, ...others])("%s, %i", async ([, status, call]) => {
    const { status: answered, headers } = await call();
    expect(answered).toBe(status);
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(headers.get("strict-transport-security")).toBe("max-age=31536000");
    expect(headers.get("referrer-policy")).toMatch(/^(same-origin|no-referrer)$/);
    expect(headers.get("x-request-id")).toMatch(/^[\w-]{36}$/);
    expect(headers.get("vary")).toMatch(/\bOrigin\b/);
    expect(headers.get("content-security-policy")).toContain("frame-ancestors");
    expect([...headers.keys()].filter((name) => /^(server|x-powered-by)$/.test(name))).toEqual([]);
  });
});

describe("JSON", () => {
  test.for(json)("%s: stored, framed and embedded nowhere", async ([, , call]) => {
    const { headers } = await call();
    expect(headers.get("content-type")).toBe("application/json; charset=utf-8");
    expect(headers.get("cache-control")).toBe("no-store");
    expect(headers.get("content-security-policy")).toBe("default-src 'none'; frame-ancestors 'none'");
    expect(headers.get("cross-origin-resource-policy")).toBe("same-origin");
  });
});

test("a route's answer may be framed by listed origins, and shown as an image anywhere", async () => {
  const { headers } = await get("/page");
  expect(headers.get("content-security-policy")).toBe(`frame-ancestors ${own} ${front}`);
  expect(headers.get("cross-origin-resource-policy")).toBeNull();
});

test("a route has the last word", async () => {
  const { headers } = await get("/widget");
  expect(headers.get("content-security-policy")).toBe("frame-ancestors *");
  expect(headers.get("referrer-policy")).toBe("origin");
  expect(headers.get("x-content-type-options")).toBe("nosniff");
});

describe("the application's pages", () => {
  const other = database();
  const started = async (more: object) => {
    const running = new TestService(other, api, { ...config, ...more });
    await running.start();
    return running;
  };

  test("run scripts of their own origin only, are framed by nobody, and keep their window to themselves", async () => {
    const { headers } = await get("/");
    const policy = headers.get("content-security-policy") ?? "";
    for (const rule of [
      "default-src 'self'",
      "object-src 'none'",
      "frame-ancestors 'none'",
      "base-uri 'self'",
      "form-action 'self'",
    ]) {
      expect(policy.split("; ")).toContain(rule);
    }
    expect(policy).not.toContain("unsafe");
    expect(headers.get("cross-origin-opener-policy")).toBe("same-origin-allow-popups");
    expect(headers.get("cross-origin-resource-policy")).toBeNull();
  });

  test("carry what webHeaders says instead, and the rest of the service does not", async () => {
    const policy = "default-src 'self'; font-src https://fonts.example.com";
    const webHeaders = {
      "Content-Security-Policy": policy,
      "Cross-Origin-Opener-Policy": "",
      "Permissions-Policy": "camera=()",
    };
    const changed = await started({ webHeaders });
    const page = await changed.fetch("/");
    expect(page.headers.get("content-security-policy")).toBe(policy);
    expect(page.headers.get("cross-origin-opener-policy")).toBeNull();
    expect(page.headers.get("permissions-policy")).toBe("camera=()");
    const health = await changed.fetch("/healthz");
    expect(health.headers.get("content-security-policy")).toContain("default-src 'none'");
    const route = await changed.fetch("/page");
    expect(route.headers.get("permissions-policy")).toBeNull();
    await changed.stop();
  });

  test("insist on https only where the service has it", async () => {
    const plain = await started({ auth: { url: null, secrets: [], google: null } });
    for (const path of ["/", "/healthz", "/page"]) {
      expect((await plain.fetch(path)).headers.has("strict-transport-security")).toBe(false);
    }
    await plain.stop();
  });
});

describe("a page of an origin that is not listed", () => {
  const other = database();
  const ask = (running: TestService, origin: string) => running.fetch("/healthz", { headers: { origin } });
  const said = (running: TestService) => running.logged.filter((line) => line.includes("add it to frontendOrigins"));
  let running: TestService;
  const started = async (production: boolean) => {
    running = new TestService(other, api, { ...config, production } as object);
    await running.start();
  };
  beforeAll(() => started(false));
  afterAll(() => running.stop());

  test("is announced once in development, and no more than twenty of them", async () => {
    for (let time = 0; time < 3; time++) await ask(running, "http://localhost:3000");
    await ask(running, front);
    expect(said(running).map((line) => JSON.parse(line).origin)).toEqual(["http://localhost:3000"]);
    await ask(running, `http://${"x".repeat(5000)}`);
    expect(said(running)).toHaveLength(2);
    for (let port = 3000; port < 3040; port++) await ask(running, `http://localhost:${port}`);
    expect(said(running)).toHaveLength(20);
    expect(Math.max(...said(running).map((line) => line.length))).toBeLessThan(500);
  });

  test("is not, in production", async () => {
    await running.stop();
    await started(true);
    await ask(running, "http://localhost:3000");
    expect(said(running)).toEqual([]);
  });
});
