// If this file fails, passwords, tokens or keys can be read by SQL of a request, in an answer, or in the log.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type AuthServer, ann, secret, startAuthServer } from "../support/auth-server.ts";
import { database } from "../support/database.ts";

const db = database();
let server: AuthServer;
beforeAll(async () => {
  server = await startAuthServer(db);
  await server.signUp();
});
afterAll(() => server.close());

const tables = ['auth."user"', "auth.session", "auth.account", "auth.verification", "auth.jwks"];
const calls = [
  "auth.find_session('x')",
  "auth.open_session('x', 'x', null, null, null)",
  "auth.list_keys()",
  "auth.add_key('x', '{}', '\"x\"', '{}')",
  "auth.list_user_columns()",
];
const attempts = [
  ...tables.map((table) => `select * from ${table}`),
  ...tables.map((table) => `insert into ${table} default values`),
  ...tables.map((table) => `update ${table} set id = id`),
  ...tables.map((table) => `delete from ${table}`),
  ...calls.map((call) => `select * from ${call}`),
];

describe.for(["svc_anonymous", "svc_authenticated", "none"])("the requests' login as %s", (role) => {
  test.for(attempts)("may not: %s", async (statement) => {
    const client = await db.connect("request");
    await client.query(`set role ${role}`);
    await expect(client.query(statement)).rejects.toMatchObject({ code: "42501" });
  });
});

describe("svc_auth", () => {
  test("reaches nothing but its schema", async () => {
    const client = await db.connect("auth");
    for (const role of ["svc_owner", "svc_system", "svc_authenticated", "svc_request"]) {
      await expect(client.query(`set role ${role}`)).rejects.toMatchObject({ code: "42501" });
    }
    const { rows } = await client.query(
      `select c.oid::regclass::text as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
        where n.nspname not in ('auth', 'pg_catalog', 'information_schema', 'pg_toast') and c.relkind in ('r', 'p', 'v')
          and has_schema_privilege(n.oid, 'usage') and has_table_privilege(c.oid, 'select, insert, update, delete')`,
    );
    expect(rows).toEqual([]);
  });
});

describe("authentication through a login that it shares", () => {
  test("finds its tables without a search path", async () => {
    await db.sql("create table public.session (id text)"); // a lure: unqualified names would find it
    const shared = await startAuthServer(db, { login: "admin" });
    const { status, body } = await shared.signUp({ ...ann, email: "shared@example.com" });
    expect(status).toBe(200);
    expect(await shared.caller(body.sessionToken)).toMatchObject({ user: body.user });
    await shared.close();
    await db.sql("drop table public.session");
  });
});

describe("a canary password", () => {
  const canary = "canary-Zx81-password";

  test("and all that opens a session shows in no log line and no error", async () => {
    const email = "canary@example.com";
    const seen: string[] = [];
    const up = await server.signUp({ email, password: canary, name: "Canary" });
    const secrets = [canary, up.body.sessionToken, up.body.sessionToken.split(".")[0], up.body.token];
    const answers = [
      await server.signUp({ email, password: canary, name: "Canary" }),
      await server.signUp({ email: "x", password: canary, name: "Canary\0" }),
      await server.post("/sign-in", { email, password: `${canary}!` }),
      await server.post("/sign-in", { email: "nobody@example.com", password: canary }),
      await server.post("/sign-in", undefined, { raw: `{"password":"${canary}"` }),
      await server.post("/sign-in", undefined, { raw: canary, headers: { "content-type": "text/plain" } }),
      await server.get("/me", { bearer: up.body.sessionToken }),
      await server.post("/sign-out", undefined, { bearer: up.body.sessionToken }),
      await server.post("/token", undefined, { bearer: up.body.sessionToken }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([409, 400, 401, 401, 400, 415, 200, 200, 401]);
    seen.push(...answers.map(({ text }) => text));

    // The database refuses: the statement, its parameters and the row are in the driver's error.
    await db.sql('alter table auth."user" add constraint no_more check (false) not valid');
    const broken = await server.signUp({ email: "broken@example.com", password: canary, name: "Canary" });
    await db.sql('alter table auth."user" drop constraint no_more');
    await db.sql("alter table auth.session rename to elsewhere");
    const gone = await server.post("/sign-in", { email, password: canary });
    await db.sql("alter table auth.elsewhere rename to session");
    for (const answer of [broken, gone]) {
      expect(answer.status).toBe(500);
      expect(Object.keys(answer.body)).toEqual(["error", "code", "requestId"]);
      seen.push(answer.text);
    }

    await expect.poll(() => server.log.join("")).toContain(broken.body.requestId);
    for (const value of secrets) {
      expect(server.log.filter((line) => line.includes(value))).toEqual([]);
      expect(seen.filter((text) => text.includes(value))).toEqual([]);
    }
    expect(server.log.filter((line) => line.includes(secret))).toEqual([]);
  });

  test("is stored nowhere, and neither is the secret or an open key", async () => {
    for (const table of tables) {
      const rows = JSON.stringify(await db.snapshot(table));
      for (const value of [canary, secret, '"d"']) expect(rows).not.toContain(value);
    }
  });
});
