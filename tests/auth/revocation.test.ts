// If this file fails, a user who was signed out, deleted or demoted keeps the old access for up to five minutes.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { sql } from "drizzle-orm";
import { decodeJwt } from "jose";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { procedure } from "../fixture/backend/index.ts";
import { type AuthServer, ann, startAuthServer } from "../support/auth-server.ts";
import { database } from "../support/database.ts";
import { PostgresProxy } from "../support/postgres-proxy.ts";
import { apiWith, service } from "../support/service.ts";

const db = database();
let here: AuthServer;
let there: AuthServer;
/** A third server, in a separate process. */
let child: ChildProcess;
let childUrl: string;
beforeAll(async () => {
  await db.sql(`set role svc_owner; alter table auth."user" add role text default 'member'; reset role`);
  [here, there] = await Promise.all([startAuthServer(db), startAuthServer(db)]);
  const script = join(import.meta.dirname, "../support/auth-child.ts");
  child = spawn(process.execPath, [script, JSON.stringify(db.urls)], { stdio: ["pipe", "pipe", "inherit"] });
  if (!child.stdout) throw new Error("The child has no output.");
  const [line] = await once(child.stdout, "data");
  childUrl = String(line).trim();
});
afterAll(async () => {
  child.stdin?.end();
  await Promise.all([here.close(), there.close(), once(child, "exit")]);
});

let people = 0;
const somebody = async () => (await here.signUp({ ...ann, email: `revoked${++people}@example.com` })).body;
const again = async (email: string) => (await here.post("/sign-in", { email, password: ann.password })).body;
const header = (token: string) => ({ authorization: `Bearer ${token}` });
const statusThere = async (token: string) => (await there.get("/me", { bearer: token })).status;
const statusInChild = async (token: string) =>
  (await fetch(`${childUrl}/api/auth/me`, { headers: header(token) })).status;

/** Waits until the servers of this process answer from their caches, and the child knows the token. */
async function believed(token: string, ...others: AuthServer[]): Promise<void> {
  expect(await statusInChild(token)).toBe(200);
  for (const server of [here, there, ...others]) {
    await expect
      .poll(async () => {
        await server.caller(token);
        return server.auth.authenticate(header(token)) instanceof Promise;
      })
      .toBe(false);
  }
}

type Person = Awaited<ReturnType<typeof somebody>>;
const sid = ({ token }: Person) => decodeJwt(token).sid;

// events that end JWTs, and how to cause them
const endings: [string, (person: Person) => Promise<unknown>][] = [
  ["a sign-out", ({ sessionToken }) => here.post("/sign-out", undefined, { bearer: sessionToken })],
  ["the deletion of the session", (person) => db.sql("delete from auth.session where id = $1", [sid(person)])],
  [
    "an end of the session that was brought forward",
    (person) => db.sql("update auth.session set expires_at = now() - interval '1 second' where id = $1", [sid(person)]),
  ],
  ["the deletion of the user", ({ user }) => db.sql('delete from auth."user" where id = $1', [user.id])],
  ["a new role", ({ user }) => db.sql(`update auth."user" set role = 'editor' where id = $1`, [user.id])],
  ["a new address", ({ user }) => db.sql(`update auth."user" set email = 'n' || email where id = $1`, [user.id])],
  ["TRUNCATE", () => db.sql("truncate auth.session")],
];

describe("session tokens", () => {
  const ends = endings.filter(([what]) => !what.startsWith("a new"));
  test.for(ends)("are refused after %s, in every process, although they were remembered", async ([, end]) => {
    const person = await somebody();
    await believed(person.sessionToken);
    await end(person);
    await expect.poll(() => statusThere(person.sessionToken)).toBe(401);
    await expect.poll(() => statusInChild(person.sessionToken)).toBe(401);
    await expect.poll(() => here.caller(person.sessionToken)).toBeNull();
    expect([await statusThere(person.sessionToken), await statusInChild(person.sessionToken)]).toEqual([401, 401]);
  });

  test("show a changed user in every process, although the former one was remembered", async () => {
    const { sessionToken, user } = await somebody();
    await believed(sessionToken);
    await db.sql(`update auth."user" set name = 'Ann the Third' where id = $1`, [user.id]);
    for (const server of [here, there]) {
      await expect.poll(async () => (await server.caller(sessionToken))?.user.name).toBe("Ann the Third");
    }
  });
});

