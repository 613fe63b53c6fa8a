// If this file fails, a caller cannot tell what went wrong, or learns details that belong in the log.
import { describe, expect, test } from "vitest";
import { type ErrorCode, errorCodes } from "../../src/index.ts";
import { database } from "../support/database.ts";
import { rawRequest } from "../support/raw-http.ts";
import { type Answer, apiWith, service } from "../support/service.ts";
import { detail, hidden, httpRoutes, procedures, thrown } from "./failing.ts";

const codes = Object.keys(errorCodes) as ErrorCode[];
const db = database();
const svc = service(db, apiWith({ procedures, httpRoutes }));

/** The log lines of one exchange, parsed. */
const logOf = async (requestId: string) => {
  const lines = () => svc.logged.filter((line) => line.includes(requestId)).map((line) => JSON.parse(line));
  await expect.poll(() => lines().length).toBeGreaterThan(0);
  return lines();
};

describe("an error body", () => {
  test.for(codes)("of %s has the table's status and sentence, and nothing that was not said", async (code) => {
    const { status, message } = errorCodes[code];
    for (const answer of [
      await svc.mutate(null, "fail.code", { code, bare: true }),
      await svc.post("/fail/code", { code, bare: true }),
    ]) {
      expect(answer.status).toBe(status);
      expect(answer.body).toEqual({ error: message, code, requestId: answer.headers.get("x-request-id") });
      expect(answer.headers.get("retry-after")).toBeNull();
    }
  });

  test.for(codes)("of %s carries sentence, hint, issues and Retry-After, never the cause", async (code) => {
    const { hint, issues } = detail;
    const answer = await svc.mutate(null, "fail.code", { code, bare: false });
    expect(answer.body).toEqual({
      error: "A sentence.",
      code,
      hint,
      issues,
      requestId: answer.headers.get("x-request-id"),
    });
    expect(answer.headers.get("retry-after")).toBe("7");
    expect(answer.headers.get("content-type")).toBe("application/json; charset=utf-8");
    expect([answer.headers.get("cache-control"), answer.headers.get("x-content-type-options")]).toEqual([
      "no-store",
      "nosniff",
    ]);
    const [line] = await logOf(answer.body.requestId);
    if (answer.status >= 500) expect(line).toMatchObject({ level: 50, err: { message: hidden } });
    else expect(line).toMatchObject({ level: 30, code, status: answer.status, operation: "fail.code" });
  });
});

// An error whose code came from elsewhere had no status: it was never answered, and ended the process.
test.for(["TEAPOT", "constructor", "toString"])(
  "the code %s, which does not exist, is INTERNAL with its name in the log",
  async (code) => {
    for (const bare of [true, false]) {
      const answer = await svc.mutate(null, "fail.code", { code, bare });
      expect([answer.status, answer.body.code]).toEqual([500, "INTERNAL"]);
      const [line] = await logOf(answer.body.requestId);
      expect(line.err.message).toContain(`SvcError has no code "${code}".`);
    }
  },
);

// Each code where the service itself returns it. RATE_LIMITED needs the limits of cookie sign-in.
const natural: Record<string, [ErrorCode, () => Promise<Answer>]> = {
  "arguments that cannot be decoded": [
    "BAD_REQUEST",
    () => svc.query(null, "fail.requires", { json: 1, meta: [[99]] }),
  ],
  "a body that is no JSON": [
    "INVALID_JSON",
    () => svc.fetch("/api/query", { method: "POST", body: "{", headers: { "content-type": "application/json" } }),
  ],
  "arguments of the wrong type": ["VALIDATION_FAILED", () => svc.query(null, "guestbook.get", { id: "x" })],
  "a call without credentials": ["UNAUTHORIZED", () => svc.query(null, "notes.list")],
  "requireAuth() without a session": ["UNAUTHORIZED", () => svc.query(null, "fail.requires")],
  "bad credentials": [
    "INVALID_CREDENTIALS",
    () => svc.post("/api/auth/sign-in", { email: "no@example.com", password: "wrong password" }),
  ],
  "a write that no policy allows": [
    "FORBIDDEN",
    async () => svc.mutate(await svc.signUp("ann"), "announcements.create", { message: "x" }),
  ],
  "a row that is not there": ["NOT_FOUND", () => svc.mutate(null, "guestbook.remove", { id: 2147483647 })],
  "a path that is not there": ["NOT_FOUND", () => svc.fetch("/none")],
  "an e-mail address that is taken": [
    "EMAIL_TAKEN",
    async () => {
      const { email } = await svc.signUp("ann");
      return svc.post("/api/auth/sign-up", { email, password: "correct horse", name: "ann" });
    },
  ],
  "too large a body": ["PAYLOAD_TOO_LARGE", () => svc.query(null, "x".repeat(1024 * 1024))],
  "another content type": ["UNSUPPORTED_MEDIA_TYPE", () => svc.fetch("/api/query", { method: "POST", body: "x" })],
  "a handler that throws": ["INTERNAL", () => svc.mutate(null, "fail.throws", "error")],
  "raw SQL through ctx.db": ["INTERNAL", () => svc.query(null, "fail.executes")],
  "a result of the wrong type": ["OUTPUT_INVALID", () => svc.query(null, "fail.output")],
  "a query that writes": ["QUERY_WROTE", () => svc.query(null, "fail.writes")],
  "next() called twice": ["MIDDLEWARE_REENTERED", () => svc.query(null, "fail.twice")],
};
test.for(Object.entries(natural))("%s", async ([, [code, call]]) => {
  const { status, body, headers } = await call();
  expect({ status, code: body.code, id: body.requestId }).toEqual({
    status: errorCodes[code].status,
    code,
    id: headers.get("x-request-id"),
  });
  expect(Object.keys(body).filter((key) => !["error", "code", "hint", "issues", "requestId"].includes(key))).toEqual(
    [],
  );
  expect(JSON.stringify(body)).not.toContain(hidden);
});

