// If this file fails, a panel of Studio shows an operator something wrong, or data of users that it has no business with.
import { beforeAll, describe, expect, test } from "vitest";
import { database } from "../support/database.ts";
import { studio } from "./test-studio.ts";

const db = database();
const opened = studio(db);
const run = (last: number) => `00000000-0000-4000-8000-00000000000${last}`;

beforeAll(async () => {
  await db.sql(`insert into auth."user" (id, name, email) values
    ('ann', 'Ann', 'ann@example.com'), ('ben', 'Ben', 'ben@example.com')`);
  await db.sql(
    "insert into auth.session (id, user_id, token, expires_at, ip_address, user_agent) values " +
      "('s1', 'ann', 'the token', now() + interval '1 day', '192.0.2.1', '<script>'), " +
      "('s2', 'ann', 'an old token', now() - interval '1 day', null, null)",
  );
  await db.sql(
    "insert into auth.account (id, user_id, provider_id, account_id, password) values ('a', 'ann', 'credential', 'ann', 'the hash')",
  );
  await db.sql("insert into notes (user_id, title) select 'ann', 'note ' || i from generate_series(1, 250) i");
  await db.sql("insert into notes (user_id, title) values ('ben', 'of ben')");
  await db.sql(`insert into svc.workflow_runs (id, name, version, args, result, status, user_id, error, created_at, finished_at)
    values ('${run(1)}', 'send', 2, '{"secret":1}', '{"secret":2}', 'failed', 'ann', '{"code":"INTERNAL","message":"no mail","hint":"try"}', '2026-01-01T00:00:00.123456Z', '2026-01-01T00:00:09Z'),
           ('${run(2)}', 'send', 2, '{}', null, 'pending', null, null, '2026-01-02', null)`);
  await db.sql(`insert into svc.workflow_steps (run_id, position, kind, name, is_done, result, error, started_at, finished_at)
    values ('${run(1)}', '1', 'step', 'render', true, '{"secret":3}', null, '2026-01-01', '2026-01-01T00:00:02Z'),
           ('${run(1)}', '2', 'step', 'mail', true, null, '{"message":"no mail"}', '2026-01-01T00:00:02Z', '2026-01-01T00:00:09Z')`);
  await db.sql(`insert into svc.workflow_events (run_id, name, payload) values ('${run(1)}', 'go', '{"secret":4}')`);
});

describe("Workflows", () => {
  const list = (more = {}) => opened.ask("runs", { status: null, name: null, before: null, ...more });

  test("lists runs, by status and name, in pages, without what they were given", async () => {
    const all = await opened.send("runs", { status: null, name: null, before: null });
    expect(all.body.runs.map(({ id, caller }: { id: string; caller: string }) => [id, caller])).toEqual([
      [run(2), "anonymous"],
      [run(1), "ann"],
    ]);
    expect(all.text).not.toContain("secret");
    expect((await list({ status: "failed" })).runs).toMatchObject([{ id: run(1), error: "INTERNAL: no mail" }]);
    expect((await list({ name: "other" })).runs).toEqual([]);
    expect((await list({ before: "2026-01-01T00:00:00.123457Z" })).runs).toHaveLength(1);
    expect((await list({ before: "2026-01-01T00:00:00.123456Z" })).runs).toEqual([]);
  });

  test("pages by the time of creation", async () => {
    await db.sql(`insert into svc.workflow_runs (name, version, args, created_at)
      select 'many', 1, '{}', timestamptz '2026-02-01' + i * interval '1 microsecond' from generate_series(1, 60) i`);
    const first = await list({ name: "many" });
    const second = await list({ name: "many", before: first.next });
    expect([first.runs.length, second.runs.length, second.next]).toEqual([50, 10, null]);
    expect(new Set([...first.runs, ...second.runs].map(({ id }) => id)).size).toBe(60);
  });

  test("shows a run's steps and events by name, without their results", async () => {
    const { text, body } = await opened.send("run", { id: run(1) });
    expect(body).toMatchObject({
      status: "failed",
      error: "INTERNAL: no mail",
      hint: "try",
      steps: [
        { position: "1", name: "render", is_done: true, failed: false },
        { position: "2", name: "mail", failed: true },
      ],
      events: [{ name: "go", taken_by: null }],
    });
    expect(text).not.toContain("secret");
    expect((await opened.send("run", { id: run(9) })).status).toBe(404);
  });
});

