// If this file fails, a session or an API key that has ended, or is another user's, lets somebody in or gets a new key.
import { beforeAll, expect, test } from "vitest";
import { database, waitsForLock } from "../support/database.ts";

const db = database();
const hash = (byte: string) => Buffer.from(byte.repeat(32), "hex");
const hashes = { live: hash("01"), over: hash("02"), banned: hash("03") };

beforeAll(async () => {
  await db.sql(`alter table auth."user" add column banned boolean`); // as better-auth's plugin admin
  await db.sql(`insert into auth."user" (id, name, email, banned) values
    ('ann', 'Ann', 'ann@x.test', false), ('bob', 'Bob', 'bob@x.test', false), ('eve', 'Eve', 'eve@x.test', true)`);
  await db.sql(`insert into auth.session (id, user_id, token, expires_at) values
    ('live', 'ann', 'live token', 'tomorrow'), ('over', 'ann', 'over token', 'yesterday'),
    ('of bob', 'bob', 'token of bob', 'tomorrow')`);
  for (const [id, user, day] of [
    ["live", "ann", "tomorrow"],
    ["over", "ann", "yesterday"],
    ["banned", "eve", "tomorrow"],
  ] as const)
    await db.sql(
      `insert into auth.api_key (id, user_id, name, start, hash, scopes, expires_at) values ($1, $2, 'x', 'svc_', $3, '{*}', $4)`,
      [`${id} key`, user, hashes[id], day],
    );
});

const answer = async (call: string, ...values: unknown[]) => (await db.sql(`select ${call} as it`, values))[0]?.it;

test("only a session and a key that live count as a session", async () => {
  const ids = ["live", "over", "live key", "over key", "banned key", "unknown"];
  const live = [];
  for (const id of ids) if (await answer("auth.has_session($1)", id)) live.push(id);
  expect(live).toEqual(["live", "live key"]);
  const ended = await db.sql("select * from auth.list_ended_sessions($1)", [ids]);
  expect(ended.flatMap(Object.values).sort()).toEqual(["over", "over key", "unknown"]);
});

test("a token finds its session while that lives", async () => {
  const found = async (token: string) =>
    (await db.sql("select session_id from auth.find_session($1)", [token])).map((row) => row.session_id);
  expect([await found("live token"), await found("over token"), await found("unknown")]).toEqual([["live"], [], []]);
});

test("a JWT is valid for a session that lives, its user, and the user's present version", async () => {
  const [row] = await db.sql("select version from auth.find_session('live token')");
  const version = BigInt(row?.version);
  const valid = async (session: string, user: string, v: bigint) =>
    (await db.sql("select * from auth.check_session($1, $2, $3)", [session, user, v])).length;
  expect([
    await valid("live", "ann", version),
    await valid("over", "ann", version),
    await valid("live", "bob", version),
    await valid("live", "ann", version - 1n),
  ]).toEqual([1, 0, 0, 0]);
});

test("a key is found while it and its user may act", async () => {
  const found = await db.sql("select key_id, is_due from auth.find_api_keys($1)", [Object.values(hashes)]);
  expect(found).toEqual([{ key_id: "live key", is_due: true }]);
});

test("the use of a key is noted once in ten minutes", async () => {
  const used = async (at: string) => {
    await db.sql("update auth.api_key set last_used_at = now() - $1::interval where id = 'live key'", [at]);
    await db.sql("select auth.note_api_key_use('live key')");
    return (await db.sql("select now() - last_used_at < '1 minute' as now from auth.api_key where id = 'live key'"))[0]
      ?.now;
  };
  expect([await used("11 minutes"), await used("9 minutes")]).toEqual([true, false]);
});

test("a new key is for the person of a session that lives, and counts that person's live keys alone", async () => {
  let byte = 16;
  const add = async (session: string, person: string, most: number) => {
    const [row] = await db.sql(
      "select refused from auth.insert_api_key($1, $2, $2, 'x', 'svc_', $3, '{*}', '1 day', $4)",
      [session, person, hash((byte++).toString(16)), most],
    );
    return row?.refused;
  };
  expect(await add("of bob", "ann", 9)).toBe("ended");
  expect(await add("over", "ann", 9)).toBe("ended");
  expect(await add("live", "ann", 1)).toBe("many");
  expect(await add("live", "ann", 2)).toBe(null); // the one that is over does not count
  expect(await add("live", "ann", 2)).toBe("many");
  expect(await add("of bob", "bob", 1)).toBe(null);
});

