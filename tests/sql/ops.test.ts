// If this file fails, a DBA cannot see what slows the database down, or sees values that users have written.
import pg from "pg";
import { describe, expect, test } from "vitest";
import { fixture, svcHere } from "../support/cli.ts";
import { database } from "../support/database.ts";
import { until } from "../support/worker.ts";

const db = database();
const run = (...args: string[]) => svcHere(db, fixture, ["db", ...args]);
const canary = "canary-51ab";

const asSystem = async <Row extends pg.QueryResultRow>(text: string): Promise<Row[]> =>
  (await (await db.connect("system")).query<Row>(text)).rows;

describe("a statement is shown without its values", () => {
  test.for([
    ["select * from notes where title = 'it''s' and id = 7", "select * from notes where title = ? and id = ?"],
    [`select E'a\\'${canary}' from "it's" where n in (1.5, -2e10)`, 'select ? from "it\'s" where n in (?, -?)'],
    ["select 0xCAFE, 0b101, 1_000_000, 1.5e-3, .5 from t2", "select ?, ?, ?, ?, .? from t2"],
    [`select $1, $12, t2.a1 -- ${canary}\n from t2 /* ${canary} * */ where a`, "select $1, $12, t2.a1 from t2 where a"],
    [`do $x$ begin perform '${canary}'; end $x$; select 1`, "do ?"],
    [`select U&'${canary}', x'${canary}', b'1', N'${canary}'`, "select ?, ?, ?, ?"],
    [`alter role a password '${canary}`, "alter role a password ?"],
    [
      `select a from t where b = '${"x".repeat(600)}' and c::text = 'é' || d`,
      "select a from t where b = ? and c::text = ? || d",
    ],
    ["", null],
  ])("%s", async ([text, shown]) => {
    const [row] = await db.sql("select svc_private.statement_text($1) as it", [text]);
    expect(row?.it).toBe(shown);
  });
});

describe("svc db slow", () => {
  test("says what to do where pg_stat_statements is not installed", async () => {
    const { code, error } = await run("slow");
    expect(code).toBe(1);
    expect(error).toContain("pg_stat_statements is not installed in this database");
    expect(error).toContain("shared_preload_libraries");
  });

  test("lists what has cost the most, without values, of this database alone", async ({ skip }) => {
    const [loaded] = await db.sql("select current_setting('shared_preload_libraries') as it");
    if (loaded?.it !== "pg_stat_statements") skip("this server has no pg_stat_statements");
    await db.sql("create extension if not exists pg_stat_statements schema extensions");
    await db.sql(`alter database ${db.name} set pg_stat_statements.track = 'top'`);
    const client = await db.connect("admin");
    for (let n = 0; n < 3; n++) await client.query(`select count(*) from notes where title = '${canary}'`);
    await client.query(`create role ops_test_${db.name.slice(-6)} password '${canary}'`);
    await client.query(`drop role ops_test_${db.name.slice(-6)}`);
    const { code, out } = await run("slow");
    expect([code, out]).toEqual([0, expect.stringMatching(/^calls +total ms +mean ms/)]);
    expect(out).not.toContain(canary);
    const rows = await asSystem<{ calls: string; statement: string }>("select * from svc_private.slow_statements(100)");
    expect(rows.find(({ statement }) => statement.includes("from notes"))?.calls).toBe("3");
    expect(rows.some(({ statement }) => statement.startsWith("create role"))).toBe(true);
    expect(JSON.stringify(rows)).not.toContain(canary);

    const elsewhere = new pg.Client({ connectionString: db.url("admin").replace(/\/[^/]*$/, "/postgres") });
    await elsewhere.connect();
    await elsewhere.query("set pg_stat_statements.track = 'top'");
    // A new table name makes it a new statement, unlike an alias.
    await elsewhere.query(
      `with elsewhere_of_${db.name} as materialized (select 1) select from elsewhere_of_${db.name}`,
    );
    await elsewhere.end();
    const kept =
      "select from extensions.pg_stat_statements where query like '%elsewhere_of_' || current_database() || '%'";
    expect((await db.sql(kept)).length).toBeGreaterThan(0);
    const all = await asSystem<{ statement: string }>("select * from svc_private.slow_statements(100000)");
    expect(all.filter(({ statement }) => statement?.includes("elsewhere_of_"))).toEqual([]);
  });
});

