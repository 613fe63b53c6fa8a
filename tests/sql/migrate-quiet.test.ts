// If this file fails, a migration stops calls on unrelated tables: sign-in waits for an index of the application, or
// every table is locked because a migration adds another one.
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type pg from "pg";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { migrate, rehearseMigration } from "../../src/migrate/migrate.ts";
import { database } from "../support/database.ts";
import { root } from "../support/global-setup.ts";

const db = database();
const folder = mkdtempSync(join(tmpdir(), "svc-quiet-"));
const write = (path: string, text: string) => {
  mkdirSync(join(folder, path, ".."), { recursive: true });
  writeFileSync(join(folder, path), text);
};
const options = () => ({ adminUrl: db.url("admin"), platform: root, application: folder });
beforeAll(async () => {
  for (const part of ["migrations", "sql"])
    cpSync(join(root, "tests/fixture", part), join(folder, part), { recursive: true });
  write("migrations/8000_create_quiet.sql", "create table public.quiet (id integer primary key, body text not null);");
  write(
    "sql/policies/public.quiet.sql",
    `alter table public.quiet enable row level security;
     create policy read_all on public.quiet for select to svc_authenticated using (true);
     grant select (id, body) on public.quiet to svc_authenticated;`,
  );
  write(
    "sql/search_more.sql",
    `select svc_private.install_search(
       '[{"table": "\\"public\\".\\"quiet\\"", "id": "id", "fields": ["body"], "language": "english", "always": "public"}]', 'more');`,
  );
  await migrate(options());
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Tables that a transaction locks in a mode that blocks readers or writers. */
const held = async (client: pg.Client, except: string[] = []): Promise<string[]> => {
  const { rows } = await client.query(
    `select distinct c.oid::regclass || ' ' || l.mode as it
       from pg_locks l join pg_class c on c.oid = l.relation
      where l.pid = pg_backend_pid() and l.granted and c.relkind in ('r', 'p')
        and c.relnamespace <> all ('{pg_catalog,pg_toast,information_schema}'::regnamespace[])
        and l.mode not in ('AccessShareLock', 'RowShareLock', 'RowExclusiveLock')
        and c.relname <> all ($1)
      order by 1`,
    [except],
  );
  return rows.map(({ it }) => it);
};

describe("a migration", () => {
  test("that has nothing to do locks nothing", async () => {
    expect(await migrate(options())).toEqual([]);
    expect(await rehearseMigration(options(), held)).toEqual([]);
  });

  test("that adds a table locks no other, although all of sql/ is looked at again", async () => {
    write("migrations/9000_create_other.sql", "create table public.other (id integer primary key);");
    const locks = await rehearseMigration(options(), (client) => held(client, ["other"]));
    expect(locks).toEqual([]);
    const applied = await migrate(options());
    expect(applied).toContain("application/migrations/9000_create_other.sql");
    expect(applied).not.toContain("application/sql/policies/public.quiet.sql");
  });

  test.for([
    ["drops a policy", "drop policy read_all on public.quiet"],
    ["adds a policy", "create policy forgotten on public.quiet for select to svc_anonymous using (true)"],
    ["changes a privilege", "grant select on public.quiet to svc_anonymous"],
    ["changes a policy", "alter policy read_all on public.quiet using (id > 0)"],
    ["switches row-level security off", "alter table public.quiet disable row level security"],
    [
      "makes the table anew",
      "drop table public.quiet; create table public.quiet (id integer primary key, body text not null)",
    ],
  ] as const)("that %s has the file of that table applied again", async ([what, text]) => {
    const name = `90${10 + what.length}_${what.replaceAll(" ", "_")}.sql`;
    const state = () => db.sql("select svc_private.access_state('public.quiet') as it");
    const relation = () => db.sql("select 'public.quiet'::regclass::oid::text as it");
    const [before, oid] = [await state(), await relation()];
    write(`migrations/${name}`, `${text};`);
    expect(await migrate(options())).toContain("application/sql/policies/public.quiet.sql");
    if ((await relation())[0]?.it === oid[0]?.it) expect(await state()).toEqual(before);
    expect(
      await db.sql("select polname::text as name from pg_policy where polrelid = 'public.quiet'::regclass"),
    ).toEqual([{ name: "read_all" }]);
  });

  test("of the application that waits, or fails, does not hold the platform's tables", async () => {
    const holder = await db.connect("admin");
    await holder.query("begin; lock table public.quiet in access share mode");
    const { promise: wayGiven, resolve } = Promise.withResolvers<void>();
    const appliedAt = "select max(applied_at)::text as it from svc_private.applied_sql where scope = 'platform'";
    const before = await db.sql(appliedAt);
    const report = (line: string) => line.includes("rolled back") && resolve();
    const migration = migrate({ ...options(), again: true, lockWaitMs: 100, report });
    await wayGiven;
    // Already committed, while the application's part still waits.
    expect(await db.sql(appliedAt)).not.toEqual(before);
    await holder.query("commit");
    await migration;

    write("migrations/9900_fails.sql", "create table public.half (id integer); select 1 / 0;");
    const failed = await migrate({ ...options(), again: true }).then(() => "", String);
    expect(failed).toContain("9900_fails.sql: division by zero");
    expect(failed).toContain("The platform's files have been applied; the application's have not.");
    expect(await db.sql("select to_regclass('public.half') as it")).toEqual([{ it: null }]);
    rmSync(join(folder, "migrations/9900_fails.sql"));
    expect(await migrate(options())).toEqual([]);
  });
});

/** From 18 on a generated column may be virtual, and a publication may have generated columns. */
const hasVirtual = Number.parseInt(inject("serverVersion"), 10) >= 18;

describe("publish_tables", () => {
  const publish = (client: pg.Client, wanted: object[]) =>
    client.query("select svc_private.publish_tables($1)", [JSON.stringify(wanted)]);
  const identity = (name: string) =>
    db.sql(
      `select c.relreplident::text as kind, (select array_agg(a.attname::text order by a.attname)
           from pg_index i join pg_attribute a on a.attrelid = c.oid and a.attnum = any (i.indkey)
          where i.indrelid = c.oid and i.indisreplident) as columns
         from pg_class c where c.oid = $1::regclass`,
      [name],
    );
  let client: pg.Client;
  beforeAll(async () => {
    client = await db.connect("admin");
    await db.sql("create table public.followed (id integer primary key, owner text not null, team text not null)");
    await db.sql(
      `create table public.parted (id integer, owner text not null, day date, primary key (id, day)) partition by range (day);
       create table public.parted_1 partition of public.parted for values from ('2026-01-01') to ('2027-01-01')`,
    );
  });

  test("compares an identity by its columns, and locks nothing where nothing differs", async () => {
    for (const columns of [
      ["id", "owner"],
      ["id", "team"],
      ["team", "id", "owner"],
    ]) {
      const wanted = [{ table: "public.followed", identity: columns }];
      await publish(client, wanted);
      expect(await identity("public.followed")).toEqual([{ kind: "i", columns: columns.toSorted() }]);
      await client.query("begin");
      await publish(client, [{ ...wanted[0], identity: columns.toReversed() }]);
      expect(await held(client)).toEqual([]);
      await client.query("commit");
    }
    expect(
      await db.sql(
        "select indexrelid::regclass::text as name from pg_index where indrelid = 'followed'::regclass order by 1",
      ),
    ).toEqual([{ name: "followed_identity" }, { name: "followed_pkey" }]);
  });

  test("takes a key over the identity's columns instead of an index beside it, also in place of one from before", async () => {
    await db.sql("create table public.keyed (owner text not null, team text not null)");
    const wanted = [{ table: "public.keyed", identity: ["team", "owner"] }];
    await publish(client, wanted);
    await db.sql("alter table public.keyed add primary key (owner, team)");
    for (const _ of ["switches", "keeps it"]) {
      await publish(client, wanted);
      expect(await identity("public.keyed")).toEqual([{ kind: "i", columns: ["owner", "team"] }]);
      expect(
        await db.sql("select indexrelid::regclass::text as name from pg_index where indrelid = 'keyed'::regclass"),
      ).toEqual([{ name: "keyed_pkey" }]);
    }
    await db.sql(
      "insert into public.keyed values ('ann', 'blue'); update public.keyed set team = 'red'; drop table public.keyed",
    );
  });

  test("renames its index with the table: the names of a fresh database are the same", async () => {
    await db.sql("create table public.called (id integer primary key, owner text not null)");
    await publish(client, [{ table: "public.called", identity: ["id", "owner"] }]);
    await db.sql("alter table public.called rename to recalled");
    await publish(client, [{ table: "public.recalled", identity: ["id", "owner"] }]);
    expect(await identity("public.recalled")).toEqual([{ kind: "i", columns: ["id", "owner"] }]);
    expect(
      await db.sql("select to_regclass('called_identity'), to_regclass('recalled_identity')::text as now"),
    ).toEqual([{ to_regclass: null, now: "recalled_identity" }]);
    await db.sql("drop table public.recalled");
  });

  test("drops its index when the table has no owner any more, or needs all columns", async () => {
    await db.sql("create table public.given (id integer primary key, owner text not null)");
    for (const without of [[], "full"]) {
      await publish(client, [{ table: "public.given", identity: ["id", "owner"] }]);
      expect(await identity("public.given")).toEqual([{ kind: "i", columns: ["id", "owner"] }]);
      await publish(client, [{ table: "public.given", identity: without }]);
      expect(await identity("public.given")).toEqual([{ kind: without === "full" ? "f" : "d", columns: null }]);
      expect(
        await db.sql("select indexrelid::regclass::text as name from pg_index where indrelid = 'given'::regclass"),
      ).toEqual([{ name: "given_pkey" }]);
    }
    await db.sql("drop table public.given");
  });

  test("gives tables whose long names begin alike an index each, also when the columns change", async () => {
    const tables = ["a", "b"].map((end) => `public.${"long_".repeat(11)}${end}`);
    for (const table of tables) {
      await db.sql(`create table ${table} (id integer primary key, owner text not null, team text not null)`);
    }
    for (const columns of [
      ["id", "owner"],
      ["id", "team"],
      ["id", "owner", "team"],
    ]) {
      await publish(
        client,
        tables.map((table) => ({ table, identity: columns })),
      );
      for (const table of tables) expect(await identity(table)).toEqual([{ kind: "i", columns }]);
    }
    for (const table of tables) await db.sql(`drop table ${table}`);
  });

  test("makes an index beside a key that is checked at the end of a transaction: it cannot identify rows", async () => {
    await db.sql(
      "create table public.later (owner text not null, team text not null, unique (owner, team) deferrable)",
    );
    await publish(client, [{ table: "public.later", identity: ["team", "owner"] }]);
    expect(
      await db.sql(
        "select indexrelid::regclass::text as name from pg_index where indrelid = 'later'::regclass and indisreplident",
      ),
    ).toEqual([{ name: "later_identity" }]);
    await db.sql("drop table public.later");
  });

  test("takes a partitioned table under its own name, with the identity on its partitions", async () => {
    const wanted = [
      { table: "public.parted", identity: ["id", "owner"] },
      { table: "public.followed", identity: [] },
    ];
    await publish(client, wanted);
    expect(
      await db.sql("select tablename::text as name from pg_publication_tables where pubname = 'svc' order by 1"),
    ).toEqual([{ name: "followed" }, { name: "parted" }]);
    expect(
      [...(await identity("public.parted")), ...(await identity("public.parted_1"))].map(({ kind }) => kind),
    ).toEqual(["f", "f"]);
    expect(await identity("public.followed")).toEqual([{ kind: "d", columns: null }]);
    // This used to fail: an update and a delete on a published partition.
    await db.sql("insert into public.parted values (1, 'ann', '2026-05-05')");
    await db.sql("update public.parted set owner = 'bob'");
    await db.sql("delete from public.parted");
    await client.query("begin");
    await publish(client, wanted);
    expect(await held(client)).toEqual([]);
    await client.query("commit");
  });

  test("publishes stored generated columns of rows that are logged whole: PostgreSQL 18 refuses their updates else", async () => {
    const generated = () =>
      db.sql("select from pg_publication p where p.pubname = 'svc' and to_jsonb(p) ->> 'pubgencols' = 's'");
    await db.sql(
      `create table public.computed (id integer primary key, owner text,
         twice text generated always as (owner || owner) stored)`,
    );
    await publish(client, [{ table: "public.computed", identity: ["id", "owner"] }]);
    await db.sql("insert into public.computed values (1, 'ann'); update public.computed set owner = 'bob'");
    if (hasVirtual) expect(await generated()).toHaveLength(1);
    // An identity without the column needs no more of it in the log.
    await publish(client, [{ table: "public.computed", identity: [] }]);
    if (hasVirtual) expect(await generated()).toEqual([]);
    await db.sql("delete from public.computed; drop table public.computed");
  });

  test.skipIf(!hasVirtual)("refuses a virtual generated column where rows are logged whole", async () => {
    await db.sql(
      "create table public.computed (id integer primary key, owner text, twice text generated always as (owner || owner))",
    );
    await expect(publish(client, [{ table: "public.computed", identity: ["id", "owner"] }])).rejects.toMatchObject({
      message: "realtime cannot follow public.computed: PostgreSQL does not publish its virtual column twice",
      hint: expect.stringContaining("STORED"),
    });
    await db.sql("drop table public.computed");
  });

  test("leaves nothing published when nothing is wanted", async () => {
    await publish(client, []);
    expect(await db.sql("select from pg_publication_tables where pubname = 'svc'")).toEqual([]);
  });
});