test("a sign-in opens its session only with the password that was checked, of that very account", async () => {
  const open = async () =>
    (await db.sql("select session_id from auth.open_session('live token', 'checked', null, null, null)")).length;
  const account = (provider: string, id: string, password: string) =>
    db.sql(
      `insert into auth.account (id, user_id, provider_id, account_id, password, created_at, updated_at)
       values (gen_random_uuid(), 'ann', $1, $2, $3, now(), now())`,
      [provider, id, password],
    );
  await account("other", "ann", "checked");
  await account("credential", "bob", "checked");
  expect(await open()).toBe(0);
  await account("credential", "ann", "changed meanwhile");
  expect(await open()).toBe(0);
  await db.sql("update auth.account set password = 'checked' where password = 'changed meanwhile'");
  expect(await open()).toBe(1);
});

test("keys are removed of their user alone, all or one", async () => {
  const left = async () =>
    (await db.sql("select id from auth.api_key where id like '% key' order by id")).map(({ id }) => id);
  await db.sql("select auth.remove_api_keys('ann', 'banned key')");
  await db.sql("select auth.remove_api_keys('bob', 'live key')");
  expect(await left()).toEqual(["banned key", "live key", "over key"]);
  await db.sql("select auth.remove_api_keys('ann', 'over key')");
  expect(await left()).toEqual(["banned key", "live key"]);
  await db.sql("select auth.remove_api_keys('ann', null)");
  expect(await left()).toEqual(["banned key"]);
});

test("scopes limit API keys and callers without an account, and neither users nor the system", async () => {
  const client = await db.connect("admin");
  const may = async (role: string, user: string) => {
    await client.query("begin");
    await client.query("select set_config('svc.user_id', $1, true), set_config('role', $2, true)", [user, role]);
    const { rows } = await client.query("select svc.has_scope('notes:read') as it");
    await client.query("rollback");
    return rows[0].it;
  };
  expect([
    await may("svc_authenticated", "ann"),
    await may("svc_authenticated", "ann\tvisit\tboss"),
    await may("svc_system", ""),
    await may("svc_authenticated", "ann\tkey\tnotes:write notes:read"),
    await may("svc_authenticated", "ann\tkey\t*"),
  ]).toEqual([true, true, true, true, true]);
  expect([
    await may("svc_anonymous", ""),
    await may("svc_authenticated", "ann\tkey\tnotes:write"),
    await may("svc_authenticated", "ann\tlater\t*"),
  ]).toEqual([false, false, false]);
});

test("the actor is the user, what stands for the user, or the system", async () => {
  const client = await db.connect("admin");
  const actor = async (role: string, user: string, set = "") => {
    await client.query("begin");
    const values = [user, role, set];
    await client.query(
      "select set_config('svc.user_id', $1, true), set_config('role', $2, true), set_config('svc.actor', $3, true)",
      values,
    );
    const { rows } = await client.query("select svc.current_actor() as it");
    await client.query("rollback");
    return rows[0].it;
  };
  const service = "service_00000000-0000-4000-8000-000000000001";
  expect([
    await actor("svc_authenticated", "ann"),
    await actor("svc_authenticated", "ann", "job"),
    await actor("svc_authenticated", "ann\tvisit\tboss"),
    await actor("svc_authenticated", "ann\tkey\t*"),
    await actor("svc_authenticated", `${service}\tkey\t*`),
    await actor("svc_authenticated", service, "job"),
    await actor("svc_system", "", "job"),
    await actor("svc_anonymous", ""),
  ]).toEqual(["user", "job", "visit", "key", "service", "job", "system", null]);
});

test("only an encrypted value of a column for such values is encrypted again", async () => {
  const [old, next] = ["$ba$1$old", "$ba$2$next"];
  const reseal = (column: string, from: string, to: string, table = "auth.account") =>
    db.sql("select svc_private.reseal($1, $2, $3, $4) as it", [table, column, from, to]).then(
      ([row]) => row?.it,
      ({ code }) => code,
    );
  await db.sql("update auth.account set access_token = $1, password = 'a hash' where provider_id = 'other'", [old]);
  expect(await reseal("access_token", old, "plain")).toBe("22023");
  expect(await reseal("password", "a hash", next)).toBe("22023");
  expect(await reseal("name", old, next, "svc.storage_objects")).toBe("22023");
  expect([await reseal("access_token", old, next), await reseal("access_token", old, next)]).toEqual([true, false]);
});

test("a ban ends with its time", async () => {
  await db.sql(`alter table auth."user" add column ban_expires timestamptz`);
  const may = async (until: string | null) => {
    await db.sql(`update auth."user" set ban_expires = $1 where id = 'eve'`, [until]);
    return answer("auth.may_act('eve')");
  };
  expect([await may(null), await may("tomorrow"), await may("yesterday")]).toEqual([false, false, true]);
});

