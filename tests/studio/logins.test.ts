// If this file fails, Studio's process can read past policies, write, or act without leaving a line.
import { beforeAll, describe, expect, test } from "vitest";
import { webhooksFile } from "../../src/webhooks/webhooks-sql.ts";
import { database } from "../support/database.ts";
import { noteDone } from "../webhooks/definitions.ts";
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
      "svc_private.studio_api_keys",
      "svc_private.studio_ask_channels",
      "svc_private.studio_audit",
      "svc_private.studio_backups",
      "svc_private.studio_columns",
      "svc_private.studio_crons",
      "svc_private.studio_deliveries",
      "svc_private.studio_figures",
      "svc_private.studio_history_key",
      "svc_private.studio_invitations",
      "svc_private.studio_job_history",
      "svc_private.studio_jobs",
      "svc_private.studio_keys",
      "svc_private.studio_match",
      "svc_private.studio_members",
      "svc_private.studio_memberships",
      "svc_private.studio_organizations",
      "svc_private.studio_people",
      "svc_private.studio_queue",
      "svc_private.studio_realtime",
      "svc_private.studio_record",
      "svc_private.studio_row",
      "svc_private.studio_run",
      "svc_private.studio_runs",
      "svc_private.studio_searchable",
      "svc_private.studio_sessions",
      "svc_private.studio_storage",
      "svc_private.studio_tables",
      "svc_private.studio_usage",
      "svc_private.studio_users",
      "svc_private.studio_visits",
      "svc_private.studio_webhooks",
    ],
    relations: [],
  });
});