test("Jobs: finished ones by pages, name, outcome and time", async () => {
  await db.sql(
    `insert into svc.job_history (job, kind, name, outcome, attempts, run_at, started_at, finished_at)
       select n, 'procedure', 'of ' || n % 2, case when n % 10 = 0 then 'dead' else 'done' end, 1, now(), now(),
              now() + n * interval '1 second'
         from generate_series(1, 60) n`,
  );
  const none = { name: null, outcome: null, least: null, before: null };
  const ask = (filter: object) => opened.ask("history", { ...none, ...filter });
  const first = await ask({});
  expect([first.jobs.length, first.jobs[0]]).toEqual([50, expect.objectContaining({ job: "60", ms: 60_000 })]);
  const second = await ask({ before: first.next });
  expect([second.jobs[0].job, second.jobs.length, second.next]).toEqual(["10", 10, null]);
  expect(
    (await ask({ outcome: "dead", name: "of 0", least: 40_000 })).jobs.map(({ job }: { job: string }) => job),
  ).toEqual(["60", "50", "40"]);
  expect((await opened.send("history", { ...none, least: 1e12 })).status).toBe(400);
  expect(await opened.ask("queue", { state: null })).toEqual({ counts: expect.any(Object), jobs: [] });
});

test("Crons: definitions with what the database knows of them", async () => {
  await db.sql(
    `insert into svc_private.crons (name, schedule, anchor, last_slot) values ('nightly', 'daily', now(), now())`,
  );
  opened.commands["crons list"] = [
    { name: "nightly", schedule: "daily", procedure: "notes.sweep" },
    { name: "new", schedule: "hourly", procedure: "notes.sweep" },
  ];
  expect(await opened.ask("crons", {})).toMatchObject([
    { name: "nightly", isRegistered: true, last_job: null, paused_at: null },
    { name: "new", isRegistered: false, last_slot: null },
  ]);
});

test("a paused cron's times pass without a job, and the next one after it runs again", async () => {
  const claim = async (hour: number) => {
    const text =
      "select job from svc_private.claim_cron('nightly', 'daily', date '2100-01-01' + make_interval(hours => $1), 'notes.sweep')";
    return (await db.sql<{ job: string | null }>(text, [hour]))[0]?.job;
  };
  expect(await claim(1)).toEqual(expect.any(String));
  await db.sql("select svc_private.act_pause_cron('nightly', true)");
  expect(await claim(2)).toBeNull();
  await db.sql("select svc_private.act_pause_cron('nightly', false)");
  expect(await claim(2)).toBeNull();
  expect(await claim(3)).toEqual(expect.any(String));
});

test("People: users with their ways in and live sessions, and nothing to sign in with", async () => {
  const { people, next } = await opened.ask("people", { search: "", after: null });
  expect(people.map(({ email, sessions, providers }: Record<string, unknown>) => [email, sessions, providers])).toEqual(
    [
      ["ann@example.com", "1", ["credential"]],
      ["ben@example.com", "0", []],
    ],
  );
  expect(next).toBeNull();
  expect((await opened.ask("people", { search: "BEN", after: null })).people).toHaveLength(1);
  expect((await opened.ask("people", { search: "", after: "ann@example.com" })).people).toHaveLength(1);
  const { text, body } = await opened.send("person", { id: "ann" });
  expect(body.sessions).toMatchObject([{ id: "s1", ip_address: "192.0.2.1", user_agent: "<script>" }]);
  expect(text).not.toMatch(/token|hash/);
  expect((await opened.send("person", { id: "nobody" })).status).toBe(404);
});

