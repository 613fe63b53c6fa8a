// If this file fails, a table that becomes searchable is indexed only in part, or its words are miscounted.
import { expect, inject, test } from "vitest";
import { migrate } from "../../src/migrate/migrate.ts";
import { database } from "../support/database.ts";
import { root } from "../support/global-setup.ts";

const db = database();

test("a table of many pages is indexed in parts, and counted as a whole", async () => {
  // Three rows fill two pages or more, so that there are more pages than are indexed at once.
  await db.sql(`
    create table pile (id integer primary key, body text, ballast text);
    alter table pile alter column ballast set storage plain;
    insert into pile select p, 'boat ' || case p % 2 when 0 then 'crane' else 'fee fee' end, repeat('x', 5000)
      from generate_series(1, 1100) as p`);
  const declared = [{ table: '"public"."pile"', id: "id", fields: ["body"], language: "english", always: "public" }];
  await db.sql("select svc_private.install_search($1)", [JSON.stringify(declared)]);

  expect(
    await db.sql(
      "select term, ((key >> 8) & 1)::integer as fields, documents from svc_private.search_counters order by term, documents",
    ),
  ).toEqual([
    { term: "boat", fields: 1, documents: 550 },
    { term: "boat", fields: 1, documents: 550 },
    { term: "crane", fields: 1, documents: 550 },
    { term: "fee", fields: 1, documents: 550 },
  ]);
  const found = await db.sql<{ row_id: string }>(
    `select unnest(row_ids) as row_id
       from svc_private.find_matches('"public"."pile"', '{body}', 'crane', 'default', 'public', null, null)`,
  );
  expect(found.map(({ row_id }) => Number(row_id)).sort((a, b) => a - b)).toEqual(
    Array.from({ length: 550 }, (_, place) => 2 * place + 2),
  );
});

test("while a table becomes searchable, others are searched and written", async () => {
  await db.sql("create table quay (id integer primary key, body text); create table pier (like quay including all)");
  const install = (name: string) => {
    const declared = { table: `"public"."${name}"`, id: "id", fields: ["body"], language: "english", always: "public" };
    const values: unknown[] = [JSON.stringify([declared]), name];
    return ["select svc_private.install_search($1, $2)", values] as const;
  };
  await db.sql(...install("quay"));
  const migrating = await db.connect("admin");
  await migrating.query("begin");
  await migrating.query("insert into pier values (1, 'crane')");
  await migrating.query(...install("pier"));
  await db.sql("set lock_timeout = '1ms'");
  await db.sql("insert into quay values (1, 'crane')");
  expect(
    await db.sql(
      `select row_ids from svc_private.find_matches('"public"."quay"', '{body}', 'crane', 'default', 'public', null, 10)`,
    ),
  ).toEqual([{ row_ids: ["1"] }]);
  await db.sql("reset lock_timeout");
  await migrating.query("commit");
});

test.skipIf(Number.parseInt(inject("serverVersion"), 10) < 18)("a virtual generated column is refused", async () => {
  await db.sql("create table loud (id integer primary key, body text, shout text generated always as (upper(body)))");
  const declared = {
    table: '"public"."loud"',
    id: "id",
    fields: ["body", "shout"],
    language: "english",
    always: "public",
  };
  await expect(
    db.sql("select svc_private.install_search($1, 'loud')", [JSON.stringify([declared])]),
  ).rejects.toMatchObject({
    message: 'a search cannot read the virtual generated column shout of "public"."loud"',
    hint: "Make the column STORED.",
  });
});

/** Makes a table of texts searchable, and gives what a query finds in it. */
async function searched(name: string, language: string, texts: string[]) {
  const declared = { table: `"public"."${name}"`, id: "id", fields: ["body"], language, always: "public" };
  const install = (more: object = {}) =>
    db.sql("select svc_private.install_search($1, $2)", [JSON.stringify([{ ...declared, ...more }]), name]);
  await db.sql(`create table ${name} (id integer primary key, body text)`);
  await db.sql(`insert into ${name} select place, body from unnest($1::text[]) with ordinality as t (body, place)`, [
    texts,
  ]);
  await install();
  const find = async (query: string) => {
    const rows = await db.sql<{ id: string; score: number }>(
      `select u.id, u.score from svc_private.find_matches($1, '{body}', $2, 'default', 'public', null, null) as m,
              unnest(m.row_ids, m.scores) as u (id, score)`,
      [declared.table, query],
    );
    return Object.fromEntries(rows.map(({ id, score }) => [id, score]));
  };
  return { install, find };
}

