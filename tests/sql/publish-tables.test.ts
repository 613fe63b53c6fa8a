// If this file fails, live queries stop calls on tables that have not changed, or leave an index behind that no other
// database of the application has.
import type pg from "pg";
import { beforeAll, describe, expect, inject, test } from "vitest";
import { database } from "../support/database.ts";
import { locksHeld } from "./locks-held.ts";

const db = database();

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
      expect(await locksHeld(client)).toEqual([]);
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

  // Such a database could not be restored: its own indexes were not those of a copy.
  test("drops its index from under a foreign key that a key of the table serves too", async () => {
    await db.sql("create table public.held (id integer primary key, org text not null)");
    const wanted = [{ table: "public.held", identity: ["id", "org"] }];
    await publish(client, wanted);
    await db.sql(
      `alter table public.held add constraint held_org unique (org, id), add parent integer,
         add constraint held_parent foreign key (org, parent) references public.held (org, id);
       create table public.holder (org text, held integer);
       alter table public.holder add constraint holder_held foreign key (org, held) references public.held (org, id)
         on delete cascade deferrable initially deferred;
       comment on constraint holder_held on public.holder is 'lint:allow unindexed_foreign_key: an example.'`,
    );
    const facts = () =>
      db.sql(
        `select pg_get_constraintdef(k.oid) as is, obj_description(k.oid) as remark, k.conindid::regclass::text as rests_on
           from pg_constraint k where k.confrelid = 'held'::regclass order by k.conname`,
      );
    const before = await facts();
    expect(before.map(({ rests_on }) => rests_on)).toEqual(["held_identity", "held_identity"]);
    expect(await db.sql("select part from svc_private.list_facts() where part = 'held_identity'")).toHaveLength(1);
    for (const identity of [["id", "org"], []]) {
      await publish(client, [{ table: "public.held", identity }]);
      expect(await facts()).toEqual(before.map((fact) => ({ ...fact, rests_on: "held_org" })));
      expect(await db.sql("select to_regclass('public.held_identity') as index")).toEqual([{ index: null }]);
    }
    await db.sql("drop table public.holder, public.held");
  });

  test("keeps its index where a foreign key has no other", async () => {
    await db.sql("create table public.lone (id integer primary key, org text not null)");
    await publish(client, [{ table: "public.lone", identity: ["id", "org"] }]);
    await db.sql(
      "create table public.holder (org text, lone integer, foreign key (org, lone) references public.lone (org, id))",
    );
    await publish(client, [{ table: "public.lone", identity: [] }]);
    expect(await identity("public.lone")).toEqual([{ kind: "d", columns: null }]);
    expect(await db.sql("select to_regclass('lone_identity')::text as index")).toEqual([{ index: "lone_identity" }]);
    await db.sql("drop table public.holder, public.lone");
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

  test("names an index after a table whose name has more bytes than letters, and after another that begins so", async () => {
    const names = ["월별고객사주문내역및반품요청처리결과요약표", "월별고객사주문내역및반품요청처리결과요약본"]; // 63 bytes
    for (const name of names) await db.sql(`create table public.${name} (id integer primary key, owner text not null)`);
    const wanted = names.map((name) => ({ table: `public.${name}`, identity: ["id", "owner"] }));
    for (let round = 0; round < 2; round++) {
      await publish(client, wanted);
      for (const { table } of wanted) expect(await identity(table)).toEqual([{ kind: "i", columns: ["id", "owner"] }]);
    }
    expect(await db.sql("select from pg_class where relname ~ '^월별.*_identity$'")).toHaveLength(2);
    for (const name of names) await db.sql(`drop table public.${name}`);
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
    expect(await locksHeld(client)).toEqual([]);
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

  test("says what to do about a publication for all tables that somebody made by hand", async () => {
    await client.query("begin; drop publication svc; create publication svc for all tables");
    await expect(publish(client, [{ table: "public.followed", identity: [] }])).rejects.toMatchObject({
      message: "the publication svc is for all tables: svc cannot choose those that realtime follows",
      hint: expect.stringContaining("drop publication svc"),
    });
    await client.query("rollback");
  });

  test("leaves nothing published when nothing is wanted", async () => {
    await publish(client, []);
    expect(await db.sql("select from pg_publication_tables where pubname = 'svc'")).toEqual([]);
  });
});