test("the acting login reaches the acts, and no table", async () => {
  expect(await reach("svc_studio_act")).toEqual({
    functions: [
      "svc_private.act_cancel_invitation",
      "svc_private.act_cancel_job",
      "svc_private.act_cancel_workflow",
      "svc_private.act_change_rows",
      "svc_private.act_end_sessions",
      "svc_private.act_make_owner",
      "svc_private.act_pause_cron",
      "svc_private.act_remove_member",
      "svc_private.act_retry_deliveries",
      "svc_private.act_retry_job",
      "svc_private.act_retry_workflow",
      "svc_private.act_revoke_api_keys",
      "svc_private.act_run_cron",
      "svc_private.act_signal_workflow",
      "svc_private.act_verify_email",
    ],
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

describe("every act", () => {
  beforeAll(async () => {
    opened.commands["crons list"] = [{ name: "notes.nightly", schedule: "0 3 * * *", procedure: "notes.sweep" }];
    await db.sql(
      `insert into svc_private.crons (name, schedule, anchor, last_slot) values ('notes.nightly', '0 3 * * *', now(), now())`,
    );
    await db.sql(`insert into auth."user" (id, name, email) values ('dan', 'Dan', 'dan@example.com')`);
    await db.sql(`insert into auth.session (id, user_id, token, expires_at)
      select 'session ' || i, 'dan', 'token ' || i, now() + interval '1 day' from generate_series(1, 3) i`);
    await db.sql(`insert into svc.workflow_runs (id, name, version, args, status, user_id)
      select id, 'send', 1, '{}', status, 'dan' from (values
        ('00000000-0000-4000-8000-000000000001'::uuid, 'failed'), ('00000000-0000-4000-8000-000000000002', 'pending'),
        ('00000000-0000-4000-8000-000000000003', 'pending')) as r (id, status)`);
    await db.sql(`set role svc_owner; ${webhooksFile([noteDone["~svc"].webhook])}; reset role`);
    await db.sql(`insert into svc.webhook_deliveries (id, webhook, source, endpoint, row_key, body, state, ended_at)
      select id, 'note.done', 'env', 'DONE_HOOK', '', '{"secret":1}', 'dead', now()
        from unnest(array['${dead}', gen_random_uuid()]::uuid[]) id`);
    await db.sql(`insert into auth.api_key (id, user_id, name, start, hash, scopes, expires_at)
      select 'key ' || i, 'dan', 'k', 'x', sha256(i::text::bytea), '{*}', now() + interval '1 day' from generate_series(1, 3) i`);
    await db.sql(`insert into auth."user" (id, name, email) values ('eve', 'Eve', 'eve@example.com');
      insert into svc.organizations (id, name) values ('acme', 'Acme');
      insert into svc.organization_members (org_id, user_id, role) values ('acme', 'dan', 'owner'), ('acme', 'eve', 'member');
      insert into svc.organization_invitations (id, org_id, email, role, invited_by)
        values ('${dead}', 'acme', 'secret@example.com', 'member', 'dan')`);
  });
  const dead = crypto.randomUUID();
  const run = (last: number) => ({ run: `00000000-0000-4000-8000-00000000000${last}` });

  // The second time nothing is left to do, except where an act can be repeated.
  test.each<[input: object, outcome: string, again: "refused" | "repeated"]>([
    [{ act: "act_retry_workflow", ...run(1), from: null }, "accepted", "refused"],
    [{ act: "act_signal_workflow", ...run(2), event: "go", content: { secret: 1 } }, "accepted", "repeated"],
    [{ act: "act_cancel_workflow", ...run(3) }, "accepted", "refused"],
    [{ act: "act_run_cron", cron: "notes.nightly" }, "enqueued job", "repeated"],
    [{ act: "act_pause_cron", cron: "notes.nightly", paused: true }, "paused", "refused"],
    [{ act: "act_pause_cron", cron: "notes.nightly", paused: false }, "resumed", "refused"],
    [{ act: "act_end_sessions", user: "dan", session: "session 1" }, "1 ended", "refused"],
    [{ act: "act_end_sessions", user: "dan", session: null }, "2 ended", "refused"],
    [{ act: "act_verify_email", user: "dan" }, "verified", "refused"],
    [{ act: "act_revoke_api_keys", key: "key 1", user: null }, "1 revoked", "refused"],
    [{ act: "act_revoke_api_keys", key: null, user: "dan" }, "2 revoked", "refused"],
    [{ act: "act_make_owner", organization: "acme", user: "eve" }, "made an owner", "refused"],
    [{ act: "act_cancel_invitation", invitation: dead }, "canceled", "refused"],
    [{ act: "act_remove_member", organization: "acme", user: "dan" }, "removed", "refused"],
    [{ act: "act_retry_deliveries", id: dead, webhook: null }, "retried 1", "refused"],
    [{ act: "act_retry_deliveries", id: null, webhook: "note.done" }, "retried 1", "refused"],
  ])("%j leaves its line; what did nothing leaves none", async (input, outcome, again) => {
    const before = (await lines()).length;
    await opened.ask("act", input);
    const [line] = await lines();
    expect(line).toMatchObject({ act: (input as { act: string }).act, login: "svc_studio_act", via: "svc studio" });
    expect(line?.outcome).toContain(outcome);
    expect(JSON.stringify(line)).not.toContain("secret");
    expect(await lines()).toHaveLength(before + 1);
    expect((await opened.send("act", input)).status).toBe(again === "refused" ? 409 : 200);
    expect(await lines()).toHaveLength(before + (again === "refused" ? 1 : 2));
  });

  test("did what its line says", async () => {
    expect(await db.sql("select count(*)::integer as sessions from auth.session")).toEqual([{ sessions: 0 }]);
    expect(await db.sql(`select email_verified from auth."user" where id = 'dan'`)).toEqual([{ email_verified: true }]);
    expect(await db.sql("select status from svc.workflow_runs order by id")).toEqual([
      { status: "pending" },
      { status: "pending" },
      { status: "cancelled" },
    ]);
    const jobs = await db.sql(`select payload ->> 'procedure' as procedure, payload #>> '{caller,kind}' as kind
      from graphile_worker._private_jobs where payload ->> 'requestId' = 'cron:notes.nightly'`);
    expect(jobs).toEqual([
      { procedure: "notes.sweep", kind: "system" },
      { procedure: "notes.sweep", kind: "system" },
    ]);
  });

  test("takes its own arguments only, and a cron that the application defines", async () => {
    for (const input of [
      { act: "note_act" },
      { act: "act_end_sessions", user: "dan" },
      { act: "act_cancel_workflow", run: "1" },
      { act: "act_run_cron", cron: "notes.nightly", procedure: "secrets.reveal" },
      { act: "act_retry_job", id: "1); select 1; --" },
    ]) {
      expect(await opened.send("act", input)).toMatchObject({ status: 400, body: { code: "VALIDATION_FAILED" } });
    }
    expect((await opened.send("act", { act: "act_run_cron", cron: "other" })).status).toBe(404);
  });

  test("is refused by PostgreSQL to every other login", async () => {
    const calls = [
      "act_end_sessions('dan', null)",
      "act_verify_email('dan')",
      "act_pause_cron('notes.nightly', true)",
      "act_run_cron('notes.nightly', 'notes.sweep')",
      "act_signal_workflow(gen_random_uuid(), 'go', 'null')",
      "act_retry_workflow(gen_random_uuid(), null)",
      "act_cancel_workflow(gen_random_uuid())",
      "act_retry_deliveries(null, null)",
      "act_revoke_api_keys('key 1', null)",
      "act_remove_member('acme', 'eve')",
      "act_make_owner('acme', 'eve')",
      "act_cancel_invitation(gen_random_uuid())",
    ];
    for (const login of ["studioRead", "request", "auth"] as const) {
      const client = await db.connect(login);
      for (const call of calls) {
        await expect(client.query(`select svc_private.${call}`)).rejects.toMatchObject({ code: "42501" });
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
