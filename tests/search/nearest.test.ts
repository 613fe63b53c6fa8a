// If this file fails, a user with few rows among many finds none of them by vector, or pages of rows that are equally near
// repeat some and miss others.
import { describe, expect, inject, test } from "vitest";
import { database } from "../support/database.ts";

const db = database();

describe.skipIf(!inject("vector"))("vector search", () => {
  test("finds all rows that pass, also where the index's walk ends before it meets them", async () => {
    await db.sql(`
      create table marks (id integer primary key, corpus text, at extensions.vector(2));
      insert into marks select n, 'many', array[1, n / 3000.0]::extensions.vector from generate_series(1, 3000) as n;
      insert into marks select 3000 + n, 'few', array[-1, n]::extensions.vector from generate_series(1, 5) as n;
      create index on marks using hnsw (at extensions.vector_cosine_ops);`);
    const scope = { corpus: "corpus", visibility: null, owner: null, always: "public" };
    const declared = [{ table: "public.marks", id: "id", fields: ["corpus"], language: "simple", ...scope }];
    await db.sql("select svc_private.install_search($1, 'marks')", [JSON.stringify(declared)]);
    const client = await db.connect("admin");
    await client.query("begin; set local hnsw.max_scan_tuples = 400; set local hnsw.iterative_scan = 'strict_order'");
    // Makes the planner use the index.
    await client.query(
      "set local enable_seqscan = off; set local enable_sort = off; set local search_path = public, extensions",
    );
    const walk = await client.query("select id from marks where corpus = 'few' order by at <=> '[1,0]' limit 3");
    expect(walk.rows).toEqual([]);

    const find = async (corpus: string, pageSize: number, skipped: number) => {
      const { rows } = await client.query<{ id: string }>(
        "select id from svc.search_vector($1, 'at', '[1,0]', $2, '[]', $3, $4)",
        [{ table: "public.marks" }, { corpus, visibility: "public" }, pageSize, skipped],
      );
      return rows.map(({ id }) => id);
    };
    expect(await find("few", 10, 0)).toEqual(["3005", "3004", "3003", "3002", "3001"]);
    expect(await find("few", 2, 1)).toEqual(["3004", "3003"]);
    expect(await find("many", 3, 1)).toEqual(["2", "3", "4"]);
    await client.query("rollback");
  });

  test.for([
    { how: "along the index", corpus: "many", setting: "set local enable_seqscan = off; set local enable_sort = off" },
    { how: "without the index", corpus: "many", setting: "set local enable_indexscan = off" },
    {
      how: "where the index's walk ends early",
      corpus: "some",
      setting: "set local enable_seqscan = off; set local enable_sort = off; set local hnsw.max_scan_tuples = 1",
    },
  ])("pages of equally near rows have every row once: $how", async ({ corpus, setting }) => {
    await db.sql(`
      create table if not exists twins (id integer primary key, corpus text, at extensions.vector(2));
      truncate twins;
      insert into twins select n, 'many', array[1, n * n % 3]::extensions.vector from generate_series(1, 900) as n;
      insert into twins select 900 + n, 'some', array[-1, n * n % 3]::extensions.vector from generate_series(1, 90) as n;
      create index if not exists near on twins using hnsw (at extensions.vector_cosine_ops);
      analyze twins;`);
    const scope = { corpus: "corpus", visibility: null, owner: null, always: "public" };
    const declared = [{ table: "public.twins", id: "id", fields: ["corpus"], language: "simple", ...scope }];
    await db.sql("select svc_private.install_search($1, 'twins')", [JSON.stringify(declared)]);
    const client = await db.connect("admin");
    const size = 90;
    for (const limit of [1, 7, 40]) {
      const met: string[] = [];
      for (let skipped = 0; skipped < size; skipped += limit) {
        await client.query(`begin; ${setting}`);
        const { rows } = await client.query<{ id: string }>(
          "select id from svc.search_vector($1, 'at', '[1,0]', $2, '[]', $3, $4)",
          [{ table: "public.twins" }, { corpus, visibility: "public" }, Math.min(limit, size - skipped), skipped],
        );
        await client.query("rollback");
        met.push(...rows.map(({ id }) => id));
      }
      expect(met).toHaveLength(size);
      expect(new Set(met).size).toBe(size);
    }
  });

  test.each([
    ["customer_support_conversation_messages", ["embedding_of_question", "embedding_of_answer"]],
    ["고객지원대화메시지기록보관표", ["질문내용임베딩", "답변내용임베딩"]],
  ])("has an index for each vector column, however long the names are: %s", async (table, columns) => {
    await db.sql(
      `create table ${table} (id integer primary key, ${columns.map((name) => `${name} extensions.vector(2)`).join(", ")}, title text)`,
    );
    const scope = { corpus: null, visibility: null, owner: null, always: "public" };
    const declared = [{ table: `public.${table}`, id: "id", fields: ["title"], language: "simple", ...scope }];
    await db.sql("select svc_private.install_search($1, $2)", [JSON.stringify(declared), table]);
    const indexes = await db.sql<{ column: string }>(
      `select a.attname as column from pg_index i join pg_attribute a on a.attrelid = i.indrelid and a.attnum = i.indkey[0]
        where i.indrelid = $1::regclass and not i.indisprimary order by a.attnum`,
      [table],
    );
    expect(indexes.map(({ column }) => column)).toEqual(columns);
    const [known] = await db.sql(
      "select svc_private.is_searchable(relation, id) as it from svc_private.search_tables where relation = $1::regclass",
      [table],
    );
    expect(known).toEqual({ it: true });
  });
});
