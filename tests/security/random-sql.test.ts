// If this file fails, some SQL shows a request another user's rows, changes them, changes the identity of the request,
// or stops the server. sqlsmith (a Debian package) writes random statements for the schema that a request sees. Each
// runs through the requests' login, as Ann, and its result is searched for Bob's data.
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type pg from "pg";
import { beforeAll, describe, expect, test } from "vitest";
import { database } from "../support/database.ts";

const run = promisify(execFile);
const installed = await run("sqlsmith", ["--version"]).then(
  () => true,
  () => false,
);
if (!installed)
  process.stderr.write("sqlsmith is not installed (apt-get install sqlsmith): random SQL is not tried.\n");

const isLong = process.env.FUZZ_RUNS !== undefined;
const seed = Number(process.env.FUZZ_SEED ?? (isLong ? Date.now() % 1_000_000 : 1));
const queries = isLong ? 10_000 : 200;
/** In milliseconds, for all statements of a role: a slow machine tries fewer. */
const atMost = isLong ? 600_000 : 20_000;

const db = database();
const secret = "BOBS-CANARY";
const tables = ["notes", "vault", "guestbook", "announcements", "articles", "svc.storage_objects", 'auth."user"'];
let before: unknown;
let started: unknown;
const rows = async () =>
  Object.fromEntries(await Promise.all(tables.map(async (name) => [name, await db.snapshot(name)])));
const startedAt = () => db.sql("select pg_postmaster_start_time()::text as at");

beforeAll(async () => {
  await db.sql(
    `insert into auth."user" (id, name, email) values ('ann', 'Ann', 'ann@x.test'), ('bob', '${secret}', 'bob@canary.test')`,
  );
  await db.sql(`insert into notes (user_id, title) select 'bob', '${secret}-' || n from generate_series(1, 20) n`);
  await db.sql("insert into notes (user_id, title) values ('ann', 'mine')");
  await db.sql(`insert into vault (secret) values ('${secret}')`);
  await db.sql(
    `insert into svc.storage_objects (id, user_id, name, size, type, sha256)
     values (gen_random_uuid(), 'bob', '${secret}', 1, 'text/plain', repeat('a', 64))`,
  );
  await db.sql("analyze");
  before = await rows();
  started = await startedAt();
});

/**
 * Statements that surely return rows if any are visible; four in five of sqlsmith's statements are invalid for this
 * server. Every relation that the role knows of, in every shape, whether it may read it or not.
 */
async function plain(): Promise<string[]> {
  const relations = await db.sql<{ name: string }>(
    `select oid::regclass::text as name from pg_class c
      where relkind in ('r', 'p', 'v', 'm') and relnamespace not in ('pg_catalog'::regnamespace, 'information_schema'::regnamespace)
     union all select unnest('{pg_stats,pg_statistic,pg_stat_activity,pg_locks,pg_authid,pg_stat_statements}'::text[])`,
  );
  return relations.flatMap(({ name }) => [
    `select t::text from ${name} as t`,
    `select json_agg(t), string_agg(t::text, ',') from ${name} as t`,
    `with found as materialized (select * from ${name}) select f::text, (select array_agg(g)::text from found as g) from found as f`,
    `select t::text from ${name} as t where not (t.* is distinct from t.*) for update`,
    `select query_to_xml('select * from ${name}', true, true, '')::text`,
    `select table_to_xml('${name.replaceAll("'", "''")}', true, true, '')::text`,
    `insert into ${name} as t select * from ${name} on conflict do nothing returning t::text`,
    `delete from ${name} as t returning t::text`,
  ]);
}

/** Statements by sqlsmith, which reads the schema as the role does. It prints them and runs none. */
async function statements(role: string, catalog: boolean): Promise<string[]> {
  const { hostname, port, pathname, username, password } = new URL(db.url("request"));
  const target = [
    `host='${decodeURIComponent(hostname)}' port='${port || 5432}' dbname='${pathname.slice(1)}' user='${username}'`,
    `password='${decodeURIComponent(password)}' options='-c role=${role}'`,
  ].join(" ");
  const options = [
    "--dry-run",
    `--seed=${seed}`,
    `--max-queries=${queries}`,
    ...(catalog ? [] : ["--exclude-catalog"]),
  ];
  const { stdout } = await run("sqlsmith", [`--target=${target}`, ...options], {
    maxBuffer: 1 << 30,
    timeout: 120_000,
  });
  return stdout.split(/;\n/).filter((text) => /\S/.test(text));
}

async function enter(client: pg.Client, role: string): Promise<void> {
  await client.query("begin");
  await client.query(
    "select set_config('statement_timeout', '250', true), set_config('svc.user_id', $1, true), set_config('role', $2, true)",
    [role === "svc_authenticated" ? "ann" : "", role],
  );
}

describe.skipIf(!installed).each([
  { role: "svc_authenticated", catalog: false },
  { role: "svc_authenticated", catalog: true },
  { role: "svc_anonymous", catalog: false },
])(`random statements as $role, catalog: $catalog (seed ${seed})`, ({ role, catalog }) => {
  test("show nothing of Bob's, change nothing of his, and leave the caller who it was", {
    timeout: 1_800_000,
  }, async () => {
    const texts = [...(await plain()), ...(await statements(role, catalog))];
    expect(texts.length).toBeGreaterThan(queries);
    const client = await db.connect("request");
    const deadline = performance.now() + atMost;
    let answered = 0;
    for (const text of texts) {
      if (performance.now() > deadline) break;
      await enter(client, role);
      try {
        const result = await client.query({ text, queryMode: "extended", rowMode: "array" } as pg.QueryArrayConfig);
        answered++;
        expect(JSON.stringify(result.rows, bigints), text).not.toContain(secret);
        const { rows: who } = await client.query("select svc.current_user_id() as id, current_user::text as role");
        expect(who, text).toEqual([{ id: role === "svc_authenticated" ? "ann" : null, role }]);
      } catch (error) {
        const { code = "", message } = error as { code?: string; message: string };
        if (code === "") throw error; // an expectation, or a connection that is gone
        // XX000 is "cannot happen", XX001 and XX002 are corruption, 57P is a server shutdown.
        expect(code, `${message}\n${text}`).not.toMatch(/^(XX00[12]|57P|58)/);
        expect(`${message} ${(error as { detail?: string }).detail ?? ""}`, text).not.toContain(secret);
      }
      await client.query("rollback");
    }
    expect(answered).toBeGreaterThan(50); // else it tried nothing
    expect(await rows()).toEqual(before);
    expect(await startedAt()).toEqual(started);
  });
});

const bigints = (_key: string, value: unknown) => (typeof value === "bigint" ? String(value) : value);