test("raw SQL through ctx.db is told what to write instead, while developing", async () => {
  const { body } = await svc.query(null, "fail.executes");
  expect(body.hint).toMatch(/^ctx\.db: no raw SQL runs here\. Use the query builder/);
});

describe("an exception that nobody planned", () => {
  test.for(Object.keys(thrown))("(%s) shows the request id and nothing else", async (key) => {
    for (const answer of [
      await svc.mutate(null, "fail.throws", key),
      await svc.query(null, "fail.rejects", key),
      await svc.post("/fail/throws", key),
    ]) {
      const { status, body, headers } = answer;
      const requestId = headers.get("x-request-id");
      expect({ status, body }).toEqual({
        status: 500,
        body: { error: "Something went wrong on our side.", code: "INTERNAL", requestId },
      });
      expect([...headers.values()].join()).not.toContain(hidden);
    }
  });

  test("leaves its message, its cause and where it happened in the log", async () => {
    const { body } = await svc.mutate(null, "fail.throws", "error");
    const [line] = await logOf(body.requestId);
    expect(line).toMatchObject({ level: 50, status: 500, operation: "fail.throws", method: "POST", msg: "failed" });
    expect(line.err).toMatchObject({
      message: hidden,
      stack: expect.stringContaining("failing.ts"),
      cause: { message: hidden },
    });
  });

  test("does not end the service", async () => {
    expect((await svc.fetch("/healthz")).status).toBe(200);
  });
});

test.for(["http://[:::1/api/query", "http://a:99999/ws"])(
  "a target that is no URL is answered as all else: %s",
  async (path) => {
    const { status, body } = await rawRequest(svc.url, { method: "GET", path });
    const { code, error } = JSON.parse(body);
    expect({ status, code, error }).toEqual({ status: 400, code: "BAD_REQUEST", error: "The address is not a URL." });
  },
);

test("a target that is a whole URL is answered as its path (RFC 9112, section 3.2.2)", async () => {
  const headers = [["content-type", "application/json"]] as const;
  const ask = async (method: string, path: string, body?: string) =>
    (await rawRequest(svc.url, { method, path: `http://localhost${path}`, headers, ...(body && { body }) })).status;
  expect(await ask("POST", "/api/query/guestbook.list?x=1", "{}")).toBe(200);
  expect(await ask("GET", "/api/query/guestbook.list")).toBe(405);
  expect(await ask("GET", "/healthz")).toBe(200);
  expect(await ask("GET", "?/healthz")).toBe(404);
});

describe("the request id", () => {
  const idFor = async (given?: string) => {
    const { body, headers } = await svc.fetch(
      "/none",
      given === undefined ? {} : { headers: { "x-request-id": given } },
    );
    expect(headers.get("x-request-id")).toBe(body.requestId);
    return body.requestId as string;
  };
  test.for(["a", "01J.trace-7:b_C", "x".repeat(128)])("is the caller's, if it is acceptable: %s", async (id) => {
    expect(await idFor(id)).toBe(id);
  });
  test.for([undefined, "", "x".repeat(129), "a b", '"><script>', "a,b", "ü", "{}"])(
    "is a new one otherwise: %s",
    async (id) => {
      expect(await idFor(id)).toMatch(/^[0-9a-f]{8}-[0-9a-f-]{27}$/);
    },
  );
  test("is on answers that succeed, and every one differs", async () => {
    const ids = await Promise.all(
      Array.from({ length: 20 }, async () => (await svc.query(null, "guestbook.list")).headers.get("x-request-id")),
    );
    expect(new Set(ids).size).toBe(20);
  });
});