test("rows are found under their new corpus after a migration that computes it otherwise", async () => {
  const declared = { table: '"public"."slips"', id: "id", fields: ["body"], language: "english", corpus: "corpus" };
  const install = () =>
    db.sql("select svc_private.install_search($1, 'slips')", [JSON.stringify([{ ...declared, always: "public" }])]);
  const find = async (corpus: string) =>
    (
      await db.sql<{ row_ids: string[] }>(
        "select m.row_ids from svc_private.find_matches($1, '{body}', 'crane', $2, 'public', null, null) as m",
        [declared.table, corpus],
      )
    )[0]?.row_ids;
  const compute = (expression: string) =>
    db.sql(`alter table slips drop column if exists corpus;
      alter table slips add column corpus text generated always as (${expression}) stored`);
  await db.sql("create table slips (id integer primary key, harbour integer, body text)");
  await compute("harbour::text");
  await install();
  await db.sql("insert into slips (id, harbour, body) values (1, 7, 'crane')");
  expect([await find("7"), await find("h7")]).toEqual([["1"], []]);
  await compute("'h' || harbour::text");
  await install();
  expect([await find("7"), await find("h7")]).toEqual([[], ["1"]]);

  // A search of an earlier version is not indexed again for the expression that it did not note.
  const version = () => db.sql("select xmin::text from svc_private.search_documents where row_id = '1'");
  await db.sql("update svc_private.search_tables set definition = definition - 'made' where declared_by = 'slips'");
  const before = await version();
  await install();
  expect(await version()).toEqual(before);
});

test("a table that was renamed, or gave its name to another one, is written as before", async () => {
  const install = (names: string[]) => {
    const declared = names.map((name) => ({
      table: `"public"."${name}"`,
      id: "id",
      fields: ["body"],
      language: "english",
    }));
    const wanted = JSON.stringify(declared.map((one) => ({ ...one, always: "public" })));
    return db.sql("select svc_private.install_search($1, 'berths')", [wanted]);
  };
  const find = (name: string) =>
    db.sql(
      "select m.row_ids from svc_private.find_matches($1, '{body}', 'crane', 'default', 'public', null, null) as m",
      [`"public"."${name}"`],
    );
  await db.sql("create table berths (id integer primary key, body text)");
  await install(["berths"]);
  await db.sql("insert into berths values (1, 'crane')");

  // Renamed and still searchable.
  await db.sql("alter table berths rename to moorings");
  await install(["moorings"]);
  await db.sql("update moorings set body = 'a crane'");
  expect(await find("moorings")).toEqual([{ row_ids: ["1"] }]);

  // Renamed, and another table has its name.
  await db.sql("alter table moorings rename to buoys; create table moorings (id integer primary key, body text)");
  await install(["moorings"]);
  await db.sql("insert into buoys values (2, 'crane'); update buoys set body = 'two cranes'");
  expect(await find("moorings")).toEqual([{ row_ids: [] }]);

  // Renamed and no longer searchable.
  await db.sql("alter table moorings rename to piers");
  await install([]);
  await db.sql("insert into piers values (1, 'crane'); update piers set body = 'a crane'; delete from piers");
});

test.for(["english", "simple"])(
  "in %s the plural of an acronym finds its singular, and the other way round",
  async (language) => {
    const { find } = await searched(`acronyms_${language}`, language, [
      "an RNA",
      "two RNAs",
      "PCs",
      "a PC",
      "(MP3s)",
      "IDS",
      "ROSes",
    ]);
    const found = async (query: string) => Object.keys(await find(query)).map(Number);
    for (const query of ["RNA", "RNAs", "rna"]) expect((await found(query)).toSorted()).toEqual([1, 2]);
    for (const query of ["PC", "PCs"]) expect((await found(query)).toSorted()).toEqual([3, 4]);
    expect(await found("MP3")).toEqual([5]);
    expect(await found("RO")).toEqual([]);
  },
);