test("svc db locks shows who waits for whom, down to the head of the chain, and forgotten transactions", async () => {
  await db.sql(`insert into auth."user" (id, name, email) values ('ann', 'Ann', 'ann@x.test')`);
  await db.sql("insert into notes (user_id, title) values ('ann', 'x')");
  const [head, middle, last] = await Promise.all([db.connect("admin"), db.connect("admin"), db.connect("admin")]);
  const pids = await Promise.all(
    [head, middle, last].map(async (one) => (await one.query("select pg_backend_pid() as pid")).rows[0].pid),
  );
  await head.query("begin");
  await head.query(`update notes set title = '${canary}'`);
  await middle.query("begin");
  const waiting = [middle.query(`update notes set title = '${canary}'`)];
  await until(async () => (await db.sql("select from svc_private.ops_blocked")).length === 1);
  await last.query("begin");
  waiting.push(last.query(`lock table notes in exclusive mode`));
  await until(async () => (await db.sql("select from svc_private.ops_blocked")).length >= 2);

  const rows = await asSystem(
    "select pid, head, depth, statement, head_state, head_statement from svc_private.ops_blocked",
  );
  expect(rows).toContainEqual({
    pid: pids[1],
    head: pids[0],
    depth: 1,
    statement: "update notes set title = ?",
    head_state: "idle in transaction",
    head_statement: "update notes set title = ?",
  });
  expect(rows.filter(({ pid }) => pid === pids[2]).map(({ head }) => head)).toContain(pids[0]);
  const { code, out } = await run("locks");
  expect(code).toBe(0);
  expect(out).toContain("update notes set title = ?");
  expect(out).not.toContain(canary);
  await head.query("rollback");
  await waiting[0];
  await middle.query("rollback");
  await waiting[1];
  await last.query("rollback");
});

test("metrics tell for how long the oldest transaction has been open", async () => {
  const told = async () => {
    const rows = await asSystem(
      "select value from svc_private.service_state() where metric = 'oldest_transaction_seconds'",
    );
    return rows[0]?.value as number;
  };
  const forgotten = await db.connect("admin");
  await forgotten.query("begin; select from notes");
  const [open] = await asSystem(
    "select extract(epoch from clock_timestamp() - min(xact_start))::float8 as seconds from pg_stat_activity " +
      "where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()",
  );
  expect(await told()).toBeGreaterThanOrEqual(open?.seconds);
  await forgotten.query("rollback");
  expect(await told()).toBe(0);
});

test("svc db stats shows the database, its tables, indexes and slots, and the ages of ids", async () => {
  const { code, out } = await run("stats", "--json");
  expect(code).toBe(0);
  const { database: whole, tables, slots, ages } = JSON.parse(out);
  expect(whole).toMatchObject({ name: db.name, connection_limit: expect.any(Number) });
  expect(tables.map(({ name }: { name: string }) => name)).toContain("public.notes");
  expect(Array.isArray(slots)).toBe(true);
  expect(ages).toEqual([
    { counter: "transaction ids", age: expect.any(Number), vacuum_at: 200_000_000 },
    { counter: "multixacts", age: expect.any(Number), vacuum_at: 400_000_000 },
  ]);
  const [sizes] = await db.sql(
    "select total_bytes::int, pg_total_relation_size('notes')::int as real from svc_private.ops_tables where name = 'public.notes'",
  );
  expect(sizes?.total_bytes).toBe(sizes?.real);
});

test("an index that no query uses, and one that broke, are named", async () => {
  await db.sql("create table wide (id int primary key, pad text)");
  await db.sql("insert into wide select n, repeat('x', 100) || n from generate_series(1, 20000) n");
  await db.sql("create index wide_pad on wide (pad)");
  const named = async () => (await db.sql("select what, index_name from svc_private.ops_indexes")).map(Object.values);
  expect(await named()).toContainEqual(["unused", "wide_pad"]);
  await db.sql("update pg_index set indisvalid = false where indexrelid = 'wide_pad'::regclass");
  expect(await named()).toContainEqual(["invalid", "wide_pad"]);
});

test.for(["request", "auth"] as const)("the login %s sees none of it", async (login) => {
  const client = await db.connect(login);
  for (const view of [
    "ops_blocked",
    "ops_tables",
    "ops_database",
    "ops_ages",
    "ops_slots",
    "ops_indexes",
    "ops_vacuum_holders",
  ]) {
    await expect(client.query(`select * from svc_private.${view}`)).rejects.toThrow("permission denied");
  }
  await expect(client.query("select * from svc_private.slow_statements(1)")).rejects.toThrow("permission denied");
});

// The alert for failed runs was silent about a run that waited for somebody for days and then failed.
test("a run that fails today counts as a failure of today, also if it began last week", async () => {
  const failures = async () =>
    (await asSystem("select value from svc_private.service_state() where metric = 'workflow_failed_last_day'"))[0]
      ?.value;
  const before = Number(await failures());
  await db.sql(`insert into svc.workflow_runs (name, version, args, status, is_system, created_at, finished_at) values
    ('ops.long', 1, '{}', 'failed', true, now() - interval '8 days', now()),
    ('ops.past', 1, '{}', 'failed', true, now() - interval '8 days', now() - interval '2 days')`);
  expect(await failures()).toBe(before + 1);
});
