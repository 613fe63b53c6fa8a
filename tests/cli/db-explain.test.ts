// If this file fails, a DBA cannot see the plan of a user's statement, or looking at it changes data.
import { beforeAll, describe, expect, test } from "vitest";
import { checkStatement, explainStatement } from "../../src/cli/db/explain-statement.ts";
import { findInPlans } from "../../src/cli/db/plan-findings.ts";
import { fixture, svcHere } from "../support/cli.ts";
import { database } from "../support/database.ts";

const db = database();
const explain = (args: string[], env: NodeJS.ProcessEnv = {}) => svcHere(db, fixture, ["db", "explain", ...args], env);
const ann = { "svc.user_id": "ann", role: "svc_authenticated" };

beforeAll(async () => {
  await db.sql(`insert into auth."user" (id, name, email) values ('ann', 'Ann', 'ann@x.test')`);
  // A tenth of the entries are Ann's, and all four columns depend on that.
  await db.sql(`create table public.entries (id serial primary key, user_id text, a int, b int, c int, d int);
    insert into entries (user_id, a, b, c, d)
      select case i % 10 when 0 then 'ann' else 'bob' end, n, n, n, n
        from generate_series(1, 20000) as i, lateral (select case i % 10 when 0 then 0 else i end as n) as same;
    alter table entries enable row level security;
    create policy wrapped on entries to svc_authenticated using (user_id = (select svc.current_user_id()));
    grant select, update on entries to svc_authenticated;
    grant usage on sequence entries_id_seq to svc_authenticated;
    grant select, delete on entries to svc_system`);
  await db.sql(
    `create function public.is_staff() returns boolean language plpgsql stable set search_path = '' as 'begin return false; end'`,
  );
  await db.sql("analyze entries");
});

describe("svc db explain", () => {
  test("shows the plan that a user gets, policies and all", async () => {
    const { code, out, error } = await explain([
      "select * from entries where id = $1;",
      "--args",
      "[10]",
      "--as",
      "ann@x.test",
    ]);
    expect([code, error]).toEqual([0, expect.stringMatching(/^As user ann\.$/m)]);
    expect(out).toMatch(/^Index Scan using entries_pkey on public\.entries {2}\(cost=[\d.]+ rows=1 width=\d+\)$/m);
    expect(out).toMatch(/^ {2}Index Cond: \(entries\.id = 10\)$/m);
    expect(out).toMatch(/^ {2}InitPlan 1.*\n {4}-> {2}Result/m);
    expect(out).not.toContain("actual");
  });

  test("runs a statement that writes with --analyze, and undoes it", async () => {
    const { out } = await explain(["/* all */ update entries set a = 1", "--as", "ann", "--analyze"]);
    expect(out).toMatch(/^Update on public\.entries .*\(actual time=[\d.]+ rows=0 loops=1\)$/m);
    expect(out).toMatch(/^ {2}-> {2}Seq Scan on public\.entries .*rows=2000 loops=1\)$/m);
    expect(out).toMatch(/^ +Buffers: shared hit=\d+/m);
    expect(out).toMatch(/^Execution Time: [\d.]+ ms$/m);
    expect(out).toMatch(/^filtered_scan {2}Seq Scan on public\.entries: 20000 rows are read, and 2000 kept by /m);
    expect(await db.sql("select from entries where a = 1")).toHaveLength(1);
  });

  test("takes a comment before the statement for no option, and MERGE for a statement", async () => {
    const merge = "merge into entries e using (values (-1)) as v (id) on e.id = v.id when matched then delete";
    const { code, out, error } = await explain([`--the last one's\n${merge}`, "--as", "system", "--analyze"]);
    expect([code, error]).toEqual([0, expect.stringMatching(/^As /m)]);
    expect(out).toMatch(/^Merge on public\.entries /m);
  });

  const refused = [
    { says: /more than one statement/, args: ["select 1; delete from entries", "--as", "system", "--analyze"] },
    { says: /Give each of \$1, \$2/, args: ["select * from entries where id = $1", "--as", "ann"] },
    { says: /permission denied for table entries\.\n.*--as/, args: ["table entries"] },
    { says: /There is no user nobody/, args: ["table entries", "--as", "nobody"] },
  ];
  test.for(refused)("refuses: $says", async ({ says, args }) => {
    const { code, out, error } = await explain(args);
    expect([code, out, error]).toEqual([1, "", expect.stringMatching(says)]);
    expect(await db.sql("select count(*)::integer from entries")).toEqual([{ count: 20000 }]);
  });
});