test("in English a plural in lower case finds its acronym, and short names that end in s stay whole", async () => {
  const { find } = await searched("acronyms_lower", "english", [
    "one PDF",
    "mRNA",
    "DNS",
    "the DN of an entry",
    "a class",
    "1990",
  ]);
  expect(Object.keys(await find("pdfs"))).toEqual(["1"]);
  expect(Object.keys(await find("mrnas"))).toEqual(["2"]);
  expect(Object.keys(await find("dns"))).toEqual(["3"]);
  expect(Object.keys(await find("clas"))).toEqual([]);
  expect(Object.keys(await find("1990s"))).toEqual([]);
});

test("a table declares the constants of BM25 and how much a field counts, and is not indexed again when they change", async () => {
  const { install, find } = await searched("constants", "simple", [
    "crane crane crane",
    "crane",
    "crane boat boat boat boat boat",
  ]);
  const documents = () => db.sql("select ctid, row_id from svc_private.search_documents order by ctid");
  const indexed = await documents();
  const idf = Math.log(1 + 0.5 / 3.5);
  const score = (k1: number, b: number, tf: number, length: number) =>
    expect.closeTo((idf * tf) / (tf + k1 * (1 - b + (b * length) / (10 / 3))), 9);
  expect(await find("crane")).toEqual({
    1: score(1.2, 0.75, 3, 3),
    2: score(1.2, 0.75, 1, 1),
    3: score(1.2, 0.75, 1, 6),
  });
  await install({ bm25: { k1: 2, b: 0 } });
  expect(await find("crane")).toEqual({ 1: score(2, 0, 3, 3), 2: score(2, 0, 1, 1), 3: score(2, 0, 1, 6) });
  await install({ bm25: { k1: 0 } });
  expect(await find("crane")).toEqual({ 1: score(0, 0.75, 3, 3), 2: score(0, 0.75, 1, 1), 3: score(0, 0.75, 1, 6) });
  await install({ bm25: { weights: [2] } });
  const twice = { 1: score(1.2, 0.75, 6, 3), 2: score(1.2, 0.75, 2, 1), 3: score(1.2, 0.75, 2, 6) };
  expect(await find("crane")).toEqual(twice);
  expect(await documents()).toEqual(indexed);
});

test("svc migrate indexes a table again whose texts were split into other words", async () => {
  const { find } = await searched("older", "simple", ["two RNAs", "a boat"]);
  // As an earlier version has indexed it.
  const older = `update svc_private.search_tables set splitting = 1 where name = '"public"."older"'`;
  await db.sql(`${older}; update svc_private.search_documents set keys = array(
    select svc_private.search_key(group_id, term, 1, 1, 1) as key from unnest('{two,rnas}'::text[]) as term order by 1)
    where row_id = '1' and table_id = (select id from svc_private.search_tables where name = '"public"."older"')`);
  expect(await find("RNAs")).toEqual({});
  const lines: string[] = [];
  const options = { adminUrl: db.url("admin"), platform: root, report: (line: string) => lines.push(line) };
  await migrate(options);
  expect(Object.keys(await find("RNAs"))).toEqual(["1"]);
  expect(Object.keys(await find("boat"))).toEqual(["2"]);
  expect(lines).toEqual([expect.stringContaining('indexed "public"."older" again')]);
  await migrate(options);
  expect(lines).toHaveLength(1);
  // As after a restore, where every table has another number.
  await db.sql(`${older}; update svc_private.search_tables set relation = 0 where name = '"public"."older"'`);
  await migrate(options);
  expect(lines).toHaveLength(2);
});

test("a restored table is not indexed again, and a table that was made anew is", async () => {
  const { install, find } = await searched("moved", "simple", ["a crane", "a boat"]);
  const documents = () => db.sql("select ctid, row_id from svc_private.search_documents order by ctid");
  const indexed = await documents();
  // As after a restore, where every table has another number.
  await db.sql(`update svc_private.search_tables set relation = 0 where name = '"public"."moved"'`);
  await install();
  expect(await documents()).toEqual(indexed);
  await db.sql("drop table moved; create table moved (id integer primary key, body text)");
  await db.sql("insert into moved values (3, 'a crane')");
  await install();
  expect(Object.keys(await find("crane"))).toEqual(["3"]);
  expect(await find("boat")).toEqual({});
});
