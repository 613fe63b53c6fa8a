// If this file fails, svc's frequent statements read whole tables, and slow down as these grow.
import type pg from "pg";
import { expect, test } from "vitest";
import { database } from "../support/database.ts";

const db = database();

/** Rows of a table that this transaction has read, in any way. */
async function rowsRead(client: pg.Client, table: string): Promise<number> {
  const { rows } = await client.query(
    "select (seq_tup_read + coalesce(idx_tup_fetch, 0))::int as read from pg_stat_xact_all_tables where relid = $1::regclass",
    [table],
  );
  return rows[0].read;
}

test("who holds jobs, and which of them a worker lost, is found without reading the queue", async () => {
  await db.sql("insert into graphile_worker._private_tasks (identifier) values ('procedure') on conflict do nothing");
  await db.sql(
    `insert into graphile_worker._private_jobs (task_id, run_at, locked_by, locked_at)
       select (select id from graphile_worker._private_tasks where identifier = 'procedure'), now() + interval '1 day',
              case when n % 5000 < 2 then 'worker ' || n % 2 end, case when n % 5000 < 2 then now() - interval '1 minute' end
         from generate_series(1, 20000) n`,
  );
  const client = await db.connect("admin");
  await client.query("begin");
  const dead = await client.query("select worker, rescued from svc_private.rescue_workers('{worker 1}', '0 s')");
  expect(dead.rows).toEqual(
    expect.arrayContaining([
      { worker: "worker 0", rescued: false },
      { worker: "worker 1", rescued: true },
    ]),
  );
  const lost = await client.query("select job from svc_private.return_lost_jobs('worker 0', '{}', '{}')");
  expect(lost.rowCount).toBe(4);
  const read = await client.query(
    "select seq_scan::int as scans from pg_stat_xact_all_tables where relid = 'graphile_worker._private_jobs'::regclass",
  );
  expect(read.rows).toEqual([{ scans: 0 }]);
  await client.query("rollback");
});

/** Pages that a statement reads. The least of some times: where autovacuum has analyzed a table meanwhile, it is planned again. */
const pagesOf = (client: pg.Client) => async (statement: string) => {
  // PostgreSQL uses a generic plan after the fifth execution.
  for (let time = 0; time < 7; time++) await client.query(statement);
  let least = Number.POSITIVE_INFINITY;
  for (let time = 0; time < 3; time++) {
    const { rows } = await client.query(`explain (analyze, buffers, format json) ${statement}`);
    const { "Shared Hit Blocks": hit, "Shared Read Blocks": read } = rows[0]["QUERY PLAN"][0].Plan;
    least = Math.min(least, hit + read);
  }
  return least;
};

/** Until rows need not be looked up to see whether they are there: an older snapshot, as of autovacuum, keeps pages unmarked. */
const vacuum = (table: string) =>
  expect
    .poll(
      async () => {
        await db.sql(`vacuum analyze ${table}`);
        // Rows that were rolled back may keep the last page.
        return db.sql("select relallvisible >= relpages - 1 as marked from pg_class where oid = $1::regclass", [table]);
      },
      { timeout: 60_000 },
    )
    .toEqual([{ marked: true }]);

test("what is due, and how the queue does, is found without reading what is scheduled for later", async () => {
  await vacuum("graphile_worker._private_jobs");
  const client = await db.connect("admin");
  const pages = pagesOf(client);
  await client.query("begin");
  // The whole index of runnable jobs has about 180 pages, the table 450.
  expect(await pages("select * from svc_private.claim_job('a worker', '{1,2,3}')")).toBeLessThan(40);
  expect(await pages("select * from svc_private.queue_state()")).toBeLessThan(150);
  const { rows } = await client.query("select * from svc_private.queue_state()");
  expect(rows).toEqual([
    { due: "0", running: "8", scheduled: "19992", failing: "0", dead: "0", oldest_due_seconds: 0 },
  ]);
  await client.query("rollback");
});

