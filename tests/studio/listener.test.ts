// If this file fails, a page that an operator visits, or a program without the printed address, can use Studio.
import { expect, test } from "vitest";
import { Keys } from "../../src/studio/keys.ts";
import { database } from "../support/database.ts";
import { studio } from "./test-studio.ts";

const db = database();
const opened = studio(db);

const refused = async (answer: ReturnType<typeof opened.send>, status: number, code: string) => {
  const { status: got, body } = await answer;
  expect([got, body.code]).toEqual([status, code]);
  expect(Object.keys(body).filter((name) => !["error", "code", "hint"].includes(name))).toEqual([]);
};

test("a token is redeemed once, and the next address has another one", async () => {
  const { token } = opened;
  const first = await opened.send("redeem", { token }, { authorization: undefined });
  expect([first.status, first.body.secret?.length]).toEqual([200, 43]);
  expect(opened.token).not.toBe(token);
  await refused(opened.send("redeem", { token }), 401, "UNAUTHORIZED");
  await refused(opened.send("redeem", { token: "" }), 401, "UNAUTHORIZED");
  await refused(opened.send("redeem", {}), 401, "UNAUTHORIZED");
  const again = await opened.send("tables", {}, { authorization: `Bearer ${first.body.secret}` });
  expect(again.status).toBe(200);
});

test("a program's secret outlives those of tabs, until there is another one, and opens what programs may ask for", () => {
  const keys = new Keys();
  const opens = (secret: string | null, name = "trace") => keys.opens(`Bearer ${secret}`, name);
  const [program, tab] = [keys.forPrograms(), keys.redeem(keys.next())];
  for (let tabs = 0; tabs < 25; tabs++) keys.redeem(keys.next());
  expect([opens(program), opens(tab), opens("")]).toEqual([true, false, false]);
  expect([opens(program, "requests"), opens(program, "act"), opens(program, "rows")]).toEqual([true, false, false]);
  keys.forPrograms();
  expect(opens(program)).toBe(false);
  expect(new Keys().opens("Bearer ", "trace")).toBe(false);
});

test("without the secret nothing is answered, and the token is no secret", async () => {
  for (const authorization of [undefined, "Bearer ", "Bearer x", `Bearer ${opened.token}`, `Basic ${opened.token}`]) {
    await refused(opened.send("tables", {}, { authorization }), 401, "UNAUTHORIZED");
  }
});

test.each([
  ["a foreign page", { origin: "https://evil.example" }],
  ["the application's page", { origin: "http://localhost:4000" }],
  ["a sandboxed frame", { origin: "null" }],
  ["a sender without an origin", { origin: undefined }],
  ["a browser that calls it cross-site", { "sec-fetch-site": "cross-site" }],
  ["a neighbouring port", { "sec-fetch-site": "same-site" }],
  ["a name that was rebound to this machine", { host: "evil.example" }],
  ["the same with the port", { host: "evil.example:4001" }],
  ["localhost, which is another origin", { host: "localhost" }],
])("%s is refused, with the right secret and for a token", async (_who, headers) => {
  await refused(opened.send("tables", {}, headers), 403, "FORBIDDEN");
  await refused(opened.send("redeem", { token: opened.token }, headers), 403, "FORBIDDEN");
});

test("a rebound name gets no page either", async () => {
  const { status, text } = await opened.raw("/", "GET", "", { host: "evil.example" });
  expect(status).toBe(403);
  expect(text).not.toContain("<");
});

test("only JSON is taken: a form, which needs no preflight, is refused", async () => {
  for (const type of ["text/plain", "application/x-www-form-urlencoded", undefined]) {
    await refused(opened.send("tables", {}, { "content-type": type }), 415, "UNSUPPORTED_MEDIA_TYPE");
  }
  const preflight = await opened.raw("/api/tables", "OPTIONS", "", { origin: "https://evil.example" });
  expect(preflight.status).toBe(405);
  expect(Object.keys(preflight.headers).filter((name) => name.startsWith("access-control"))).toEqual([]);
  await refused(opened.raw("/api/tables", "GET", "", { origin: opened.origin }), 405, "METHOD_NOT_ALLOWED");
  await refused(opened.send("tables", { more: 1 }), 400, "VALIDATION_FAILED");
  await refused(opened.send("toString", {}), 404, "NOT_FOUND");
  await refused(opened.send("users", { search: "x".repeat(70_000) }), 413, "PAYLOAD_TOO_LARGE");
});

test("the page brings its icon: Firefox reports that the policy blocks /favicon.ico", async () => {
  const { body, headers } = await opened.raw("/");
  expect(body).toContain('<link rel="icon" href="data:,"');
  expect(headers["content-security-policy"]).toContain("img-src data:;");
});

test("the page may not be framed, runs only its own scripts, makes no markup of text and sets no cookie", async () => {
  for (const path of ["/", "/main.js", "/api/tables", "/nothing.js"]) {
    const { headers } = await opened.raw(path);
    const policy = String(headers["content-security-policy"]);
    for (const part of [
      "default-src 'none'",
      "script-src 'self'",
      "frame-ancestors 'none'",
      "require-trusted-types-for 'script'",
      "trusted-types 'none'",
    ]) {
      expect(policy).toContain(part);
    }
    expect(policy).not.toContain("unsafe");
    expect(headers).toMatchObject({
      "x-frame-options": "DENY",
      "cache-control": "no-store",
      "cross-origin-resource-policy": "same-origin",
      "referrer-policy": "no-referrer",
      "x-content-type-options": "nosniff",
    });
    expect(headers["set-cookie"]).toBeUndefined();
  }
});

test("the page's files are served, and no other file", async () => {
  expect((await opened.raw("/")).headers["content-type"]).toContain("text/html");
  const script = await opened.raw("/main.js");
  expect([script.status, script.headers["content-type"]]).toEqual([200, "text/javascript; charset=utf-8"]);
  for (const path of [
    "/../package.json",
    "/..%2fpackage.json",
    "/package.json",
    "//etc/passwd",
    "/main.js.map",
    "//",
  ]) {
    expect((await opened.raw(path)).status).toBe(404);
  }
});

test("nobody was told of an error that Studio did not expect", () => {
  expect(opened.failures).toEqual([]);
});
