// If this file fails, SQL that an application interpolated can change the identity of a request by a function that
// executes text, or leave something on a connection or in the database that affects the next user. As in
// impersonation.test.ts PostgreSQL alone has to refuse: the tests use the requests' own login, in a transaction as Ann.
import type pg from "pg";
import { beforeAll, describe, expect, inject, test } from "vitest";
import { database } from "../support/database.ts";

const db = database();

async function entered(role = "svc_authenticated"): Promise<pg.Client> {
  const client = await db.connect("request");
  await client.query("begin");
  await client.query("select set_config('svc.user_id', 'ann', true), set_config('role', $1, true)", [role]);
  return client;
}

const run = (client: pg.Client, text: string) => client.query({ text, queryMode: "extended" } as pg.QueryConfig);

beforeAll(async () => {
  await db.sql(
    `insert into auth."user" (id, name, email) values ('ann', 'Ann', 'ann@x.test'), ('bob', 'Bob', 'bob@x.test')`,
  );
  await db.sql("insert into notes (user_id, title) values ('bob', 'private')");
});

describe("a platform function that runs text takes one statement, and none that sets", () => {
  const become = "set local svc.user_id = ''bob''";
  const attempts = [
    `select svc.estimate_rows('public.notes; ${become}; explain (format json) select from public.notes', null)`,
    `select svc.estimate_rows('public.notes', 'true; ${become}; explain (format json) select from public.notes as t')`,
    `select svc_hidden.count_rows('public.notes; ${become}; explain (format json) select from public.notes', null, null, 'estimated', 0)`,
    `select svc_hidden.count_rows('public.notes; ${become}; select 1 from public.notes', null, null, 'exact', 0)`,
    `select svc.estimate_rows('public.notes; set local role none; explain (format json) select from public.notes', null)`,
  ];
  test.for(attempts)("%s", async (text) => {
    const client = await entered();
    await expect(run(client, text)).rejects.toThrow(
      /cannot open multi-query plan as cursor|SET is not allowed|invalid name syntax|no condition but/,
    );
  });

  test.skipIf(inject("vector") === null)("nor does the search by vectors", async () => {
    const client = await entered();
    const text = "select * from svc.search_vector($1, 'title', '[1]', $2, '[]', 1, 0)";
    const vectors = "(select 'x' as id, '[1]'::vector as title) as t";
    const ends = `) as nearest; set local svc.user_id = 'bob'; select array['x'], array[0::float8] from (select 1 from`;
    const table = `${vectors}${ends} (select '[1]'::vector as title)`;
    const values = [
      { table, id: "id", always: "private" },
      { corpus: "default", visibility: "private" },
    ];
    await expect(client.query(text, values)).rejects.toThrow("is not searchable in this database");
  });

  test("an estimate is still one", async () => {
    const client = await entered();
    const { rows } = await run(client, "select svc.estimate_rows('public.notes', null) >= 1 as is_one");
    expect(rows).toEqual([{ is_one: true }]);
  });

  test.for([
    "svc.estimate_rows('public.notes', 't.priority > 5')",
    "svc.estimate_rows('public.notes', 't.done is not true or t.priority > 5')",
    `svc.estimate_rows('public.notes', E't."done" is null\nor t.priority > 5')`,
    `svc.estimate_rows('public.notes', E't."done" is null or "x"\nis null')`,
    "svc.estimate_rows('public.notes as t where t.priority > 5 --', null)",
    "svc_hidden.count_rows('public.notes', 't.priority > 5', null, 'estimated', 0)",
  ])("statistics are told under no condition of the caller's: %s", async (call) => {
    const client = await entered();
    await expect(run(client, `select ${call}`)).rejects.toThrow(/no condition but|invalid name syntax/);
  });

  test("every function that requests may call and that may SET runs what gives rows alone", async () => {
    const rows = await db.sql<{ name: string; source: string }>(
      `select p.oid::regprocedure::text as name, p.prosrc as source
         from pg_proc p join pg_namespace n on n.oid = p.pronamespace
        where n.nspname in ('svc', 'svc_hidden', 'svc_private', 'svc_crud', 'auth') and p.provolatile = 'v' and p.prosrc ~* '\\mexecute\\M'
          and (has_function_privilege('svc_anonymous', p.oid, 'execute')
               or has_function_privilege('svc_authenticated', p.oid, 'execute'))`,
    );
    expect(rows.map(({ name }) => name.split("(")[0]).sort()).toEqual([
      "svc.estimate_rows",
      "svc.import_rows",
      "svc.search_vector",
      "svc_hidden.retry_delivery_as_authenticated",
    ]);
    for (const { source } of rows) {
      // Parameters are set with a number. A cursor, and RETURN QUERY, only accept statements that return rows.
      const free = source.replace(/^\s*--.*$/gm, "").replace(/execute format\('set local hnsw/g, "");
      expect(free.match(/(?<!\b(?:in|query) )\bexecute\b/gi)).toBeNull();
    }
  });
});

describe("nothing stays behind", () => {
  const attempts = [
    "select pg_advisory_lock(7265021846114)",
    "select pg_advisory_lock_shared(726502187, 0)",
    "select pg_try_advisory_lock(726502186, hashtext('worker'))",
    "select pg_try_advisory_lock_shared(1)",
    "select pg_advisory_xact_lock(7265021846114)",
    "select pg_advisory_xact_lock(726502186, hashtext('worker'))",
    "select pg_advisory_xact_lock_shared(726502188, 1)",
    "select pg_try_advisory_xact_lock(hashtextextended('svc.storage_uploads bob', 0))",
    "select pg_try_advisory_xact_lock_shared(726502187, 0)",
    "select setseed(0.5)",
    "select lo_create(0)",
    "select lo_creat(-1)",
    "select lo_from_bytea(0, 'for all to read')",
    "select lo_get(1)",
    "select lo_put(1, 0, 'x')",
    "select lo_open(1, 262144)",
    "select lo_unlink(1)",
  ];
  test.for(attempts)("%s", async (text) => {
    for (const role of ["svc_authenticated", "svc_anonymous"]) {
      await expect(run(await entered(role), text)).rejects.toThrow(/permission denied for function/);
    }
  });
});

test("nobody but the service says anything to subscribers, and reads or stores messages of channels", async () => {
  for (const role of ["svc_authenticated", "svc_anonymous"]) {
    for (const [name, values] of [
      ["emit_message", `'{"emit": "guestbook.list", "data": []}'`],
      ["store_messages", "'[]'"],
      ["read_messages", "'room', null, 10, 1000"],
    ]) {
      const call = run(await entered(role), `select svc.${name}(${values})`);
      await expect(call).rejects.toThrow(`permission denied for function ${name}`);
    }
    for (const table of ["channels", "channel_messages"]) {
      const read = run(await entered(role), `select from svc.${table}`);
      await expect(read).rejects.toThrow(`permission denied for table ${table}`);
    }
  }
});

test("few functions run with more than the caller's rights where SQL of a request may call them, and change no row but the caller's own membership and keys", async () => {
  const rows = await db.sql<{ name: string; owner: string; volatile: boolean }>(
    `select p.proname as name, p.proowner::regrole::text as owner, p.provolatile = 'v' as volatile
       from pg_proc p join pg_namespace n on n.oid = p.pronamespace
      where n.nspname in ('svc', 'svc_hidden', 'svc_private', 'svc_crud', 'auth', 'graphile_worker') and p.prosecdef
        and (has_function_privilege('svc_anonymous', p.oid, 'execute')
             or has_function_privilege('svc_authenticated', p.oid, 'execute'))
      order by 1`,
  );
  const locking = { owner: "svc_owner", volatile: true };
  const indexing = locking; // of rows that the same transaction has written
  const joining = locking; // the caller adds itself: as the owner of a new organization, or by an invitation to its address
  const keeping = { owner: "svc_reader_authenticated", volatile: true }; // keys of service accounts that the caller manages
  const platform = { owner: "svc_owner", volatile: false };
  const readers = ["anonymous", "authenticated"].map((role) => ({
    role,
    owner: `svc_reader_${role}`,
    volatile: false,
  }));
  expect(rows).toEqual([
    { name: "accept_invitation", ...joining },
    { name: "add_service_account_key", ...keeping },
    { name: "create_organization", ...joining },
    ...readers.map(({ role, ...more }) => ({ name: `find_evidence_as_${role}`, ...more })),
    ...readers.map(({ role, ...more }) => ({ name: `find_objects_as_${role}`, ...more })),
    ...readers.map(({ role, ...more }) => ({ name: `find_passages_as_${role}`, ...more })),
    { name: "index_waiting_rows", ...indexing },
    { name: "lock", ...locking },
    { name: "lock_document", ...locking },
    { name: "my_orgs", ...platform },
    { name: "remove_service_account_key", ...keeping },
    // Sends a delivery again to an endpoint that the caller may update.
    { name: "retry_delivery_as_authenticated", owner: "svc_reader_authenticated", volatile: true },
    { name: "row_deliveries_as_authenticated", owner: "svc_reader_authenticated", volatile: false },
    ...readers.map(({ role, ...more }) => ({ name: `row_history_as_${role}`, ...more })),
    ...readers.map(({ role, ...more }) => ({ name: `search_keyword_as_${role}`, ...more })),
    { name: "search_passages", ...platform },
    { name: "search_target", ...platform },
    { name: "service_account_keys", ...keeping, volatile: false },
    { name: "try_lock", ...locking },
    { name: "verified_email", ...platform },
  ]);
});

test("nobody who is not signed in begins a transcription, also where the login is asked", async () => {
  const client = await db.connect("request");
  const text = "select svc.start_transcription(gen_random_uuid(), 'any')";
  await expect(client.query(text)).rejects.toMatchObject({ code: "42501" });
});