test("a job is claimed without reading all that are done, while a transaction keeps vacuum from removing them", async () => {
  const holder = await db.connect("admin");
  await holder.query("begin isolation level repeatable read; select from graphile_worker._private_jobs limit 1");
  const due = (count: number, from: string) =>
    db.sql(
      `insert into graphile_worker._private_jobs (task_id, run_at)
       select (select min(id) from graphile_worker._private_tasks), now() - interval '${from}' + n * interval '1 s'
         from generate_series(1, ${count}) n`,
    );
  await due(3000, "1 hour");
  await db.sql("delete from graphile_worker._private_jobs where run_at < now() and locked_by is null");
  await due(20, "20 s");
  const client = await db.connect("admin");
  await client.query("begin");
  const claim = "svc_private.claim_job('w', array(select id from graphile_worker._private_tasks)";
  expect(await pagesOf(client)(`select * from ${claim}, now() - interval '15 s')`)).toBeLessThan(100);
  // A search from the beginning also finds what was due earlier.
  const { rows } = await client.query(
    `select run_at = (select min(run_at) from graphile_worker._private_jobs where is_available) as is_first from ${claim})`,
  );
  expect(rows).toEqual([{ is_first: true }]);
  await client.query("rollback");
  await holder.query("rollback");
  await db.sql("delete from graphile_worker._private_jobs where run_at < now() and locked_by is null");
});

test("each state of the queue is counted, and jobs are claimed by their urgency, then their time", async () => {
  const client = await db.connect("admin");
  await client.query("begin; truncate graphile_worker._private_jobs");
  await client.query(
    `insert into graphile_worker._private_jobs (task_id, priority, run_at, attempts, max_attempts, locked_at, locked_by, key)
       select (select id from graphile_worker._private_tasks where identifier = 'procedure'), priority,
              now() + due * interval '1 minute', attempts, 10, case when held then now() end, case when held then 'x' end, key
         from (values (0, 5, 0, false, 'later'), (0, -1, 0, false, 'second'), (0, -9, 10, false, 'dead'),
                      (0, -2, 1, false, 'first'), (0, -3, 1, true, 'held'), (-1, 7, 2, false, 'urgent, later'),
                      (1, -8, 0, false, 'third')) j (priority, due, attempts, held, key)`,
  );
  const { rows } = await client.query("select * from svc_private.queue_state()");
  expect(rows).toEqual([{ due: "3", running: "1", scheduled: "1", failing: "1", dead: "1", oldest_due_seconds: 480 }]);
  const listed = await client.query(
    "select jsonb_object_agg(key, state) as states from svc_private.list_jobs(null, null, 9) join graphile_worker._private_jobs using (id)",
  );
  expect(listed.rows[0].states).toEqual({
    first: "due",
    second: "due",
    third: "due",
    held: "running",
    later: "scheduled",
    dead: "dead",
    "urgent, later": "failing",
  });
  const shown = await client.query(
    `select key, state from unnest('{due,running,scheduled,failing,dead}'::text[]) state,
       svc_private.studio_jobs(state, 9) join graphile_worker._private_jobs using (id)`,
  );
  expect(Object.fromEntries(shown.rows.map(({ key, state }) => [key, state]))).toEqual(listed.rows[0].states);
  expect(shown.rowCount).toBe(7);
  const claim = async () =>
    (
      await client.query(
        "select key, attempts, locked_by from svc_private.claim_job('w', array(select id from graphile_worker._private_tasks))",
      )
    ).rows;
  expect(await claim()).toEqual([{ key: "first", attempts: 2, locked_by: "w" }]);
  expect(await claim()).toEqual([{ key: "second", attempts: 1, locked_by: "w" }]);
  expect(await claim()).toEqual([{ key: "third", attempts: 1, locked_by: "w" }]);
  expect(await claim()).toEqual([]);
  expect((await client.query("select * from svc_private.claim_job('w', '{}')")).rows).toEqual([]);
  await client.query("rollback");
});

