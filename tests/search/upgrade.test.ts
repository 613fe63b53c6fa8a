// If this file fails, search finds nothing, or has other scores, after an upgrade of an application with rows.
import { expect, test } from "vitest";
import { migrate } from "../../src/migrate/migrate.ts";
import { Database } from "../support/database.ts";
import { root } from "../support/global-setup.ts";

/**
 * One row for each term and document, as in migrations before 0018; since 0016 with the document's lengths. Words of
 * the test are their own stems.
 */
const filled = (withLengths: boolean) => `
  create table pages (id integer primary key, title text, body text, corpus text);
  insert into pages
  select p, 'boat', repeat('house ', p % 9) || repeat('harbour ', p % 2) || case p when 3 then '' else 'crane' end,
         case when p % 3 = 0 then 'other' else 'default' end
    from generate_series(1, 40) as p;
  insert into pages values (41, '', '', 'default');
  insert into svc_private.search_tables (name, relation, declared_by, definition)
  values ('"public"."pages"', 'pages'::regclass, 'application', '{"table": "\\"public\\".\\"pages\\"", "id": "id",
    "fields": ["title", "body"], "language": "english", "corpus": "corpus", "always": "public", "other": "once"}');
  insert into svc_private.search_groups (table_id, corpus, visibility) values (1, 'default', 'public'), (1, 'other', 'public');
  insert into svc_private.search_documents (group_id, table_id, row_id, lengths)
  select g.id, 1, p.id, array[cardinality(regexp_split_to_array(nullif(p.title, ''), ' ')), cardinality(string_to_array(nullif(trim(p.body), ''), ' '))]
    from pages p join svc_private.search_groups g using (corpus);
  update svc_private.search_documents set lengths = array[coalesce(lengths[1], 0), coalesce(lengths[2], 0)];
  insert into svc_private.search_postings (group_id, term, document_id, frequencies${withLengths ? ", lengths" : ""})
  select d.group_id, case word when 'house' then 'hous' when 'harbour' then 'harbour' else word end, d.id,
         array[count(*) filter (where field = 1), count(*) filter (where field = 2)]${withLengths ? ", d.lengths" : ""}
    from svc_private.search_documents d join pages p on p.id::text = d.row_id
   cross join lateral unnest(array[p.title, p.body]) with ordinality as f (content, field)
   cross join lateral regexp_split_to_table(trim(f.content), ' ') as word
   where word <> ''
   group by d.id, 2;
  insert into svc_private.search_counters (group_id, term, fields, documents)
  select group_id, term, case when frequencies[2] = 0 then 1 else 2 end, count(*) from svc_private.search_postings group by 1, 2, 3;
  insert into svc_private.search_totals
  select group_id, count(*), array[sum(lengths[1]), sum(lengths[2])] from svc_private.search_documents group by 1;`;

test.for([15, 17])(
  "an index that was filled after %i migrations is the one that indexing makes now",
  async (before) => {
    const db = new Database();
    await db.create("template1");
    try {
      await migrate({ adminUrl: db.url("admin"), platform: root, platformMigrations: before });
      await db.sql(filled(before > 15));
      await migrate({ adminUrl: db.url("admin"), platform: root });

      const index = async () => ({
        documents: await db.sql(
          "select row_id, group_id, lengths, keys, others from svc_private.search_documents order by row_id",
        ),
        counters: await db.sql(
          "select group_id, key, max(term), sum(documents) from svc_private.search_counters group by 1, 2 order by 1, 2",
        ),
        totals: await db.sql("select group_id, documents, lengths from svc_private.search_totals order by 1"),
      });
      const upgraded = await index();
      expect(upgraded.documents).toHaveLength(41);
      expect(upgraded.counters.length).toBeGreaterThan(10);
      const declared = {
        table: '"public"."pages"',
        id: "id",
        fields: ["title", "body"],
        language: "english",
        corpus: "corpus",
      };
      await db.sql("select svc_private.install_search($1)", [JSON.stringify([{ ...declared, always: "public" }])]);
      expect(upgraded).toEqual(await index());
    } finally {
      await db.drop();
    }
  },
);
