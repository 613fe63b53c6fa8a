// If this file fails, a revoked, expired or stolen API key still opens something, or keys cost more than they may.

import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { join } from "node:path";
import { admin } from "better-auth/plugins";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { defineAuth } from "../../src/contract/auth.ts";
import { isKey, makeKey } from "../../src/kit/key-format.ts";
import { mask } from "../../src/telemetry/mask.ts";
import { database } from "../support/database.ts";
import { migrateAuth } from "../support/plugin-tables.ts";
import { type Answer, TestService, type User } from "../support/service.ts";
import { sockets } from "../support/sockets.ts";
import { api, auth, createTables, schema } from "./api-keys-application.ts";

const db = database("platform");
const definition = defineAuth({
  ...auth,
  betterAuth: (defaults) => ({ ...defaults, plugins: [admin()] }),
});
/** Two processes' worth of caches in one, and a third one that is a process. */
const here = new TestService(db, api, {}, schema, undefined, definition);
const there = new TestService(db, api, {}, schema, undefined, definition);
const connect = sockets(there);

beforeAll(async () => {
  await migrateAuth(db, definition);
  await createTables(db);
  await Promise.all([here.start(), there.start()]);
});
afterAll(() => Promise.all([here.stop(), there.stop()]));

const body = { name: "sync", scopes: ["tickets:read"] };
const create = (user: User, input: object = {}) => here.post("/api/auth/api-keys", { ...body, ...input }, user);
const as = (user: User, key: string): User => ({ ...user, token: key, sessionToken: key });
const send = (method: string, path: string, user: User): Promise<Answer> =>
  here.fetch(path, { method, headers: { authorization: `Bearer ${user.token}` } });
const list = async (user: User) => (await send("GET", "/api/auth/api-keys", user)).body.apiKeys;

/** A user with a key that both services know by now. */
async function known(input: object = {}): Promise<{ user: User; key: User; id: string }> {
  const user = await here.signUp("owner");
  const { body: made } = await create(user, input);
  const key = as(user, made.key);
  for (const service of [here, there]) expect((await service.query(key, "tickets.list")).status).toBe(200);
  return { user, key, id: made.id };
}
const statuses = async (key: User) =>
  [(await here.query(key, "tickets.list")).status, (await there.query(key, "tickets.list")).status].join();

describe("creating a key", () => {
  test("shows it once; the database has its hash, lists its beginning", async () => {
    const user = await here.signUp("ann");
    const {
      status,
      body: made,
      headers,
    } = await create(user, { scopes: ["tickets:write", "tickets:read", "tickets:read"] });
    expect([status, headers.get("cache-control")]).toEqual([200, "no-store"]);
    const { key, ...rest } = made;
    expect(key).toMatch(/^acme_[\w-]{48}$/);
    expect(rest).toMatchObject({
      name: "sync",
      scopes: ["tickets:write", "tickets:read"],
      start: key.slice(0, 11),
      lastUsedAt: null,
    });
    expect(Date.parse(made.expiresAt) - Date.parse(made.createdAt)).toBe(365 * 24 * 60 * 60 * 1000);
    expect(await list(user)).toEqual([rest]);
    const [row] = await db.sql("select * from auth.api_key where id = $1", [made.id]);
    expect(row?.hash).toEqual(createHash("sha256").update(key).digest());
    expect(JSON.stringify(row)).not.toContain(key.slice(11));
    expect(here.logged.join("")).not.toContain(key.slice(11));
  });

  test.for<[string, object]>([
    ["a scope that is not declared", { scopes: ["tickets:reads"] }],
    ["no scope", { scopes: [] }],
    ["no name", { name: " " }],
    ["a life of no days", { expiresInDays: 0 }],
    ["a life of more than ten years", { expiresInDays: 3_651 }],
    ["an unknown member", { userId: "somebody" }],
  ])("is refused with %s", async ([, input]) => {
    const user = await here.signUp("ann");
    expect((await create(user, input)).body.code).toBe("VALIDATION_FAILED");
    expect(await list(user)).toEqual([]);
  });

  test("is limited, also for requests that come together", async () => {
    const user = await here.signUp("ann");
    const made = await Promise.all(Array.from({ length: 6 }, () => create(user)));
    expect(made.map(({ status }) => status).sort()).toEqual([200, 200, 200, 409, 409, 409]);
    expect(await list(user)).toHaveLength(3);
    await send("DELETE", `/api/auth/api-keys/${(await list(user))[0].id}`, user);
    expect((await create(user)).status).toBe(200);
  });

  test("takes a session that has not ended, and not an administrator's as the user", async () => {
    const [user, boss] = [await here.signUp("ann"), await here.signUp("boss")];
    await db.sql(`update auth."user" set role = 'admin' where id = $1`, [boss.id]);
    const acting = await here.post(
      "/api/auth/admin/impersonate-user",
      { userId: user.id },
      as(boss, boss.sessionToken),
    );
    expect(acting.status, JSON.stringify(acting.body)).toBe(200);
    const token = acting.body.sessionToken ?? acting.body.session?.token;
    expect((await create(as(user, token))).body).toMatchObject({ code: "FORBIDDEN" });
    await db.sql("alter table auth.session disable trigger user");
    await db.sql("delete from auth.session where user_id = $1", [user.id]);
    await db.sql("alter table auth.session enable trigger user");
    expect((await create(user)).body).toMatchObject({ code: "UNAUTHORIZED" }); // its JWT is still cached
    expect(await db.sql("select from auth.api_key where user_id = $1", [user.id])).toEqual([]);
  });
});

