// If this file fails, a secret appears in the log, in an answer, in an address, or on a page.
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { loadConfig } from "../../src/config/load-config.ts";
import { defineAuth } from "../../src/index.ts";
import { type Service, startService } from "../../src/service/service.ts";
import { createLog } from "../../src/telemetry/log.ts";
import { procedure } from "../fixture/backend/index.ts";
import * as schema from "../fixture/backend/schema.ts";
import { execute } from "../support/admin.ts";
import { database } from "../support/database.ts";
import { withQuickPasswords } from "../support/quick-passwords.ts";
import { apiWith } from "../support/service.ts";

const canary = (what: string) => `canary-${what}-${randomBytes(9).toString("hex")}`;
const planted: Record<string, string> = {
  password: canary("password"),
  newPassword: canary("new"),
  secret: canary("authlib-secret-of-32-characters"),
  clientSecret: canary("client"),
  databasePassword: canary("database"),
  oneTime: randomBytes(32).toString("base64url"),
  thrown: canary("thrown"),
};
const own = "https://api.example.com";
const email = "canary@example.com";

const db = database();
/** Without svc's prefix: tests of the platform's roles run at the same time. */
const login = `canary_${randomBytes(6).toString("hex")}`;
let service: Service;
const lines: string[] = [];
/** Everything that was sent: URL, headers except the intended cookie, body. */
const sent: string[] = [];

const oops = (): null => {
  const error = new TypeError("The handler broke.", {
    cause: Object.assign(new Error("deeper"), { secret: planted.thrown }),
  });
  throw Object.assign(error, { password: planted.thrown, request: { headers: { authorization: planted.thrown } } });
};
const api = apiWith({
  procedures: {
    broken: procedure.query.name("canary.broken").allowAnonymous().handler(oops),
    thrown: procedure.query
      .name("canary.object")
      .allowAnonymous()
      .handler((): null => {
        throw { token: planted.thrown };
      }),
    logs: procedure.query
      .name("canary.logs")
      .allowAnonymous()
      .handler(({ context: { log } }) => {
        const token = planted.thrown ?? "";
        log.info({ token, password: token, secret: token, authorization: token, cookie: token }, "by name");
        log.warn({ a: { b: { c: [{ d: { newPassword: token, "Set-Cookie": [token], X_API_KEY: token } }] } } }, "deep");
        log.error({
          err: Object.assign(new Error("logged"), { token }),
          failed: Object.assign(new Error("too"), { token }),
        });
        log.error(Object.assign(new Error("alone"), { config: { headers: { Authorization: token } } }));
        log.info({ keyed: Buffer.from(token), asJson: { toJSON: () => ({ refreshToken: token }) } });
        log.child({ token, nested: { secret: token } }).info("carried");
        const loop: Record<string, unknown> = { token };
        loop.self = loop;
        log.info(loop, "round and round");
        log.info({ inputTokens: 12, hasCookie: true, title: "kept" }, "no secrets");
      }),
  },
});

async function call(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
  const raw = typeof body === "string" ? body : JSON.stringify(body);
  const response = await fetch(service.url + path, {
    method,
    headers: { ...(body !== undefined && { "content-type": "application/json" }), ...headers },
    redirect: "manual",
    ...(raw !== undefined && { body: raw }),
  });
  const text = await response.text();
  const kept = [...response.headers].filter(([name]) => name !== "set-cookie");
  sent.push(JSON.stringify(kept), text);
  return { status: response.status, headers: response.headers, body: text && JSON.parse(text) };
}

beforeAll(async () => {
  const base = await loadConfig({ cwd: join(import.meta.dirname, "../fixture"), env: {} });
  const google = { clientId: "id", clientSecret: planted.clientSecret ?? "", issuer: "http://127.0.0.1:1" };
  const sink = { write: (line: string) => void lines.push(line) };
  // A login for the whole service, with a canary as its password.
  await execute(
    db.url("admin"),
    `create role ${login} login in role svc_auth, svc_request password '${planted.databasePassword}'`,
  );
  const auth = new URL(db.url("auth"));
  auth.username = login;
  auth.password = planted.databasePassword ?? "";
  service = await startService({
    app: {
      api,
      auth: withQuickPasswords(defineAuth({ oauth: { allowedReturnModes: ["token", "cookie"] } })),
      schema,
    },
    config: {
      ...base,
      port: 0,
      logLevel: "trace",
      auth: { url: own, secrets: [], bridgeSecrets: [], google, clients: {} },
    },
    urls: { ...db.urls, auth: auth.href },
    secrets: [planted.secret ?? ""],
    log: createLog("trace", sink),
  });
});
afterAll(async () => {
  await service?.stop();
  await execute(db.url("admin"), `drop role if exists ${login}`).catch(() => {});
});

/** Every POST endpoint, with the secrets that a caller may hold in an error. */
const paths = ["sign-up", "sign-in", "sign-up/email", "sign-in/email", "token", "sign-out", "oauth/exchange"].concat([
  "change-password",
  "delete-user",
  "sign-out-everywhere",
  "send-verification-email",
  "request-password-reset",
  "reset-password",
  "no/such/path",
]);

