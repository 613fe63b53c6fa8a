// If this file fails, somebody whose session has ended changes the account all the same, or an administrator who acts as a
// user keeps a way into it.
import { admin } from "better-auth/plugins";
import pg from "pg";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { defineAuth } from "../../src/contract/auth.ts";
import type { Client, HandlerAuth } from "../../src/contract/handler-auth.ts";
import type { Session } from "../../src/kit/session.ts";
import { type AuthServer, ann, startAuthServer } from "../support/auth-server.ts";
import { database } from "../support/database.ts";
import { migrateAuth } from "../support/plugin-tables.ts";
import { acts as doors } from "./visit-endpoints.ts";

const definition = defineAuth({
  betterAuth: (defaults) => ({ ...defaults, rateLimit: { enabled: false }, plugins: [admin()] }),
});
const db = database();
let server: AuthServer;
let handlers: HandlerAuth;
beforeAll(async () => {
  await migrateAuth(db, definition);
  server = await startAuthServer(db, { definition });
  handlers = await server.auth.forHandlers();
});
afterAll(() => server.close());

const client: Client = { address: "192.0.2.1", userAgent: "", left: new AbortController().signal };
const acts: Record<string, (session: Session) => Promise<void>> = {
  changeEmail: (session) => handlers.changeEmail(session, `${crypto.randomUUID()}@example.com`, client),
  setPassword: (session) => handlers.setPassword(session, "another horse", client),
  updateUser: (session) => handlers.updateUser(session, { name: "Thief" }),
};
const names = Object.keys(acts);
const act = (name: string, session: Session) => (acts[name] as (typeof acts)[string])(session);

const person = async () => {
  const { user, sessionToken } = (await server.signUp({ ...ann, email: `${crypto.randomUUID()}@example.com` })).body;
  return { id: user.id as string, bearer: sessionToken as string, session: await sessionOf(sessionToken) };
};
const sessionOf = async (bearer: string): Promise<Session> => {
  const session = await server.auth.authenticate({ authorization: `Bearer ${bearer}` });
  if (!session) throw new Error("The session was not found.");
  return session;
};
const accountOf = (id: string) =>
  db.sql(
    `select u.email, u.name, a.password from auth."user" u join auth.account a on a.user_id = u.id where u.id = $1`,
    [id],
  );

let one: Awaited<ReturnType<typeof person>>;
let before: unknown;
beforeEach(async () => {
  one = await person();
  before = await accountOf(one.id);
});

describe.each(names)("%s", (name) => {
  test("changes the account of a live session", async () => {
    await act(name, one.session);
    expect(await accountOf(one.id)).not.toEqual(before);
  });

  test("changes nothing for a session that has ended, whatever this process has heard", async () => {
    await db.sql("delete from auth.session where user_id = $1", [one.id]);
    await expect(act(name, one.session)).rejects.toMatchObject({ code: "UNAUTHORIZED" });
    expect(await accountOf(one.id)).toEqual(before);
  });

  test("changes nothing for a session that has expired", async () => {
    await db.sql("update auth.session set expires_at = now() where user_id = $1", [one.id]);
    await expect(act(name, one.session)).rejects.toMatchObject({ code: "UNAUTHORIZED" });
    expect(await accountOf(one.id)).toEqual(before);
  });

  test("changes nothing for a session that ends with a reset of the password at the same moment", async () => {
    const reset = new pg.Client({ connectionString: db.url("admin") });
    await reset.connect();
    onTestFinished(() => reset.end());
    await reset.query("begin");
    await reset.query(`update auth."user" set updated_at = now() where id = $1`, [one.id]);
    await reset.query("delete from auth.session where user_id = $1", [one.id]);
    const late = act(name, one.session).then(
      () => "done",
      (error) => error.code,
    );
    const { rows } = await reset.query("select pg_backend_pid() as pid");
    const waiting = () => db.sql("select from pg_stat_activity where $1 = any (pg_blocking_pids(pid))", [rows[0].pid]);
    await vi.waitFor(async () => expect(await waiting()).not.toEqual([]), { timeout: 20_000 });
    await reset.query("commit");
    expect(await late).toBe("UNAUTHORIZED");
    expect(await accountOf(one.id)).toEqual(before);
  });
});

test("an administrator who acts as a user sets neither address nor password, which would outlive the visit", async () => {
  const boss = await person();
  await db.sql(`update auth."user" set role = 'admin' where id = $1`, [boss.id]);
  const { body } = await server.post("/admin/impersonate-user", { userId: one.id }, { bearer: boss.bearer });
  const visit = await sessionOf(body.sessionToken);
  expect(visit.user.id).toBe(one.id);
  expect(Object.keys(handlers).sort()).toEqual(Object.keys(doors).sort());
  for (const name of Object.keys(doors).filter((one) => doors[one] === "refused")) {
    await expect(act(name, visit), name).rejects.toMatchObject({ code: "FORBIDDEN" });
  }
  expect(await accountOf(one.id)).toEqual(before);
  await act("updateUser", visit);
  expect(await accountOf(one.id)).not.toEqual(before);
});