describe("a key that is cached in every process ends with", () => {
  const endings: [string, (one: { user: User; id: string }) => Promise<unknown>][] = [
    ["its revocation", ({ user, id }) => send("DELETE", `/api/auth/api-keys/${id}`, user)],
    ["the revocation of all", ({ user }) => send("DELETE", "/api/auth/api-keys", user)],
    ["the deletion of its row", ({ id }) => db.sql("delete from auth.api_key where id = $1", [id])],
    ["TRUNCATE", () => db.sql("truncate auth.api_key")],
    [
      "an end that was brought forward",
      ({ id }) => db.sql("update auth.api_key set expires_at = now() where id = $1", [id]),
    ],
    ["the deletion of its user", ({ user }) => db.sql('delete from auth."user" where id = $1', [user.id])],
    ["a ban of its user", ({ user }) => db.sql('update auth."user" set banned = true where id = $1', [user.id])],
  ];
  test.for(endings)("%s: calls, sockets and streams", async ([, end]) => {
    const one = await known();
    const socket = await connect(one.key);
    const stream = await fetch(`${there.url}/api/following`, { headers: { authorization: `Bearer ${one.key.token}` } });
    const reader = stream.body?.getReader() as ReadableStreamDefaultReader<Uint8Array>;
    expect((await reader.read()).done).toBe(false);
    await end(one);
    await expect.poll(() => statuses(one.key)).toBe("401,401");
    await expect.poll(() => socket.closed?.code).toBe(4401);
    const rest = async () => {
      while (!(await reader.read()).done);
    };
    await expect(rest()).rejects.toThrow();
  });

  test("fewer scopes: a change of the row counts at once", async () => {
    const { key, id } = await known({ scopes: ["tickets:read", "tickets:write"] });
    expect((await there.mutate(key, "tickets.create", { title: "a" })).status).toBe(200);
    await db.sql("update auth.api_key set scopes = '{tickets:read}' where id = $1", [id]);
    await expect.poll(async () => (await there.mutate(key, "tickets.create", { title: "b" })).status).toBe(403);
    expect(await statuses(key)).toBe("200,200");
  });

  test("the end of a ban brings it back", async () => {
    const { user, key } = await known();
    await db.sql(`update auth."user" set banned = true, ban_expires = now() + '1 hour' where id = $1`, [user.id]);
    await expect.poll(() => statuses(key)).toBe("401,401");
    await db.sql(`update auth."user" set ban_expires = now() - '1 hour'::interval where id = $1`, [user.id]);
    await expect.poll(() => statuses(key)).toBe("200,200");
  });

  test("sign-outs do not touch it", async () => {
    const { user, key } = await known();
    const everywhere = await here.post("/api/auth/sign-out-everywhere", {}, as(user, user.sessionToken));
    expect(everywhere.status).toBe(200);
    expect(await statuses(key)).toBe("200,200");
  });

  test("a ban that ends by its time gives it back, without a notice", async () => {
    const { user, key } = await known();
    const ban = `update auth."user" set banned = true, ban_expires = now() + '2 seconds'::interval where id = $1`;
    await db.sql(ban, [user.id]);
    await expect.poll(() => statuses(key), { interval: 20 }).toBe("401,401");
    await expect.poll(() => statuses(key), { timeout: 20_000 }).toBe("200,200");
  });

  test("its time: its sockets are among those that are asked for", async () => {
    const { user, id, key } = await known();
    expect(await db.sql("select * from auth.list_ended_sessions($1)", [[id, "gone"]])).toEqual([
      { list_ended_sessions: "gone" },
    ]);
    await db.sql("alter table auth.api_key disable trigger user");
    await db.sql("update auth.api_key set expires_at = now() - '1 second'::interval where id = $1", [id]);
    await db.sql("alter table auth.api_key enable trigger user");
    expect(await db.sql("select * from auth.list_ended_sessions($1)", [[id]])).toEqual([{ list_ended_sessions: id }]);
    expect(await db.sql("select auth.has_session($1) as has", [id])).toEqual([{ has: false }]);
    expect((await list(user)).map((one: { id: string }) => one.id)).toEqual([id]);
    await db.sql("update auth.api_key set expires_at = now() - '31 days'::interval where id = $1", [id]);
    await db.sql("select auth.sweep(10)");
    expect(await list(user)).toEqual([]);
    await expect.poll(() => statuses(key)).toBe("401,401");
  });
});