describe("SQL", () => {
  const send = (text: string, as: string | null = "ann", plan = false) => opened.send("sql", { text, as, plan });

  test("gives the rows that the policies give the viewer, 200 at most, and cuts cells", async () => {
    const { body } = await send('select id, title as "the ""title", title as id from notes order by notes.id; ');
    expect(body).toMatchObject({ columns: ["id", 'the "title', "id"], isCut: true });
    expect(body.rows).toHaveLength(200);
    expect(body.rows[0]).toEqual([expect.any(String), "note 1", "note 1"]);
    expect((await send("select title from notes", "ben")).body.rows).toEqual([["of ben"]]);
    expect((await send("select svc.current_user_id() -- who")).body.rows).toEqual([["ann"]]);
    for (const end of ["; -- who", ";\n/* two\nlines */ -- and\n", " -- a; b", "; "]) {
      expect((await send(`select ';-- x', $$; -- y$$${end}`)).body.rows).toEqual([[";-- x", "; -- y"]]);
    }
    const long = await send("values (repeat('😀', 1000000), null)");
    expect(long.text.length).toBeLessThan(5_000);
    expect(long.body.rows[0][1]).toBeNull();
    expect((await send("select from notes")).body).toMatchObject({ columns: [], isCut: true });
  });

  test("ends after 3 s", async () => {
    expect(await send("select pg_sleep(60)")).toMatchObject({ status: 504, body: { code: "TIMEOUT" } });
  });

  test("shows the plan, and runs nothing for it", async () => {
    const { body } = await send("select pg_sleep(60) from notes", "ann", true);
    expect(body.plan).toContain("notes");
  });

  test.each([
    ["insert into notes (user_id, title) values ('ann', 'x')", 400],
    ["with w as (delete from notes returning 1) select * from w", 400],
    ["select 1; delete from notes", 400],
    ["select 1) as q; delete from notes --", 400],
    ["select nextval('svc.operator_acts_id_seq')", 403],
    ["reset role", 400],
    ["set default_transaction_read_only = off", 400],
    ["commit", 400],
    ["/* */ do $$ begin end $$", 400],
    ["select set_config('role', 'none', true)", 403],
    ["select * from svc_private.studio_users('', 10)", 403],
    ["select * from auth.session", 403],
    ["select pg_read_file('/etc/passwd')", 403],
    ["select svc_private.act_verify_email('ann')", 403],
  ])("%s is refused", async (text, status) => {
    const before = await db.snapshot("notes");
    for (const as of ["ann", null]) {
      const answer = await send(text, as);
      expect([answer.status, Object.keys(answer.body)]).toEqual([status, expect.not.arrayContaining(["rows"])]);
    }
    expect(await db.snapshot("notes")).toEqual(before);
    expect((await send("select current_user, current_setting('transaction_read_only')")).body.rows).toEqual([
      ["svc_authenticated", "on"],
    ]);
  });
});

test("Storage, Realtime and AI: figures and owners", async () => {
  await db.sql(
    "insert into svc_private.storage_usage (bucket, bytes) values ('all', 5000), ('user ann', 4000), ('user ann', 1000)",
  );
  await db.sql(
    "insert into svc.ai_ledger (user_id, operation, model, state, reserved, charged, input_tokens, output_tokens, expires_at) " +
      "values ('ann', 'chat', 'small', 'settled', 2, 1.5, 10, 20, now())",
  );
  const { buckets, figures } = await opened.ask("storage", {});
  expect(buckets).toContainEqual({ bucket: "user ann", user_id: "ann", email: "ann@example.com", bytes: "5000" });
  expect(figures).toContainEqual({ metric: "storage_objects", state: "", value: 0 });
  expect(await opened.ask("realtime", {})).toMatchObject({
    state: { wal_level: "logical" },
    tables: expect.arrayContaining([expect.objectContaining({ name: "public.notes" })]),
  });
  expect((await opened.ask("usage", { days: 7 })).rows).toMatchObject([
    { email: "ann@example.com", model: "small", calls: "1", charged: "1.5" },
  ]);
});

test("DBA runs the commands that only read, and no other", async () => {
  opened.commands["db lint"] = { findings: [] };
  expect(await opened.ask("database", { what: "lint" })).toEqual({ findings: [] });
  for (const what of ["backup", "restore", "psql", "lint --fix"]) {
    expect((await opened.send("database", { what })).status).toBe(400);
  }
});