test("of the jobs of which two workers have died, a worker gets one at a time", async () => {
  const client = await db.connect("admin");
  await client.query("begin; truncate graphile_worker._private_jobs");
  await client.query(
    `insert into graphile_worker._private_jobs (task_id, run_at, flags, key)
       select (select id from graphile_worker._private_tasks where identifier = 'procedure'), now() + n * interval '1 second',
              jsonb_build_object('deaths', deaths), key
         from (values (-9, 2, 'one'), (-8, 3, 'other'), (-7, 1, 'died once'), (-6, null, 'fresh')) j (n, deaths, key)`,
  );
  const claim = async (worker: string) => {
    const kinds = "array(select id from graphile_worker._private_tasks)";
    return (await client.query(`select key from svc_private.claim_job($1, ${kinds})`, [worker])).rows[0]?.key;
  };
  expect([await claim("a"), await claim("a"), await claim("a"), await claim("a")]).toEqual([
    "one",
    "died once",
    "fresh",
    undefined,
  ]);
  expect(await claim("b")).toBe("other");
  await client.query("rollback");
});

test("the run that has waited longest for others of its name is found without reading those that wait", async () => {
  await db.sql(
    `insert into svc.workflow_runs (name, version, args, wait_marker, max_running, created_at)
       select 'crowd', 1, '{}', 'slot', 1, now() - n * interval '1 second' from generate_series(1, 5000) n`,
  );
  const client = await db.connect("admin");
  await client.query("begin");
  const ended = "select r from svc.workflow_runs r where name = 'crowd' order by created_at desc limit 1";
  await client.query(`select svc_private.free_slot((${ended}))`);
  const freed = await client.query(
    "select created_at = (select min(created_at) from svc.workflow_runs where name = 'crowd') as oldest " +
      "from svc.workflow_runs where name = 'crowd' and wait_marker is null",
  );
  expect(freed.rows).toEqual([{ oldest: true }]);
  await client.query("rollback; begin");
  const before = await rowsRead(client, "svc.workflow_runs");
  await client.query("select svc_private.free_slot(r) from svc.workflow_runs r where name = 'crowd' limit 1");
  expect((await rowsRead(client, "svc.workflow_runs")) - before).toBeLessThan(100);
  await client.query("rollback");
});

test("rows of one's teams are found by an index, and not among those of all teams", async () => {
  await db.sql("create index boards_team on public.boards (team_id)");
  await db.sql(`insert into auth."user" (id, name, email) values ('ann', 'Ann', 'ann@x.test')`);
  await db.sql("insert into public.memberships (team_id, user_id) values ('team 7', 'ann')");
  await db.sql(
    "insert into public.boards (team_id, name) select 'team ' || n % 500, 'x' from generate_series(1, 20000) n",
  );
  await db.sql("analyze public.boards, public.memberships");
  const client = await db.connect("admin");
  await client.query("begin");
  await client.query("select set_config('svc.user_id', 'ann', true), set_config('role', 'svc_authenticated', true)");
  expect((await client.query("select count(*)::int as own from public.boards")).rows).toEqual([{ own: 40 }]);
  await client.query("reset role");
  expect(await rowsRead(client, "public.boards")).toBeLessThan(100);
  await client.query("rollback");
});