test("another user's key is not found, and stays", async () => {
  const { key, id } = await known();
  const other = await here.signUp("other");
  expect((await send("DELETE", `/api/auth/api-keys/${id}`, other)).status).toBe(404);
  expect((await send("DELETE", "/api/auth/api-keys", other)).body).toEqual({ revoked: 0 });
  expect(await statuses(key)).toBe("200,200");
});

describe("unknown keys", () => {
  test("with a wrong checksum cost no statement, and all are refused alike", async () => {
    const { user, key } = await known();
    const wrong = [
      key.token.slice(0, -1),
      `${key.token}A`,
      key.token.replace(/.$/, (end) => (end === "A" ? "B" : "A")),
      "acme_",
      makeKey("other"),
      `acme_${"é".repeat(48)}`,
    ];
    const answers = await Promise.all(
      [...wrong, makeKey("acme")].map((one) => here.query(as(user, one), "tickets.list").catch(() => null)),
    );
    for (const answer of answers) if (answer) expect([answer.status, answer.body.code]).toEqual([401, "UNAUTHORIZED"]);
    expect(wrong.map((one) => isKey(one, "acme"))).toEqual(wrong.map(() => false));
  });

  test("of the right form wait for one statement at a time, and known ones are not looked up", async () => {
    const { key } = await known();
    const pool = db.pool("admin", 1);
    await pool.query("begin");
    await pool.query("lock table auth.api_key in access exclusive mode");
    const flood = Array.from({ length: 60 }, () => there.query(as(key, makeKey("acme")), "tickets.list"));
    const waiting = async () =>
      (
        await db.sql(
          "select from pg_stat_activity where wait_event_type = 'Lock' and query like '%find_api_keys%' and datname = current_database()",
        )
      ).length;
    await expect.poll(waiting).toBe(1);
    expect((await there.query(key, "tickets.list")).status).toBe(200);
    expect(await waiting()).toBe(1);
    await pool.query("commit");
    expect(new Set((await Promise.all(flood)).map(({ status }) => status))).toEqual(new Set([401]));
  });
});

test("the last use is noted now and then, and no call waits for it", async () => {
  const { user, id, key } = await known();
  const used = async () => (await list(user))[0].lastUsedAt;
  await expect.poll(used).not.toBeNull();
  const first = await used();
  const pool = db.pool("admin", 1);
  await db.sql("update auth.api_key set last_used_at = now() - '9 minutes'::interval where id = $1", [id]);
  await db.sql("notify svc_auth, '{}'"); // forgets what is cached
  await expect.poll(() => statuses(key)).toBe("200,200");
  expect(Date.parse(await used())).toBeLessThan(Date.parse(first));
  await db.sql("update auth.api_key set last_used_at = now() - '11 minutes'::interval where id = $1", [id]);
  await pool.query("begin");
  await pool.query("select from auth.api_key where id = $1 for update", [id]);
  await db.sql("notify svc_auth, '{}'");
  expect(await statuses(key)).toBe("200,200");
  await pool.query("commit");
  await db.sql("notify svc_auth, '{}'");
  await expect
    .poll(async () => {
      await db.sql("notify svc_auth, '{}'");
      await statuses(key);
      return Date.parse(await used()) > Date.parse(first);
    })
    .toBe(true);
});

test("a key is masked in the log and refused as an argument of a job", () => {
  const key = makeKey("acme");
  expect(mask(`failed with ${key}!`)).toBe("failed with [redacted]!");
  expect(mask(key)).toBe("[redacted]");
});

test("a revocation reaches a process that knows the key", async () => {
  const { user, key, id } = await known();
  const script = join(import.meta.dirname, "../support/auth-child.ts");
  const child = spawn(process.execPath, [script, JSON.stringify(db.urls), JSON.stringify(auth)], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  if (!child.stdout) throw new Error("The child has no output.");
  const url = String((await once(child.stdout, "data"))[0]).trim();
  const caller = async () =>
    (await fetch(`${url}/caller`, { headers: { authorization: `Bearer ${key.token}` } })).json();
  expect(await caller()).toMatchObject({ id, user: { id: user.id }, key: { id, scopes: ["tickets:read"] } });
  await send("DELETE", `/api/auth/api-keys/${id}`, user);
  await expect.poll(caller).toBeNull();
  child.stdin?.end();
  await once(child, "exit");
});
