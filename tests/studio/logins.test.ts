// If this file fails, Studio's process can read past policies, write, or act without leaving a line.
import { describe, expect, test } from "vitest";
import { database } from "../support/database.ts";
import { studio } from "./test-studio.ts";

const db = database();
const opened = studio(db);

/** What the login itself reaches: functions, and privileges on relations. */
const reach = async (login: string) => {
  const functions = await db.sql<{ name: string }>(
    `select distinct format('%s.%s', n.nspname, p.proname) as name
       from pg_proc p join pg_namespace n on n.oid = p.pronamespace
      where n.nspname not in ('pg_catalog', 'information_schema') and n.nspname !~ '^pg_'
        and not exists (select from pg_depend d where d.objid = p.oid and d.deptype = 'e')
        and has_schema_privilege($1, n.oid, 'usage') and has_function_privilege($1, p.oid, 'execute')
      order by 1`,
    [login],
  );
  const relations = await db.sql<{ name: string }>(
    `select c.oid::regclass::text as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where c.relkind in ('r', 'p', 'v', 'm') and n.nspname not in ('pg_catalog', 'information_schema') and n.nspname !~ '^pg_'
        and has_schema_privilege($1, n.oid, 'usage')
        and has_table_privilege($1, c.oid, 'select, insert, update, delete, truncate')
        and not exists (select from pg_depend d where d.objid = c.oid and d.deptype = 'e')`,
    [login],
  );
  return { functions: functions.map(({ name }) => name), relations: relations.map(({ name }) => name) };
};

test("the reading login reaches the named operator functions, and no table", async () => {
  expect(await reach("svc_studio_read")).toEqual({
    functions: [
      "svc_private.studio_access",
      "svc_private.studio_acts",
      "svc_private.studio_columns",
      "svc_private.studio_jobs",
      "svc_private.studio_keys",
      "svc_private.studio_queue",
      "svc_private.studio_row",
      "svc_private.studio_tables",
      "svc_private.studio_users",
    ],
    relations: [],
  });
});

test("the acting login reaches the acts, and no table", async () => {
  expect(await reach("svc_studio_act")).toEqual({
    functions: ["svc_private.act_cancel_job", "svc_private.act_retry_job"],
    relations: [],
  });
});

test("neither stands above policies, and the reading one becomes request roles only", async () => {
  const roles = await db.sql(
    `select rolname::text as name, rolsuper or rolbypassrls or rolcreaterole or rolcreatedb or rolreplication as mighty,
            array(select m.roleid::regrole::text from pg_auth_members m where m.member = r.oid order by 1) as becomes
       from pg_roles r where rolname ~ '^svc_studio' order by 1`,
  );
  expect(roles).toEqual([
    { name: "svc_studio_act", mighty: false, becomes: [] },
    { name: "svc_studio_read", mighty: false, becomes: ["svc_anonymous", "svc_authenticated"] },
  ]);
});

test("a transaction of the reading login reads unless it says otherwise", async () => {
  const client = await db.connect("studioRead");
  await expect(client.query("create table public.mine ()")).rejects.toMatchObject({ code: "25006" });
});

const addDeadJob = async () => {
  const [row] = await db.sql<{ id: string }>(
    `select id::text from graphile_worker.add_job('procedure', '{"procedure":"notes.sweep"}'::json, max_attempts => 1)`,
  );
  await db.sql("update graphile_worker._private_jobs set attempts = 1, last_error = 'no' where id = $1", [row?.id]);
  return String(row?.id);
};
const lines = () =>
  db.sql("select login, via, act, arguments, outcome from svc.operator_acts order by id desc limit 1000");

describe("an act", () => {
  test("leaves exactly one line, which names the login and the program", async () => {
    const id = await addDeadJob();
    expect((await opened.ask("queue", { state: "dead" })).jobs).toMatchObject([{ id, last_error: "no" }]);
    await opened.ask("act", { act: "act_retry_job", id });
    const act = { login: "svc_studio_act", via: "svc studio", arguments: { job: Number(id) } };
    expect(await lines()).toEqual([{ ...act, act: "act_retry_job", outcome: "retried" }]);
    await opened.ask("act", { act: "act_cancel_job", id });
    expect(await lines()).toHaveLength(2);
    expect((await opened.ask("status", {})).acts).toMatchObject([
      { act: "act_cancel_job" },
      { act: "act_retry_job", login: "svc_studio_act" },
    ]);
  });

  test("that did nothing, or was rolled back, leaves none", async () => {
    const before = await lines();
    expect(await opened.send("act", { act: "act_cancel_job", id: "999999" })).toMatchObject({ status: 409 });
    const id = await addDeadJob();
    const client = await db.connect("studioAct");
    await client.query("begin");
    await client.query("select svc_private.act_retry_job($1)", [id]);
    await client.query("rollback");
    expect(await lines()).toEqual(before);
    expect(await db.sql("select attempts::integer from graphile_worker._private_jobs where id = $1", [id])).toEqual([
      { attempts: 1 },
    ]);
  });

  test("cannot be made, nor its line changed or removed, by another login", async () => {
    const id = await addDeadJob();
    const denied = { code: "42501" };
    for (const login of ["studioRead", "request", "auth"] as const) {
      const client = await db.connect(login);
      await expect(client.query("select svc_private.act_retry_job($1)", [id])).rejects.toMatchObject(denied);
    }
    for (const login of ["studioRead", "studioAct", "request", "auth", "system"] as const) {
      const client = await db.connect(login);
      for (const text of [
        "delete from svc.operator_acts",
        "update svc.operator_acts set login = 'x'",
        "insert into svc.operator_acts (via, act, arguments, outcome) values ('x', 'x', '{}', 'x')",
        "select svc_private.note_act('x', '{}', 'x')",
      ]) {
        await client.query("set default_transaction_read_only = off");
        await expect(client.query(text)).rejects.toMatchObject(denied);
      }
    }
  });
});

describe("without the second login", () => {
  const reading = studio(db, false);

  test("every act is refused, and the page is told", async () => {
    const id = await addDeadJob();
    const before = await lines();
    for (const act of ["act_retry_job", "act_cancel_job"]) {
      expect(await reading.send("act", { act, id })).toMatchObject({ status: 403, body: { code: "FORBIDDEN" } });
    }
    expect(await reading.ask("status", {})).toMatchObject({ mayAct: false });
    expect(await lines()).toEqual(before);
  });
});