test("no secret is in any answer, header, address or log line, whatever goes wrong", async () => {
  const { password, newPassword, oneTime } = planted;
  const up = await call("POST", "/api/auth/sign-up", { email, password, name: "Canary" });
  expect(up.status).toBe(200);
  sent.pop(); // its body is where the tokens belong
  const { sessionToken, token } = up.body as { sessionToken: string; token: string };
  const cookie = `__Secure-authlib.session_token=${encodeURIComponent(sessionToken)}`;
  // A broken copy of each still contains most of it.
  Object.assign(planted, {
    session: sessionToken.slice(0, 32),
    signature: sessionToken.slice(33),
    jwt: token,
    payload: token.split(".")[2],
  });

  const bodies: unknown[] = [
    { email, password, name: "Canary" },
    { email, password: `${password}!`, name: 7 },
    {
      email: password,
      password,
      name: password,
      currentPassword: password,
      newPassword,
      token: oneTime,
      code: oneTime,
    },
    { password, redirectTo: `https://evil.test/?${password}`, email },
    `{"password":"${password}"`,
    `${password}\u0000`,
    { password: `${password}${"x".repeat(20_000)}` },
  ];
  const credentials: Record<string, string>[] = [
    {},
    { cookie, origin: own },
    { cookie: `${cookie}x`, origin: own },
    { cookie: `${cookie}; ${cookie}x`, origin: "https://evil.test" },
    { authorization: `Bearer ${token.slice(0, -2)}` },
    { authorization: `Basic ${Buffer.from(`ann:${password}`).toString("base64")}` },
    { authorization: `Bearer ${sessionToken}x`, "x-request-id": `${password}!` },
  ];
  // The session for later tests is not sent to paths that would end it.
  for (const path of paths) {
    for (const body of bodies) {
      for (const headers of credentials) {
        const ends =
          path === "sign-out" || path === "sign-out-everywhere" || path === "delete-user" || path === "change-password";
        if (ends && headers.cookie === cookie) continue;
        const answer = await call("POST", `/api/auth/${path}`, body, headers);
        // A successful sign-in returns its own tokens in the body.
        if (answer.status === 200) sent.pop();
      }
    }
  }
  await call("POST", "/api/auth/sign-in", password, { "content-type": "text/plain" });
  for (const query of [
    `code=${oneTime}&state=${oneTime}`,
    `error=${oneTime}`,
    `token=${oneTime}&callbackURL=//evil.test`,
  ]) {
    for (const path of ["callback/google", "sign-in/social/redirect", "verify-email", "me", "jwks"]) {
      const answer = await call("GET", `/api/auth/${path}?${query}&provider=google`, undefined, { cookie });
      if (path === "me") expect(answer.status).toBe(200);
    }
  }
  await call("GET", "/api/auth/sign-in/social/redirect?provider=google", undefined, { cookie }); // the provider is down
  for (const name of ["canary.broken", "canary.object"]) {
    expect(
      (await call("POST", "/api/query", { name, args: { password } }, { authorization: `Bearer ${token}` })).status,
    ).toBe(500);
  }
  await call(
    "POST",
    "/api/mutation",
    { name: "notes.create", args: { title: 7, token: sessionToken } },
    { cookie, origin: own },
  );
  expect((await call("POST", "/api/query", { name: "canary.logs" })).status).toBe(200);
  await call("POST", "/api/query", { name: password }, { authorization: `Bearer ${sessionToken}` });

  await db.sql('alter table auth."user" add constraint no_more check (false) not valid');
  expect((await call("POST", "/api/auth/sign-up", { email: "b@example.com", password, name: "B" })).status).toBe(500);
  await db.sql('alter table auth."user" drop constraint no_more');
  await execute(db.url("admin"), `alter role ${login} nologin`);
  await db.sql(`select pg_terminate_backend(pid) from pg_stat_activity where usename = '${login}'`);
  expect((await call("POST", "/api/auth/sign-in", { email, password })).status).toBeGreaterThanOrEqual(500);
  expect((await call("GET", "/api/auth/me", undefined, { cookie })).status).toBeGreaterThanOrEqual(500);
  await execute(db.url("admin"), `alter role ${login} login`);
  expect((await call("GET", "/api/auth/me", undefined, { cookie })).status).toBe(200);

  await service.stop();
  expect(lines.length).toBeGreaterThan(300);
  for (const [what, value] of Object.entries(planted)) {
    for (const form of [value, encodeURIComponent(value), Buffer.from(value).toString("base64").slice(0, -4)]) {
      expect(
        lines.filter((line) => line.includes(form)),
        `${what} in the log`,
      ).toEqual([]);
      expect(
        sent.filter((text) => text.includes(form)),
        `${what} in an answer`,
      ).toEqual([]);
    }
  }
  // Proves that the words would be found if they occurred.
  for (const words of [
    "The handler broke.",
    "deeper",
    "round and round",
    '"inputTokens":12,"hasCookie":true,"title":"kept"',
  ]) {
    expect(lines.join("")).toContain(words);
  }
  expect(sent.join("")).toContain("INVALID_CREDENTIALS");
});
