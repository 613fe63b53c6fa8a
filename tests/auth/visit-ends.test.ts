// If this file fails, an administrator who is one no longer, or has signed out, still acts as other users, for up to an hour.
import { admin } from "better-auth/plugins";
import { afterAll, beforeAll, expect, test } from "vitest";
import { defineAuth } from "../../src/contract/auth.ts";
import { type AuthServer, ann, startAuthServer } from "../support/auth-server.ts";
import { database, waitsForLock } from "../support/database.ts";
import { migrateAuth } from "../support/plugin-tables.ts";

const definition = defineAuth({
  betterAuth: (defaults) => ({ ...defaults, rateLimit: { enabled: false }, plugins: [admin()] }),
});
const db = database();
const plain = database();
let server: AuthServer;
let chief: string;
let one: string;
beforeAll(async () => {
  await migrateAuth(db, definition);
  server = await startAuthServer(db, { definition });
  chief = (await person("chief", "admin")).bearer;
  one = (await person("one", "user")).id;
});
afterAll(() => server.close());

async function person(name: string, role: string) {
  const { user, sessionToken } = (await server.signUp({ ...ann, email: `${name}@example.com` })).body;
  await db.sql(`update auth."user" set role = $2 where id = $1`, [user.id, role]);
  return { id: user.id as string, bearer: sessionToken as string };
}

const asChief = (path: string, body: object) => server.post(path, body, { bearer: chief });
const bySql = (text: string) => (id: string) => db.sql(`${text} where id = $1`, [id]);

test.for<[how: string, ends: boolean, act: (id: string) => Promise<unknown>]>([
  ["the role is taken away at the endpoint", true, (userId) => asChief("/admin/set-role", { userId, role: "user" })],
  [
    "the row is changed at the endpoint",
    true,
    (userId) => asChief("/admin/update-user", { userId, data: { role: "user" } }),
  ],
  ["the account is banned at the endpoint", true, (userId) => asChief("/admin/ban-user", { userId })],
  ["the account is removed at the endpoint", true, (userId) => asChief("/admin/remove-user", { userId })],
  ["the role is taken away by SQL", true, bySql(`update auth."user" set role = null`)],
  ["the account is banned by SQL", true, bySql(`update auth."user" set banned = true`)],
  ["the account is deleted by SQL", true, bySql(`delete from auth."user"`)],
  ["the account gets another name", false, bySql(`update auth."user" set name = 'Boss'`)],
])("%s: the visit ends, %s", async ([how, ends, act]) => {
  const boss = await person(how.replaceAll(" ", "-"), "admin");
  const { sessionToken } = (await server.post("/admin/impersonate-user", { userId: one }, boss)).body;
  const { token } = (await server.post("/token", {}, { bearer: sessionToken })).body;
  const acting = () => Promise.all([sessionToken, token].map((bearer) => server.caller(bearer)));
  const visit = expect.objectContaining({ visit: boss.id });
  expect(await acting()).toEqual([visit, visit]);
  await act(boss.id);
  if (ends) await expect.poll(acting, { timeout: 10_000 }).toEqual([null, null]);
  else expect(await acting()).toEqual([visit, visit]);
});

test.for<[how: string, act: (boss: { id: string; bearer: string }, session: string) => Promise<unknown>]>([
  ["the administrator signs out", (boss) => server.post("/sign-out", {}, boss)],
  ["the session is deleted by SQL", (_, session) => db.sql("delete from auth.session where id = $1", [session])],
  ["an operator ends it", ({ id }, session) => db.sql("select svc_private.act_end_sessions($1, $2)", [id, session])],
])("%s: the visits that began in this session end, and no others", async ([how, act]) => {
  const email = `${how.replaceAll(" ", "-")}@example.com`;
  const boss = await person(email.slice(0, -"@example.com".length), "admin");
  const elsewhere = { bearer: (await server.post("/sign-in", { ...ann, email })).body.sessionToken as string };
  const sessions = await db.sql<{ id: string }>("select id from auth.session where user_id = $1 order by created_at", [
    boss.id,
  ]);
  const visit = async (by: { bearer: string }) => {
    const { sessionToken } = (await server.post("/admin/impersonate-user", { userId: one }, by)).body;
    return [sessionToken, (await server.post("/token", {}, { bearer: sessionToken })).body.token] as string[];
  };
  const [first, second, other] = [await visit(boss), await visit(boss), await visit(elsewhere)];
  const acting = (bearers: string[]) => Promise.all(bearers.map((bearer) => server.caller(bearer)));
  const lives = expect.objectContaining({ visit: boss.id });
  expect(await acting([...first, ...second, ...other])).toEqual(Array(6).fill(lives));
  await act(boss, sessions[0]?.id ?? "");
  await expect.poll(() => acting([...first, ...second]), { timeout: 10_000 }).toEqual([null, null, null, null]);
  expect(await acting(other)).toEqual([lives, lives]);
});

test("a visit of a session that ends before the visit is bound to it ends, too", async () => {
  const add =
    "insert into auth.session (id, token, user_id, expires_at) values ($1, $1, $2, now() + interval '1 hour')";
  await db.sql(add, ["late-visit", one]);
  const bind = "select auth.bind_visit($1, $2) as lives";
  expect(await db.sql(bind, ["late-visit", "a session that is gone"])).toEqual([{ lives: false }]);
  expect(await db.sql("select from auth.session where id = 'late-visit'")).toEqual([]);
  await db.sql(add, ["late-visit", one]);
  await db.sql(add, ["ending", one]);
  const ending = await db.connect("admin");
  await ending.query("begin; delete from auth.session where id = 'ending'");
  const bound = db.sql(bind, ["late-visit", "ending"]);
  await expect.poll(async () => (await ending.query(waitsForLock)).rows).toHaveLength(1);
  await ending.query("commit");
  expect(await bound).toEqual([{ lives: false }]);
  expect(await db.sql("select from auth.session where id = 'late-visit'")).toEqual([]);
});

test("without the plugin users are changed and deleted", async () => {
  await plain.sql(`insert into auth."user" (id, name, email) values ('a', 'A', 'a@example.com')`);
  await plain.sql(`update auth."user" set name = 'B'`);
  await plain.sql(`delete from auth."user"`);
});