test("Search lab finds what the viewer may read, and explains those rows alone", async () => {
  await db.sql(`insert into pages (user_id, title, body, corpus, visibility) values
    ('ann', 'milk', 'milk and honey', 'default', 'private'), ('ben', 'milk', 'secret milk', 'default', 'private'),
    ('ben', 'public milk', 'for all', 'default', 'public')`);
  const search = (as: string | null, more = {}) =>
    opened.ask("search", { table: "public.pages", as, query: "milk", ...more });
  expect(await opened.ask("searchable", {})).toMatchObject([{ relation: "public.pages", fields: ["title", "body"] }]);
  const own = await search("ann", { visibility: "private" });
  expect([own.rows.length, own.visibility]).toEqual([1, "private"]);
  expect(own.terms).toMatchObject([{ row_id: own.rows[0].id, term: "milk" }]);
  expect(own.terms[0].contribution).toBeCloseTo(own.rows[0].score);
  const [ben] = (await search("ben", { visibility: "private" })).rows;
  expect(ben.id).not.toBe(own.rows[0].id);
  for (const as of ["ann", null]) {
    const got = await search(as);
    const seen = (await opened.ask("rows", { table: "public.pages", as })).rows.map(
      ({ key }: { key: string[] }) => key[0],
    );
    expect(got.rows.every(({ id }: { id: string }) => seen.includes(id))).toBe(true);
    expect(got.terms.map(({ row_id }: { row_id: string }) => row_id)).toEqual(
      got.rows.map(({ id }: { id: string }) => id),
    );
  }
  const input = { table: "public.pages", as: null, query: "milk" };
  expect((await opened.send("search", { ...input, visibility: "private" })).status).toBe(400);
  expect((await opened.send("search", { ...input, table: "public.notes" })).status).toBe(404);
});

describe("Requests, Trace and Mailbox", () => {
  const reading = studio(db, false);
  const span = (traceId: string, parentId: string | null, kind: "server" | "client", began: number) => ({
    traceId,
    spanId: String(began),
    parentId,
    name: kind,
    kind,
    began,
    ms: 1,
    failed: null,
    attributes: { [kind === "server" ? "svc.request_id" : "db.system.name"]: `request ${traceId}` },
  });

  test("are told by request, and a trace by the id of either", async () => {
    opened.observations.take({ span: span("a", "1", "client", 2) });
    opened.observations.take({ span: span("a", null, "server", 1) });
    expect(await opened.ask("requests", {})).toMatchObject([{ traceId: "a", requestId: "request a", statements: 1 }]);
    for (const id of ["a", "request a"]) {
      expect((await opened.ask("trace", { id })).map(({ kind }: { kind: string }) => kind)).toEqual([
        "server",
        "client",
      ]);
    }
  });

  test("are not known beside another service than that of svc dev", async () => {
    expect([await reading.ask("requests", {}), await reading.ask("mails", {})]).toEqual([null, null]);
    expect((await reading.send("trace", { id: "a" })).status).toBe(404);
  });

  test("take little memory: the oldest ones go first, and texts are cut", async () => {
    for (let i = 0; i < 600; i++) opened.observations.take({ span: span(`t${i}`, null, "server", i) });
    for (let i = 0; i < 600; i++) opened.observations.take({ span: span("t599", "599", "client", 1_000 + i) });
    const long = span("t598", "598", "client", 1_000);
    opened.observations.take({ span: { ...long, attributes: { "db.query.text": "x".repeat(1_000_000) } } });
    for (let i = 0; i < 150; i++)
      opened.observations.take({ mail: { kind: "verification", email: `${i}`, url: "", at: "" } });
    expect(opened.observations.requests()).toHaveLength(500);
    expect(opened.observations.trace("t99")).toEqual([]);
    expect(opened.observations.trace("t599")).toHaveLength(500);
    expect(opened.observations.trace("t598")[1]?.attributes).toEqual({ "db.query.text": "x".repeat(10_000) });
    expect(opened.observations.mails.map(({ email }) => email).slice(0, 2)).toEqual(["149", "148"]);
    expect(opened.observations.mails).toHaveLength(100);
  });
});

test("Studio had no error of its own", () => {
  expect(opened.failures).toEqual([]);
});
