// If this file fails, SQL inside a request can stop uploads, workers or migrations by taking their locks, or can see
// other sessions' locks; or an application has no locks of its own. PostgreSQL alone decides here: the tests use the
// requests' own login.
import type pg from "pg";
import { describe, expect, test } from "vitest";
import { database } from "../support/database.ts";

const db = database();
const roles = ["svc_authenticated", "svc_anonymous"] as const;

async function entered(role: string = roles[0], user = "ann", begin = "begin"): Promise<pg.Client> {
  const client = await db.connect("request");
  await client.query(begin);
  await client.query("select set_config('svc.user_id', $1, true), set_config('role', $2, true)", [user, role]);
  return client;
}

/** Advisory locks of this database: held, or waited for. */
const locks = (granted: boolean) =>
  db.sql<{ classid: number }>(
    `select classid::bigint::int as classid from pg_locks
      where locktype = 'advisory' and granted = $1
        and database = (select oid from pg_database where datname = current_database())`,
    [granted],
  );

test("no function of PostgreSQL's that takes or lists locks, or shows other sessions, may be called by a request", async () => {
  const open = await db.sql(
    `select p.oid::regprocedure::text as name, r.role
       from pg_proc p cross join unnest('{svc_anonymous,svc_authenticated,svc_request}'::text[]) as r (role)
      where p.pronamespace = 'pg_catalog'::regnamespace
        and (p.proname ~ '^pg_(try_)?advisory_(xact_)?lock' or p.proname ~ 'blocking_pids|^pg_lock_status|^pg_stat_get_activity')
        and has_function_privilege(r.role, p.oid, 'execute')`,
  );
  expect(open).toEqual([]);
});

describe.for(roles)("%s", (role) => {
  test.for(["pg_locks", "pg_stat_activity", "pg_stat_replication", "pg_lock_status()", "pg_stat_get_activity(null)"])(
    "does not read %s",
    async (view) => {
      const client = await entered(role);
      await expect(client.query(`select * from ${view}`)).rejects.toThrow(/permission denied/);
    },
  );

  test("locks a name, and the next one waits for the end of the transaction", async () => {
    const [first, second] = [await entered(role), await entered(role, "bob")];
    await first.query("select svc.lock('room 1')");
    const waiting = second.query("select svc.lock('room 1')");
    await expect.poll(() => locks(false)).toHaveLength(1);
    const third = await entered(role);
    expect((await third.query("select svc.try_lock('room 1') as room1, svc.try_lock('room 2') as room2")).rows).toEqual(
      [{ room1: false, room2: true }],
    );
    await first.query("commit");
    await waiting;
    for (const client of [second, third]) await client.query("rollback");
    expect(await locks(true)).toEqual([]);
  });
});

test("whatever the name is, the key is in the half that belongs to applications", async () => {
  const client = await entered();
  for (const name of ["", "svc.storage_uploads bob", "7265021846113", "726502186", "x".repeat(10_000)]) {
    await client.query("select svc.lock($1)", [name]);
  }
  const held = await locks(true);
  expect(held).toHaveLength(5);
  expect(new Set(held.map(({ classid }) => classid))).toEqual(new Set([726502190]));
  await client.query("rollback");
});

test("what waits for a document of one's own holds up nobody else's", async () => {
  const [ann, bob] = [await entered(), await entered(roles[0], "bob")];
  const text = "select svc_hidden.lock_document('default', 'public', 'handbook')";
  await ann.query(text);
  await bob.query(text); // would wait for ever
  await ann.query("rollback");
  await bob.query("rollback");
});

test("a transaction that only reads is told that a lock is of no use to it", async () => {
  for (const call of ["svc.lock('x')", "svc.try_lock('x')"]) {
    const client = await entered(roles[0], "ann", "begin read only");
    await expect(client.query(`select ${call}`)).rejects.toMatchObject({ code: "25006" });
  }
});

test.for(["svc.lock(null)", "svc.try_lock(null)"])("%s is refused", async (call) => {
  await expect((await entered()).query(`select ${call}`)).rejects.toMatchObject({ code: "22004" });
});

test("the platform still takes its own", async () => {
  const auth = await db.connect("auth");
  await expect(auth.query("select auth.sweep(10)")).resolves.toBeTruthy();
  const system = await db.connect("system");
  await expect(system.query("select svc_private.may_remove_bytes()")).resolves.toBeTruthy();
  await expect(system.query("select * from svc_private.ops_blocked")).resolves.toBeTruthy();
});