describe("the log", () => {
  test("redacts secrets that a handler logs by their names", async () => {
    const { headers } = await svc.query(null, "fail.logs");
    const lines = await logOf(String(headers.get("x-request-id")));
    expect(lines.find(({ msg }) => msg === "logged")).toMatchObject({
      password: "[redacted]",
      user: { token: "[redacted]", sessionToken: "[redacted]" },
    });
    expect(JSON.stringify(lines)).not.toContain(hidden);
  });

  test("names the part of a result that is wrong, not its value", async () => {
    const { body } = await svc.query(null, "fail.output");
    const [line] = await logOf(body.requestId);
    expect(line.err.message).toContain("n");
    expect(JSON.stringify(line)).not.toContain(hidden);
  });

  test("never holds passwords, tokens, arguments or rows", async () => {
    const canary = (name: string) => `canary-${name}-${crypto.randomUUID()}`;
    const secrets = {
      password: canary("password"),
      wrong: canary("wrong"),
      text: canary("text"),
      header: canary("header"),
    };
    const email = `${canary("mail")}@example.com`;
    const { body } = await svc.post("/api/auth/sign-up", { email, password: secrets.password, name: "ann" });
    const ann = { ...body.user, ...body };
    await svc.post("/api/auth/sign-in", { email, password: secrets.wrong });
    await svc.post("/api/auth/sign-up", { email, password: secrets.password, name: "ann" });
    await svc.mutate(ann, "notes.create", { title: secrets.text });
    await svc.mutate(ann, "samples.create", { aShortText: secrets.text });
    await svc.mutate(ann, "samples.create", { aUuid: secrets.text, [secrets.text]: 1 });
    await svc.query(ann, secrets.text, { a: secrets.text });
    await svc.fetch(`/none/${secrets.text}?q=${secrets.text}`, {
      headers: { authorization: secrets.header, cookie: secrets.header },
    });
    const last = await svc.query(null, "guestbook.list");
    await logOf(String(last.headers.get("x-request-id")));
    const log = svc.logged.join("");
    for (const value of [...Object.values(secrets), ann.token, ann.sessionToken]) expect(log).not.toContain(value);
  });
});

test.for([
  ["PUT", "/api/mutation/notes.creat", "POST"],
  ["POST", "/api/query/notes.lst", "name"],
  ["POST", "/api/api/query", "baseUrl"],
  ["GET", "/ws", "Upgrade"],
  ["GET", "/api/realtime", "Upgrade"],
  ["GET", "/nothing", undefined],
] as const)("%s %s is not found, and says what was meant", async ([method, path, meant]) => {
  const { status, body } = await svc.fetch(path, { method });
  expect([status, body.code, body.hint]).toEqual([404, "NOT_FOUND", meant && expect.stringContaining(meant)]);
});

test.for([
  ["/api/notes/list", "Procedures are called with POST at /api/query/<name>"],
  ["/graphql", "GraphQL is at /api/graphql."],
  ["/api/api/query", "The baseUrl of a client is the service's origin alone, without /api."],
  ["/elsewhere", undefined],
])("POST %s, which does not exist, says where to go", async ([path, hint]) => {
  const { status, body } = await svc.post(path as string, {});
  expect([status, body.code]).toEqual([404, "NOT_FOUND"]);
  if (hint) expect(body.hint).toContain(hint);
  else expect(body).not.toHaveProperty("hint");
});

test("a long path is cut where it is said not to exist", async () => {
  const { body } = await svc.fetch(`/${"x".repeat(5000)}`);
  expect(body.error).toHaveLength("There is no GET  here.".length + 200);
});

test.for([
  ["abc", "Authorization: Bearer <token>"],
  ["Basic abc", "Authorization: Bearer <token>"],
  ["Bearer abc", "has expired"],
])("the credential %j is refused with what to do", async ([authorization, hint]) => {
  const { status, body } = await svc.fetch("/api/query", {
    method: "POST",
    headers: { authorization: authorization as string, "content-type": "application/json" },
    body: JSON.stringify({ name: "fail.requires" }),
  });
  expect([status, body.hint]).toEqual([401, expect.stringContaining(hint as string)]);
});

test("probes that succeed leave no line in the log, unlike the call after them", async () => {
  const from = svc.logged.length;
  for (const path of ["/healthz", "/readyz", "/metrics"]) expect((await svc.fetch(path)).status).toBe(200);
  const { headers } = await svc.mutate(null, "fail.code", { code: "CONFLICT", bare: true });
  await logOf(headers.get("x-request-id") ?? "");
  expect(svc.logged.slice(from).join("")).not.toMatch(/healthz|readyz|metrics/);
});