test("a user's own row is found without reading those of all users", async () => {
  const client = await db.connect("admin");
  await client.query("set jit = off"); // it would compile the check of a foreign key for each row
  const users = "generate_series(1, 8000) n";
  await client.query(
    `insert into auth."user" (id, name, email) select 'u' || n, 'U', 'u' || n || '@x.test' from ${users}`,
  );
  await client.query(
    `insert into svc.rag_sources (corpus, visibility, owner_id, key, title, language, checksum)
       select 'notes', 'private', 'u' || n, 'note', 'A note', 'english', 'same' from ${users}`,
  );
  await client.query(
    `insert into svc_private.document_conversions (owner_id, sha256, options, result) select 'u' || n, repeat('a', 64), '{}', '{}' from ${users}`,
  );
  await client.query(
    `insert into svc.ai_ledger (user_id, operation, model, reserved, expires_at) select 'u' || n, 'text', 'm', 1, now() + interval '1 hour' from ${users}`,
  );
  await client.query(`analyze auth."user", svc.rag_sources, svc_private.document_conversions, svc.ai_ledger`);
  await client.query("reset jit");
  const document = JSON.stringify({ corpus: "notes", visibility: "private", key: "note", checksum: "same" });
  for (const call of [
    `svc.ingest_source('${document}')`,
    "svc.find_unchanged('notes', 'private', 'note', 'same')",
    "svc_private.find_conversion('u7', repeat('a', 64), '{}')",
    "svc_private.reserve_credits('u7', 'text', 'm', 1, 10, 1000)",
  ]) {
    await client.query("begin");
    await client.query("select set_config('svc.user_id', 'u7', true)");
    // PostgreSQL uses a generic plan after the fifth execution.
    for (let time = 0; time < 7; time++) await client.query(`select ${call}`);
    const { rows } = await client.query(`explain (analyze, buffers, format json) select ${call}`);
    const { Plan } = rows[0]["QUERY PLAN"][0];
    expect([call, Plan["Shared Hit Blocks"] + Plan["Shared Read Blocks"] < 60]).toEqual([call, true]);
    await client.query("rollback");
  }
});

test("a later page of files is found without reading the pages before it", async () => {
  await db.sql(
    `insert into svc.storage_objects (id, name, size, type, sha256, by_system)
       select gen_random_uuid(), 'f', 1, 'text/plain', repeat('a', 64), true from generate_series(1, 3000)`,
  );
  const [late] = await db.sql<{ id: string }>(
    "select (array_agg(id order by id))[2900] as id from svc.storage_objects",
  );
  const client = await db.connect("admin");
  await client.query("begin");
  const { rows } = await client.query("select id from svc_private.next_storage_objects($1, 10)", [late?.id]);
  expect(rows).toHaveLength(10);
  expect(await rowsRead(client, "svc.storage_objects")).toBeLessThan(30);
  await client.query("rollback");
});

test("a page of the deliveries to an endpoint, and one delivery, are found by an index", async () => {
  await db.sql(`insert into svc.webhook_deliveries (webhook, source, endpoint, row_key, body, state, ended_at)
    select 'w', '"public"."notes"', case when n % 100 = 0 then 'mine' else 'other' end, '', '{}', 'sent', now()
      from generate_series(1, 20000) n`);
  await db.sql("analyze svc.webhook_deliveries");
  const [one] = await db.sql<{ id: string }>(
    "select id from svc.webhook_deliveries where endpoint = 'mine' order by sequence limit 1",
  );
  for (const [only, most] of [
    [null, 20],
    [one?.id ?? null, 1],
  ] as const) {
    const client = await db.connect("admin");
    await client.query("begin");
    const text = `select * from svc_private.find_endpoint_deliveries('"public"."notes"', 'mine', $1, null, 20)`;
    expect((await client.query(text, [only])).rowCount).toBe(most);
    expect(await rowsRead(client, "svc.webhook_deliveries")).toBeLessThanOrEqual(2 * most + 2);
    await client.query("rollback");
  }
});

test("the address that an operator gives is lowered once, and not for each row", async () => {
  const client = await db.connect("admin");
  await client.query(`begin; set local track_functions = 'all';
    insert into svc.ai_ledger (operation, model, reserved, expires_at) select 'chat', 'm', 1, now() from generate_series(1, 100)`);
  await client.query("select from svc_private.list_usage('Ann@example.com', null, 7, 9)");
  const { rows } = await client.query(
    "select calls::int from pg_stat_xact_user_functions where funcname = 'lower_address'",
  );
  await client.query("rollback");
  expect(rows).toEqual([{ calls: 1 }]);
});