test.for([
  "create table mine as select 1",
  "(analyze) delete from entries",
  "-- no\n/* with */ execute x",
  "vacuum",
  "",
])("refuses what is no statement on rows: %s", (statement) =>
  expect(() => checkStatement(statement)).toThrow(/takes SELECT, INSERT, UPDATE, DELETE/),
);

test("tells where to find the statements of other procedures", () =>
  expect(() => checkStatement("notes.create")).toThrow("notes.create is neither"));

describe("a generated list", () => {
  test("shows the statements inside, as the user who asks", async () => {
    const { code, out } = await explain(["notes.list", "--args", '{"limit": 5}', "--as", "ann", "--analyze", "--json"]);
    expect(code).toBe(0);
    const { as, plans } = JSON.parse(out);
    expect(as).toBe("user ann");
    const texts = plans.map((plan: Record<string, unknown>) => plan["Query Text"]);
    expect(texts).toEqual([expect.stringMatching(/select json_build_object\([\s\S]*from public\.notes as t/)]);
    expect(JSON.stringify(plans)).toMatch(/"Actual Loops":1\b/);
    expect(JSON.stringify(plans)).toMatch(/user_id = /);
    const found = await explain(["notes.list", "--args", '{"orderBy": "title"}', "--as", "ann"]);
    expect(found.out).toMatch(/^select coalesce\(json_agg\(item\)[\s\S]*^ +Sort Key: t\.title DESC, t\.id DESC$/m);
    expect(found.out).not.toContain("jsonb_each");
  });

  test("or get shows its statement, and those of what it includes", async () => {
    const { code, out, error } = await explain(["notes.get", "--args", '{"id": 7}', "--as", "ann"]);
    expect([code, error]).toEqual([0, "As user ann.\n"]);
    expect(out).toMatch(/Index Cond: .*t\.id = /);
    expect(out).toMatch(/user_id = /);
    const some = await explain(["notes.get", "--args", '{"id": 7, "select": ["title"]}', "--as", "ann", "--json"]);
    const [plan] = JSON.parse(some.out).plans;
    expect(plan["Query Text"]).toContain("title");
    expect(plan["Query Text"]).not.toContain("priority");
    expect(JSON.stringify(plan.Plan)).toContain("notes");
    const none = await explain(["notes.get", "--as", "ann"]);
    expect([none.code, none.error]).toEqual([1, expect.stringContaining(`--args '{"id": 7}'`)]);
  });

  test("says who may see them, and which lists there are not", async () => {
    const hosted = await explain(["notes.list"], { DATABASE_ADMIN_URL: db.url("request") });
    expect([hosted.code, hosted.error]).toEqual([1, expect.stringMatching(/cannot be shown: .*\n.*superuser/)]);
    const unknown = await explain(["nots.list"]);
    expect([unknown.code, unknown.error]).toEqual([
      1,
      expect.stringContaining("There is no generated list nots.list."),
    ]);
  });
});

describe("what it runs", () => {
  const ask = async (statement: string, timeoutSeconds = 60) => {
    const question = { statement, args: undefined, analyze: true, timeoutSeconds, settings: ann };
    return explainStatement(await db.connect("request"), question);
  };

  test("takes no longer than it may", async () => {
    await expect(ask("select pg_sleep(60)", 0.05)).rejects.toMatchObject({ code: "57014" });
  });

  test("writes in no function that it calls, and takes no second statement", async () => {
    await expect(ask("select nextval('entries_id_seq')")).rejects.toMatchObject({ code: "25006" });
    await expect(ask("select 1; commit")).rejects.toMatchObject({ code: "42601" });
    await expect(ask("select 1 for update")).resolves.toBeTruthy();
    await expect(ask("select from entries where id = 10 for update")).resolves.toBeTruthy();
  });
});

describe("what is found in a plan", () => {
  /** Rules and names of nodes. @param session settings of the session */
  async function found(statement: string, options: { analyze?: boolean; as?: typeof ann; session?: string } = {}) {
    const { analyze = false, as, session = "" } = options;
    const client = await db.connect(as ? "request" : "system");
    await client.query(session);
    const question = { statement, args: undefined, analyze, timeoutSeconds: 60, settings: as ?? {} };
    const plan = await explainStatement(client, question);
    return (await findInPlans([plan], await db.connect("system"))).map(
      ({ rule, name, problem }) => `${rule} ${name}: ${problem}`,
    );
  }

  test("a policy that asks once for every row, and not one that is wrapped", async () => {
    const perRow =
      /^policy_per_row Seq Scan on public\.entries: the policy bare of public\.entries evaluates (\S+) once per row/;
    expect((await found("table entries", { as: ann })).filter((one) => perRow.test(one))).toEqual([]);
    const own = await found("select from entries where user_id = svc.current_user_id()", { as: ann });
    expect(own.filter((one) => one.startsWith("policy_per_row"))).toEqual([]);
    for (const call of ["svc.current_user_id()", "is_staff()"]) {
      const condition = call === "is_staff()" ? `${call} or a < 0` : `user_id = ${call}`;
      await db.sql(`create policy bare on entries to svc_authenticated using (${condition})`);
      const [first = ""] = await found("table entries", { as: ann });
      await db.sql("drop policy bare on entries");
      expect(perRow.exec(first)?.[1]).toBe(call);
    }
  });

  test("a whole table read for a few of its rows, and not for most of them", async () => {
    const few = await found("select from entries where user_id = 'ann'");
    expect(few).toEqual([
      expect.stringMatching(/^filtered_scan Seq Scan on public\.entries: 20000 rows are read, and about \d+ kept by/),
    ]);
    expect(await found("select from entries where user_id = 'bob'")).toEqual([]);
    // The planner does not know the number of his rows: it assumes half of all rows, and would not use an index.
    const bob = { ...ann, "svc.user_id": "bob" };
    for (const analyze of [false, true]) expect(await found("select from entries", { as: bob, analyze })).toEqual([]);
    expect(await found("select from entries", { as: ann, analyze: true })).toEqual([
      expect.stringMatching(/^filtered_scan Seq Scan on public\.entries: 20000 rows are read, and 2000 kept by/),
    ]);
    expect(await found("select from entries where id = 7")).toEqual([]);
    expect(await found("select from memberships where user_id = 'ann'")).toEqual([]);
  });

  test("rows that are a hundred times those expected, where that begins, and not those that a limit left out", async () => {
    const together = "select from entries where a = 0 and b = 0 and c = 0 and d = 0 order by user_id";
    const off = (await found(together, { analyze: true })).filter((one) => one.startsWith("estimate_off"));
    expect(off).toEqual([
      expect.stringMatching(/^estimate_off Seq Scan on public\.entries: \d rows were estimated, and 2000 returned$/),
    ]);
    expect((await found(together)).filter((one) => one.startsWith("estimate_off"))).toEqual([]);
    expect(await found("select from entries limit 1", { analyze: true })).toEqual([]);
  });

  // The planner expects to check every row of the answer, and the limit ends it after twenty.
  test("a policy that reads a whole table for a page, and not one that looks each row up", async () => {
    await db.sql(`create table people (id text primary key, hidden boolean);
      insert into people select n::text, false from generate_series(1, 20000) n;
      create table papers (id serial primary key, user_id text);
      insert into papers (user_id) select n % 20000 from generate_series(1, 60000) n;
      alter table people enable row level security; alter table papers enable row level security;
      create policy seen on people to svc_authenticated using (not hidden);
      create policy seen on papers to svc_authenticated using (exists (select from people p where p.id = papers.user_id));
      grant select on people, papers to svc_authenticated`);
    await db.sql("analyze people, papers");
    const page = () => found("select * from papers order by id limit 20", { analyze: true, as: ann });
    expect(await page()).toEqual([
      expect.stringMatching(
        /^whole_table Index Scan using papers_pkey on public.papers: 20000 rows of public.people are read at once to check 2\d$/,
      ),
    ]);
    await db.sql("alter policy seen on papers using ((select true from people p where p.id = papers.user_id))");
    expect(await page()).toEqual([]);
    await db.sql("drop table papers, people");
  });

  test.for([
    ["a sort", "select id from entries order by a, id desc", "kB were sorted on disk", ""],
    [
      "a join",
      "select from entries x full join entries y using (id)", // version 18 leaves out an inner join of a table with itself
      "the hash table went to disk",
      "set enable_mergejoin = off; set enable_nestloop = off",
    ],
    [
      "groups",
      "select id, count(*) from entries group by id",
      "groups went to disk",
      "set enable_sort = off; set enable_indexscan = off; set enable_indexonlyscan = off",
    ],
  ] as const)("%s that went to disk, and not one that fits", async ([, statement, says, planner]) => {
    const memory = (kilobytes: number) =>
      `set work_mem = ${kilobytes}; set hash_mem_multiplier = 1; set max_parallel_workers_per_gather = 0; ${planner}`;
    const spilled = await found(statement, { analyze: true, session: memory(64) });
    expect(spilled).toEqual([expect.stringContaining(says)]);
    expect(spilled[0]).toMatch(/^spilled /);
    expect(await found(statement, { analyze: true, session: memory(65_536) })).toEqual([]);
  });
});