describe("JWTs", () => {
  test.for(endings)("are refused after %s, in every process, although they were remembered", async ([, end]) => {
    const person = await somebody();
    await believed(person.token);
    await end(person);
    await expect.poll(() => statusThere(person.token)).toBe(401);
    await expect.poll(() => statusInChild(person.token)).toBe(401);
    await expect.poll(() => here.caller(person.token)).toBeNull();
    // it stays revoked: no cache has kept it
    expect([await statusThere(person.token), await statusInChild(person.token)]).toEqual([401, 401]);
  });

  test("are refused at once in the process that signs out, without waiting for the notice", async () => {
    const proxy = await PostgresProxy.start(db.url("replication"));
    const deaf = await startAuthServer(db, { listenUrl: proxy.url });
    const { token, sessionToken } = await somebody();
    await believed(token, deaf);
    proxy.mode = "keeps notices";
    expect(deaf.auth.authenticate(header(token))).toMatchObject({ user: { name: ann.name } });
    await deaf.post("/sign-out", undefined, { bearer: sessionToken });
    expect(await deaf.auth.authenticate(header(token))).toBeNull();
    await deaf.close();
    await proxy.stop();
  });

  test("of another session of the same user stay valid", async () => {
    const first = await somebody();
    const second = await again(first.user.email);
    await Promise.all([believed(first.token), believed(second.token)]);
    await here.post("/sign-out", undefined, { bearer: first.sessionToken });
    await expect.poll(() => statusThere(first.token)).toBe(401);
    for (const server of [here, there]) expect(await server.caller(second.token)).toMatchObject({ user: second.user });
    expect(await statusInChild(second.token)).toBe(200);
  });

  test("end with a session whose end was brought forward, also when they are seen in between", {
    timeout: 120_000,
  }, async () => {
    const person = await somebody();
    await believed(person.token);
    // Repeats until this machine lets the state in between be seen.
    for (let seconds = 2, seen = false; !seen; seconds *= 3) {
      const end = "update auth.session set expires_at = now() + make_interval(secs => $2) where id = $1";
      await db.sql(end, [sid(person), seconds]);
      seen = await believed(person.token).then(
        () => true,
        () => false,
      );
    }
    await expect.poll(() => there.caller(person.token)).toBeNull();
    await expect.poll(() => statusInChild(person.token)).toBe(401);
  });

  test("of before a change are replaced by /token, with what has changed", async () => {
    const { token, sessionToken, user } = await somebody();
    await believed(token);
    await db.sql(`update auth."user" set name = 'Ann the Second' where id = $1`, [user.id]);
    await expect.poll(() => statusThere(token)).toBe(401);
    const fresh = (await there.post("/token", undefined, { bearer: sessionToken })).body.token;
    expect(await there.caller(fresh)).toMatchObject({ user: { ...user, name: "Ann the Second" } });
    expect(Number(decodeJwt(fresh).ver)).toBeGreaterThan(Number(decodeJwt(token).ver));
    expect(await statusThere(token)).toBe(401);
  });

  test("stay valid when a session slides, or a write changes nothing", async () => {
    const person = await somebody();
    await believed(person.token);
    const heard = there.log.length;
    await db.sql("update auth.session set expires_at = now() + interval '7 days' where id = $1", [sid(person)]);
    await db.sql('update auth."user" set name = name, updated_at = now() where id = $1', [person.user.id]);
    await db.sql(`notify svc_auth, '{"user":"nobody","session":"the-last"}'`); // heard after whatever else there was
    const notices = () => there.log.slice(heard).filter((line) => line.includes("tokens have ended"));
    await expect.poll(() => notices().some((line) => line.includes("the-last"))).toBe(true);
    expect(notices()).toHaveLength(1);
    expect(await there.caller(person.token)).not.toBeNull();
  });
});

const rename = procedure.mutation.name("revocation.rename").handler(async ({ context }) => {
  const { id } = context.auth.requireAuth().user;
  await context.unsafeDb.execute(sql`update auth."user" set name = 'Renamed' where id = ${id}`);
});
const whoAmI = procedure.query
  .name("revocation.who")
  .handler(async ({ context }) => context.auth.requireAuth().user.name);

describe("two services on one database", () => {
  const shared = database();
  const api = () => apiWith({ procedures: { rename, whoAmI } });
  const settings = { auth: { url: "https://app.test", google: null } } as object;
  const one = service(shared, api(), settings);
  const other = service(shared, api(), settings);

  test("trusted code of one changes a user; the other asks for a new JWT, and goes on with it", async () => {
    const user = await one.signUp("before");
    await expect.poll(() => other.query(user, "revocation.who")).toMatchObject({ status: 200 });
    await one.mutate(user, "revocation.rename");
    await expect.poll(async () => (await other.query(user, "revocation.who")).status).toBe(401);
    const { body } = await other.post("/api/auth/token", undefined, { ...user, token: user.sessionToken });
    const after = await other.query({ ...user, token: body.token }, "revocation.who");
    expect(after).toMatchObject({ status: 200, body: { json: "Renamed" } });
  });
});
