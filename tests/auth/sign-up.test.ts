// If this file fails, people cannot sign up, sign in as somebody else, or give themselves rights.
import { scryptSync } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type AuthServer, ann, origin, startAuthServer } from "../support/auth-server.ts";
import { database } from "../support/database.ts";

const db = database();
let server: AuthServer;
beforeAll(async () => {
  server = await startAuthServer(db, { costlyPasswords: true });
});
afterAll(() => server.close());

describe("sign-up", () => {
  test("answers the user, a session token and a JWT, and nothing else", async () => {
    const { status, body, headers } = await server.signUp();
    expect(status).toBe(200);
    expect(body).toEqual({
      user: { id: expect.stringMatching(/^[A-Za-z0-9]{32}$/), email: ann.email, name: "Ann" },
      sessionToken: expect.any(String),
      token: expect.any(String),
    });
    expect(headers.get("cache-control")).toBe("no-store");
    expect(headers.get("set-cookie")).toBeNull();
    expect(await server.caller(body.token)).toMatchObject({ user: body.user });
    expect(await server.caller(body.sessionToken)).toMatchObject({ user: body.user });
  });

  test("knows an address again in any spelling of case and space", async () => {
    const first = await server.signUp({ ...ann, email: "  Case@Example.COM " });
    expect(first.body.user.email).toBe("case@example.com");
    const second = await server.signUp({ ...ann, email: "CASE@example.com" });
    expect(second).toMatchObject({ status: 409, body: { code: "EMAIL_TAKEN", error: "Email already registered" } });
    const signedIn = await server.post("/sign-in", { email: " cAse@example.com", password: ann.password });
    expect(signedIn.body.user).toEqual(first.body.user);
  });

  test("lets exactly one of many concurrent sign-ups with one address through", async () => {
    const person = { ...ann, email: "race@example.com" };
    const answers = await Promise.all(Array.from({ length: 8 }, () => server.signUp(person)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(7).fill(409)]);
    expect(new Set(answers.filter(({ status }) => status === 409).map(({ body }) => body.code))).toEqual(
      new Set(["EMAIL_TAKEN"]),
    );
    // Nothing of the losers remains, and the error log is only for operators' problems.
    const rows = `select a.id from auth.account a join auth."user" u on u.id = a.user_id where u.email = $1`;
    expect(await db.sql(rows, [person.email])).toHaveLength(1);
    expect(server.log.filter((line) => JSON.parse(line).level >= 50)).toEqual([]);
  });

  test("leaves nothing behind when it fails halfway", async () => {
    const person = { ...ann, email: "halfway@example.com" };
    await db.sql("alter table auth.account add constraint no_more check (false) not valid");
    expect((await server.signUp(person)).status).toBe(500);
    await db.sql("alter table auth.account drop constraint no_more");
    expect((await server.signUp(person)).status).toBe(200);
  });

  test("works with a single connection", async () => {
    const narrow = await startAuthServer(db, { max: 1 });
    const people = [1, 2, 3, 4].map((n) => ({ ...ann, email: `narrow${n}@example.com` }));
    const answers = await Promise.all(people.map((person) => narrow.signUp(person)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    await narrow.close();
  });

  test("stores an scrypt hash, never the password", async () => {
    const { body } = await server.post("/sign-up", { ...ann, email: "hashed@example.com" });
    const [row] = await db.sql("select password from auth.account where user_id = $1", [body.user.id]);
    const [, salt = "", key] = /^([0-9a-f]{32}):([0-9a-f]{128})$/.exec(row?.password) ?? [];
    expect(scryptSync(ann.password, salt, 64, { N: 2 ** 14, r: 16, maxmem: 2 ** 26 }).toString("hex")).toBe(key);
  });
});

describe("sign-in", () => {
  test("refuses a wrong password and an unknown address with the same answer", async () => {
    const wrong = await server.post("/sign-in", { email: ann.email, password: "wrong horse" });
    const unknown = await server.post("/sign-in", { email: "nobody@example.com", password: "wrong horse" });
    expect(wrong).toMatchObject({ status: 401, body: { code: "INVALID_CREDENTIALS", error: "Invalid credentials" } });
    const { requestId: _wrong, ...wrongBody } = wrong.body;
    const { requestId: _unknown, ...unknownBody } = unknown.body;
    expect(unknownBody).toEqual(wrongBody);
    expect(unknown.status).toBe(401);
  });

  test("sends the same two statements and computes one hash whether or not the account exists", async () => {
    // An observer could measure time; but a slow machine must not fail the test, so the work is counted.
    const statements = async (email: string) => {
      const client = await server.pool.connect();
      const sent: string[] = [];
      const { query } = client;
      client.query = ((...given: unknown[]) => {
        sent.push(typeof given[0] === "string" ? given[0] : (given[0] as { text: string }).text);
        return Reflect.apply(query, client, given);
      }) as typeof query;
      const { connect } = server.pool;
      server.pool.connect = (async () => client) as unknown as typeof connect;
      const { release } = client;
      client.release = () => {};
      const { status } = await server.post("/sign-in", { email, password: "wrong horse" });
      Object.assign(server.pool, { connect });
      Object.assign(client, { query, release });
      client.release();
      expect(status).toBe(401);
      return sent.filter((text) => !/send_heartbeat|auth\.sweep/.test(text)); // which are sent every so often
    };
    const known = await statements(ann.email);
    expect(known).toHaveLength(2); // the attempt, and the user
    expect(await statements("nobody@example.com")).toEqual(known);
  });

  test("opens another session each time", async () => {
    const first = await server.post("/sign-in", ann);
    const second = await server.post("/sign-in", ann);
    expect(first.body.user).toEqual(second.body.user);
    expect(first.body.sessionToken).not.toBe(second.body.sessionToken);
    expect(Object.keys(first.body)).toEqual(["user", "sessionToken", "token"]);
  });
});

// the input, and the part of it that the answer must name
const refused: { what: string; body: unknown; at: string[] }[] = [
  { what: "no address", body: { ...ann, email: undefined }, at: ["email"] },
  { what: "an address that is none", body: { ...ann, email: "ann" }, at: ["email"] },
  { what: "an address with NUL", body: { ...ann, email: "ann\0@example.com" }, at: ["email"] },
  { what: "an address of 300 characters", body: { ...ann, email: `${"a".repeat(290)}@x.example` }, at: ["email"] },
  { what: "an address that is an object", body: { ...ann, email: { $ne: null } }, at: ["email"] },
  { what: "a name with NUL", body: { ...ann, name: "An\0n" }, at: ["name"] },
  { what: "a name with half a surrogate pair", body: { ...ann, name: "An\ud800n" }, at: ["name"] },
  { what: "a name of spaces", body: { ...ann, name: "  " }, at: ["name"] },
  { what: "a name of zero-width characters", body: { ...ann, name: "\u200b\u200d\u2066" }, at: ["name"] },
  { what: "a name of control characters", body: { ...ann, name: "\x01\x7f" }, at: ["name"] },
  { what: "a name of Hangul fillers", body: { ...ann, name: "\u3164 \u115f" }, at: ["name"] },
  { what: "a name of blank Braille", body: { ...ann, name: "\u2800" }, at: ["name"] },
  { what: "a name that is a number", body: { ...ann, name: 7 }, at: ["name"] },
  { what: "no name", body: { ...ann, name: undefined }, at: ["name"] },
  { what: "a password of 7 characters", body: { ...ann, password: "1234567" }, at: ["password"] },
  { what: "a password of 4 emoji", body: { ...ann, password: "🐈🐕🐎🐄" }, at: ["password"] },
  {
    what: "a password of 4 syllables in 9 letters",
    body: { ...ann, password: "비밀번호".normalize("NFD") },
    at: ["password"],
  },
  { what: "a password of 129 characters", body: { ...ann, password: "x".repeat(129) }, at: ["password"] },
  { what: "a password with NUL", body: { ...ann, password: "12345678\0" }, at: ["password"] },
  { what: "nothing right at all", body: {}, at: ["email", "password", "name"] },
  { what: "a list", body: [], at: [] },
  { what: "null", body: null, at: [] },
];

describe("what is no sign-up", () => {
  test.for(refused)("$what is 400 with issues", async ({ body, at }) => {
    const before = await db.snapshot('auth."user"');
    const answer = await server.post("/sign-up", body);
    expect(answer).toMatchObject({ status: 400, body: { code: "VALIDATION_FAILED" } });
    expect(new Set(answer.body.issues.map(({ path }: { path: string[] }) => path[0]))).toEqual(
      new Set(at.length > 0 ? at : [undefined]),
    );
    expect(await db.snapshot('auth."user"')).toEqual(before);
  });

  test("passwords of 8 and of 128 characters are the edges that pass", async () => {
    for (const length of [8, 128]) {
      const person = { ...ann, email: `edge${length}@example.com`, password: "é".repeat(length) };
      expect((await server.signUp(person)).status).toBe(200);
      expect((await server.post("/sign-in", person)).status).toBe(200);
    }
  });

  test("a password of 128 characters is the same with its accents apart, as some keyboards send them", async () => {
    const person = { ...ann, email: "apart@example.com", password: "각".repeat(128) };
    expect((await server.signUp(person)).status).toBe(200);
    const apart = person.password.normalize("NFD");
    expect(apart).toHaveLength(384);
    expect((await server.post("/sign-in", { ...person, password: apart })).status).toBe(200);
  });

  test.for(["/sign-up", "/sign-in"])("%s answers bad bodies by what is wrong with them", async (path) => {
    expect(await server.post(path, undefined, { raw: "{" })).toMatchObject({
      status: 400,
      body: { code: "INVALID_JSON", error: "Invalid JSON body" },
    });
    expect(await server.post(path, undefined, { raw: new Uint8Array([0xff]) })).toMatchObject({
      status: 400,
      body: { code: "INVALID_JSON" },
    });
    expect(await server.post(path, undefined, { raw: "a=b", headers: { "content-type": "text/plain" } })).toMatchObject(
      { status: 415, body: { code: "UNSUPPORTED_MEDIA_TYPE" } },
    );
    expect(await server.post(path, { ...ann, name: "x".repeat(16 * 1024) })).toMatchObject({
      status: 413,
      body: { code: "PAYLOAD_TOO_LARGE" },
    });
    const edge = JSON.stringify({ ...ann, filler: "" });
    const full = { ...ann, filler: "x".repeat(16 * 1024 - edge.length) };
    expect((await server.post(path, full)).status).not.toBe(413);
  });

  test("errors have the one form, and nobody stores them", async () => {
    const { body, headers } = await server.post("/sign-up", {});
    expect(Object.keys(body)).toEqual(["error", "code", "issues", "requestId"]);
    expect(body.requestId).toBe(headers.get("x-request-id"));
    expect(headers.get("cache-control")).toBe("no-store");
  });
});

describe("emailAndPassword.enabled: false", () => {
  let off: AuthServer;
  beforeAll(async () => {
    off = await startAuthServer(db, { definition: { emailAndPassword: { enabled: false } } });
  });
  afterAll(() => off.close());

  test.for([
    "/sign-up",
    "/sign-in",
    "/sign-up/email",
    "/sign-in/email",
    "/change-password",
    "/request-password-reset",
    "/reset-password",
  ])("%s answers 403 whatever is sent", async (path) => {
    for (const body of [ann, {}]) {
      const answer = await off.post(path, body, { headers: { origin } });
      // From an unlisted origin it is a 403, too.
      expect(answer).toMatchObject({
        status: 403,
        body: { code: "FORBIDDEN", error: expect.stringMatching(/password/) },
      });
    }
  });
});
