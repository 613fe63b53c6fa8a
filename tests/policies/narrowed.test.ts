// If this file fails, SQL inside a request reads all users' statements, or a hole in code that runs as svc_system
// allows writing passwords, signing keys or the history of migrations; or svc does not report that two services share
// their logins.
import pg from "pg";
import { describe, expect, test } from "vitest";
import { migrate } from "../../src/migrate/migrate.ts";
import { database } from "../support/database.ts";
import { root } from "../support/global-setup.ts";

const db = database();

describe("statistics of statements", () => {
  const readers = ["svc_anonymous", "svc_authenticated", "svc_request", "svc_auth", "svc_replicator"];

  test("are nobody's but the system's and monitoring's once svc migrate has run", async () => {
    await db.sql("create extension pg_stat_statements schema extensions");
    await migrate({ adminUrl: db.url("admin"), platform: root, application: `${root}/tests/fixture`, again: true });
    const open = await db.sql(
      `select d.objid, role from pg_extension e
         join pg_depend d on d.refobjid = e.oid and d.deptype = 'e', unnest($1::text[]) as role
        where e.extname = 'pg_stat_statements'
          and (d.classid = 'pg_class'::regclass and has_table_privilege(role, d.objid, 'select')
               or d.classid = 'pg_proc'::regclass and has_function_privilege(role, d.objid, 'execute'))`,
      [readers],
    );
    expect(open).toEqual([]);
    const rows = await db.sql(
      `select has_table_privilege('svc_system', 'extensions.pg_stat_statements', 'select') as system,
              has_table_privilege('pg_monitor', 'extensions.pg_stat_statements_info', 'select') as monitor`,
    );
    expect(rows).toEqual([{ system: true, monitor: true }]);
    const request = await db.connect("request");
    await request.query("begin; set local role svc_authenticated");
    await expect(request.query("select * from extensions.pg_stat_statements")).rejects.toThrow("permission denied");
  });
});

describe("svc_system", () => {
  const attempts = [
    "insert into auth.jwks (id, public_key, private_key, alg, crv) values ('x', 'x', 'x', 'EdDSA', 'Ed25519')",
    "update auth.jwks set public_key = 'x'",
    "delete from auth.jwks",
    "insert into auth.account (id, user_id, provider_id, account_id, password) values ('x', 'x', 'credential', 'x', 'x')",
    "update auth.account set password = 'x'",
    "delete from auth.account",
    "delete from svc_private.applied_migrations",
    "update svc_private.applied_sql set checksum = 'x'",
  ];
  test.for(attempts)("does not: %s", async (text) => {
    const system = await db.connect("system");
    await expect(system.query(text)).rejects.toThrow(/permission denied for table/);
  });

  test("encrypts a stored value anew, and puts nothing else there", async () => {
    await db.sql(`insert into auth."user" (id, name, email) values ('ann', 'Ann', 'ann@x.test')`);
    await db.sql(
      `insert into auth.account (id, user_id, provider_id, account_id, password, access_token)
       values ('a', 'ann', 'google', 'x', 'hash', '$ba$1$aa')`,
    );
    const system = await db.connect("system");
    const text = "select svc_private.reseal_values($1, $2, array[$3], array[$4]) as done";
    const reseal = (...values: string[]) => system.query(text, values);
    expect((await reseal("auth.account", "access_token", "$ba$1$aa", "$ba$2$bb")).rows).toEqual([{ done: 1 }]);
    const earlier = "select svc_private.reseal('auth.account', 'access_token', '$ba$2$bb', '$ba$1$aa') as done";
    expect((await system.query(earlier)).rows).toEqual([{ done: true }]);
    expect((await system.query(earlier)).rows).toEqual([{ done: false }]);
    for (const values of [
      ["auth.account", "password", "hash", "$ba$2$bb"],
      ["auth.account", "access_token", "$ba$1$aa", "mine"],
      ["auth.jwks", "private_key", "$ba$1$aa", "$ba$2$bb"],
      ["public.notes", "title", "$ba$1$aa", "$ba$2$bb"],
    ]) {
      await expect(reseal(...values)).rejects.toMatchObject({ code: "22023" });
    }
  });
});

test("databases that share the roles are named", async () => {
  const other = `${db.name}_other`;
  const plain = `${db.name}_plain`;
  const admin = new pg.Client({ connectionString: db.url("admin") });
  await admin.connect();
  try {
    for (const name of [other, plain]) await admin.query(`create database ${name} template template0`);
    await admin.query(`grant create on database ${other} to svc_owner`);
    const system = await db.connect("system");
    const { rows } = await system.query("select name from svc_private.sibling_databases() as name");
    const names = rows.map(({ name }) => name);
    expect(names).toContain(other);
    expect(names).not.toContain(plain);
    expect(names).not.toContain(db.name);
  } finally {
    for (const name of [other, plain]) await admin.query(`drop database if exists ${name} with (force)`);
    await admin.end();
  }
});
