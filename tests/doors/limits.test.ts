// If this file fails, rows that a caller may not read displace those that the caller may read, or change their weights.
import { beforeAll, describe, expect, inject, test } from "vitest";
import { database } from "../support/database.ts";
import type { User } from "../support/service.ts";
import { RequestSql } from "./door.ts";

const db = database();
const sql = new RequestSql(db);
const ann = { name: "ann", user: { id: "ann" } as User };
const hidden = 300;
const tables = ["public.pages", "svc.rag_sources", "svc.rag_sections", "svc.rag_chunks"];
const byTitle: Record<string, string> = {
  "public.pages": "title <> 'hidden'",
  "svc.rag_sources": "title <> 'hidden'",
  "svc.rag_sections": "title <> 'hidden'",
  "svc.rag_chunks": "page_start > 0",
};

/** Hides rows that are called hidden, in some of the tables. */
async function hide(...chosen: string[]): Promise<void> {
  for (const table of tables) {
    await db.sql(`drop policy if exists app_hidden on ${table}`);
    if (!chosen.includes(table)) continue;
    await db.sql(
      `create policy app_hidden on ${table} as restrictive for select to svc_anonymous, svc_authenticated using (${byTitle[table]})`,
    );
  }
}

beforeAll(async () => {
  await db.sql(
    `insert into auth."user" (id, name, email) values ('ann', 'Ann', 'ann@x.test'), ('bob', 'Bob', 'bob@x.test')`,
  );
  // The hidden rows match better: they are short and have the word twice, or begin with the word and have many forms.
  await db.sql(
    `insert into pages (user_id, corpus, visibility, title, body)
     select 'bob', 'default', 'shared', 'hidden', 'crane crane boat' || n % 60 || 'x boat' || n % 60 || 'x' from generate_series(1, $1) as n
     union all
     select 'ann', 'default', 'shared', 'shown ' || n, 'a crane that stands beside many other words of the boatman' || n
       from generate_series(1, 5) as n`,
    [hidden],
  );
  if (inject("vector")) {
    await db.sql(
      "update pages set embedding = case title when 'hidden' then '[1,0,0]' else '[1,1,0]' end::extensions.vector",
    );
  }
  const names = `select 'hidden' as title, 'bob' as owner_id, n from generate_series(1, $1) as n
                 union all select 'shown', 'ann', $1 + n from generate_series(1, 5) as n`;
  await db.sql(
    `insert into svc.rag_sources (corpus, visibility, owner_id, key, title, checksum, created_at)
     select 'default', 'shared', owner_id, n::text, title, 'none', now() - n * interval '1 minute' from (${names}) as named`,
    [hidden],
  );
  await db.sql(
    `insert into svc.rag_sections (source_id, corpus, visibility, owner_id, position, level, title, path)
     select id, corpus, visibility, owner_id, 1, 1, title, array[title] from svc.rag_sources`,
  );
  await db.sql(
    `insert into svc.rag_chunks (section_id, source_id, corpus, visibility, owner_id, position, text, sentence_starts,
       start_offset, end_offset, page_start, page_end, words, embedding)
     select id, source_id, corpus, visibility, owner_id, 1, text, '{1}', 0, 1, (title = 'shown')::integer, 1,
            svc_hidden.words_of(text, 'english'), case title when 'hidden' then '{1,0}' else '{0,1}' end::real[]
       from svc.rag_sections
      cross join lateral (select case title when 'hidden' then 'The crane lifts nine tons.' else 'A crane.' end as text) as said`,
  );
});

const shown = Array.from({ length: 5 }, (_, n) => `shown ${n + 1}`);
const target = JSON.stringify({ table: '"public"."pages"' });
const scope = JSON.stringify({ corpus: "default", visibility: "shared" });
const page = "join pages p on p.id = f.id::uuid order by 1";
const tuning = JSON.stringify({
  keywordCandidateLimit: 5,
  vectorCandidateLimit: 5,
  mode: "rrf",
  k: 60,
  keywordWeight: 1,
  vectorWeight: 1,
});
const searches = [
  ["by words", `select title from svc.search_keyword($1, '{body}', 'crane', $2, '[]', 5, 0) as f ${page}`],
  [
    "by the beginning of a word",
    `select title from svc.search_keyword($1, '{body}', 'boat', $2, '[]', 5, 0, true) as f ${page}`,
  ],
] as const;
const vectors = [
  ["by vectors", `select title from svc.search_vector($1, 'embedding', '[1,0,0]', $2, '[]', 5, 0) as f ${page}`],
  [
    "by words and vectors",
    `select title from svc.search_hybrid($1, '{body}', 'crane', 'embedding', '[1,0,0]', $2, '[]', '${tuning}', 5, 0) as f ${page}`,
  ],
] as const;

describe(`behind ${hidden} better rows that are hidden`, () => {
  beforeAll(() => hide(...tables));

  test.for(inject("vector") ? [...searches, ...vectors] : searches)(
    "a search %s finds those that are shown",
    async ([, text]) => {
      const found = await sql.query<{ title: string }>(ann, text, [target, scope]);
      expect(found.map(({ title }) => title)).toEqual(shown);
    },
  );

  test("a list of documents shows the others", async () => {
    const [row] = await sql.query(
      ann,
      "select jsonb_array_length(svc.list_sources('default', 'shared', null, 5, 0)) as n",
    );
    expect(row?.n).toBe(5);
  });
});

describe("evidence", () => {
  const ask = (vector: string) =>
    sql.query<{ source_title: string; coverage: number }>(
      ann,
      `select source_title, coverage from svc.find_evidence('{The crane lifts nine tons.}', 'english', 'default', 'shared', null, null, 5, 5, $1)`,
      [vector],
    );
  const search = (vector: string | null) =>
    sql.query<{ source_title: string }>(
      ann,
      `select source_title, score from svc.find_passages('The crane lifts nine tons.', 'english', 'default', 'shared', null, null, 5, $1)`,
      [vector],
    );
  const places = [["svc.rag_chunks"], ["svc.rag_sections"], ["svc.rag_sources"]] as const;

  test.for(places)("is found behind better chunks whose row in %s is hidden", async ([table]) => {
    await hide(table);
    for (const vector of ["[null]", "[[1, 0]]"]) {
      const found = await ask(vector);
      expect(found.map(({ source_title }) => source_title)).toEqual(Array(5).fill("shown"));
    }
    for (const vector of [null, "{1,0}"]) {
      const found = await search(vector);
      expect(found.map(({ source_title }) => source_title)).toEqual(Array(5).fill("shown"));
    }
  });

  test("is weighed as if hidden chunks were not there", async () => {
    await hide("svc.rag_chunks");
    const both = async () => [await ask("[null]"), await search(null), await search("{1,0}")];
    const before = await both();
    await db.sql("delete from svc.rag_sources where title = 'hidden'");
    expect(await both()).toEqual(before);
    for (const found of before) expect(found).toHaveLength(5);
  });
});

test("a hidden row never tells which words begin with what is asked", async () => {
  await hide("public.pages");
  const text = "select id from svc.search_keyword($1, '{body}', $3, $2, '[]', 5, 0, true)";
  for (const beginning of ["boat1", "boat59", "cranex"]) {
    expect(await sql.query(ann, text, [target, scope, beginning])).toEqual([]);
  }
});