test("of two processes that add a signing key at once, the second one waits and takes the first one's", async () => {
  const add = (id: string) => `select auth.add_key('${id}', 'public', 'private', '{}') as it`;
  const [one, other] = [await db.connect("admin"), await db.connect("admin")];
  await db.sql("delete from auth.jwks");
  await one.query("begin");
  expect((await one.query(add("one"))).rows).toEqual([{ it: true }]);
  const late = other.query(add("other"));
  await expect.poll(() => db.sql(waitsForLock)).toHaveLength(1);
  await one.query("commit");
  expect((await late).rows).toEqual([{ it: false }]);
});

test("a key waits for another one of its account, and the end of a session for a key that it is about to give", async () => {
  await db.sql(
    "insert into auth.session (id, user_id, token, expires_at) values ('brief', 'bob', 'brief', 'tomorrow')",
  );
  await db.sql("delete from auth.api_key where user_id = 'bob'");
  const add = (byte: string) =>
    `select refused from auth.insert_api_key('brief', 'bob', 'bob', 'x', 'svc_', '\\x${byte.repeat(32)}', '{*}', '1 day', 1)`;
  const [one, other] = [await db.connect("admin"), await db.connect("admin")];
  await one.query("begin");
  expect((await one.query(add("41"))).rows).toEqual([{ refused: null }]);
  const late = other.query(add("42"));
  await expect.poll(() => db.sql(waitsForLock)).toHaveLength(1);
  await one.query("commit");
  expect((await late).rows).toEqual([{ refused: "many" }]);

  await db.sql("delete from auth.api_key where user_id = 'bob'");
  await one.query("begin");
  await one.query(add("43"));
  const ended = other.query("delete from auth.session where id = 'brief'");
  await expect.poll(() => db.sql(waitsForLock)).toHaveLength(1);
  await one.query("commit");
  await ended;
  await db.sql("select auth.remove_api_keys('bob', null)"); // as at a change of the password: it finds the key
  expect(await db.sql("select from auth.api_key where user_id = 'bob'")).toEqual([]);
});

test("the use of a key that another transaction writes is not noted, without waiting", async () => {
  await db.sql(
    `insert into auth.api_key (id, user_id, name, start, hash, scopes, expires_at)
    values ('used', 'bob', 'x', 'svc_', $1, '{*}', 'tomorrow')`,
    [hash("51")],
  );
  const [writing, noting] = [await db.connect("admin"), await db.connect("admin")];
  await writing.query("begin; update auth.api_key set name = 'y' where id = 'used'");
  await noting.query("set lock_timeout to '1s'");
  await noting.query("select auth.note_api_key_use('used')");
  await writing.query("rollback");
});

test("what ends a session, a key or its rights is told, and what does not is not", async () => {
  await db.sql(`insert into auth.session (id, user_id, token, expires_at) values ('told', 'bob', 'told', 'tomorrow')`);
  const listener = await db.connect("admin");
  const heard: string[] = [];
  listener.on("notification", ({ payload }) => heard.push(payload ?? ""));
  await listener.query("listen svc_auth");
  const told = async (change: string) => {
    heard.length = 0;
    await listener.query(change);
    await listener.query("select"); // behind the notice
    return heard.length;
  };
  const session = (change: string) => told(`update auth.session set ${change} where id = 'told'`);
  const key = (change: string) => told(`update auth.api_key set ${change} where id = 'used'`);
  expect([
    await session("expires_at = expires_at - interval '1 hour'"),
    await session("user_id = 'eve'"),
    await told("update auth.session set id = 'told again' where id = 'told'"),
    await key("expires_at = expires_at - interval '1 hour'"),
    await key("user_id = 'eve'"),
    await key("scopes = '{notes:read}'"),
    await key("hash = sha256('other')"),
    await told("update auth.api_key set id = 'used again' where id = 'used'"),
  ]).toEqual(Array(8).fill(1));
  expect([
    await told("update auth.session set expires_at = expires_at + interval '1 hour' where id = 'told again'"),
    await told("update auth.api_key set last_used_at = now() where id = 'used again'"),
  ]).toEqual([0, 0]);
});

test("a signing key is listed until it expires", async () => {
  await db.sql(`delete from auth.jwks`);
  await db.sql(`insert into auth.jwks (id, public_key, private_key, alg, crv, created_at, expires_at)
    select id, 'public', 'private', 'EdDSA', 'Ed25519', now(), expires_at
      from (values ('signs', null), ('retired', 'tomorrow'), ('over', 'yesterday'::timestamptz)) as k (id, expires_at)`);
  const listed = await db.sql("select id from auth.list_keys() order by id");
  expect(listed.map(({ id }) => id)).toEqual(["retired", "signs"]);
});
