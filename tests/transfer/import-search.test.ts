// If this file fails, rows that an import wrote are not found by search, are found by words that they no longer have, or
// are indexed one by one, so that an import into a searchable table takes longer than its statements may.
import { beforeAll, beforeEach, expect, test } from "vitest";
import { database } from "../support/database.ts";
import { apiWith, service, type User } from "../support/service.ts";
import { until, workers } from "../support/worker.ts";
import { entriesSql, procedures, upload } from "./entries.ts";

const db = database();
const declared = {
  table: '"public"."entries"',
  id: "id",
  fields: ["title", "body"],
  language: "english",
  always: "public",
};
const install = (tables: object[]) => db.sql("select svc_private.install_search($1)", [JSON.stringify(tables)]);
beforeAll(async () => {
  await db.sql(entriesSql);
  await install([declared]);
});
const running = service(db, apiWith({ procedures: { ...procedures, upload } }));
const startWorker = workers(db, apiWith({ procedures: { ...procedures, upload } }));

let ann: User;
beforeAll(async () => {
  ann = await running.signUp("ann");
  await startWorker({ concurrency: 1 });
});
beforeEach(() => db.sql("truncate entries restart identity"));

async function imported(lines: string[], more: object = {}) {
  const bytes = Buffer.from(lines.join("\n")).toString("base64");
  const storageId = (await running.mutate(ann, "upload", { bytes })).body.json;
  const { body } = await running.mutate(ann, "entries.import", { storageId, format: "csv", ...more });
  const show = async () => (await running.query(ann, "workflows.get", { id: body.json.id })).body.json;
  await until(async () => ["completed", "failed"].includes((await show()).status));
  return (await show()).result;
}

/** The slugs of the rows with a word. */
async function found(word: string): Promise<unknown[]> {
  const rows = await db.sql(
    `select slug from entries where id::text in (select unnest(row_ids)
       from svc_private.find_matches($1, '{title,body}', $2, 'default', 'public', null, null)) order by slug`,
    [declared.table, word],
  );
  return rows.map(({ slug }) => slug);
}

/** What the index counts. Its keys name the group of the rows, which is another one after each installation. */
const index = async () => ({
  documents: await db.sql("select row_id, lengths from svc_private.search_documents order by row_id"),
  counters: await db.sql(
    `select sum(documents)::integer as documents from svc_private.search_counters
      group by key having sum(documents) <> 0 order by 1`,
  ),
  totals: await db.sql("select sum(documents)::integer as documents from svc_private.search_totals"),
});

test("the rows of a batch are indexed by one statement", async () => {
  const lines = Array.from({ length: 400 }, (_, at) => `s${at},boat ${at}`);
  expect(await imported(["slug,title", ...lines])).toMatchObject({ written: 400, refused: 0 });
  expect(await db.sql("select documents from svc_private.search_counters where term = 'boat'")).toEqual([
    { documents: 400 },
  ]);
  expect(await found("boat")).toHaveLength(400);
});

test("new, changed, repeated and refused rows leave the index that the table's rows have", async () => {
  await imported(["slug,title,body", "a,crane,old words", "b,crane,kept words", "c,crane,"]);
  const result = await imported(
    [
      "slug,title,body,size",
      "a,anchor,new words,1",
      "d,boat,first,1",
      "d,ship,second,1",
      "e,ghost,refused,5000",
      "b,crane,kept words,1",
    ],
    { mode: "upsert", by: "slug" },
  );
  expect(result).toMatchObject({ written: 4, refused: 1 });
  expect([await found("crane"), await found("anchor"), await found("boat"), await found("ship")]).toEqual([
    ["b", "c"],
    ["a"],
    [],
    ["d"],
  ]);
  expect([await found("old"), await found("ghost")]).toEqual([[], []]);

  // The next write of a row is indexed at once.
  await db.sql("update entries set title = 'buoy' where slug = 'c'");
  expect(await found("buoy")).toEqual(["c"]);
  expect(await db.sql("select * from svc_private.search_waiting")).toEqual([]);

  const kept = await index();
  await install([]);
  await install([declared]);
  expect(kept).toEqual(await index());
});

test("what is imported after a restore, where every table has another number, is found", async () => {
  await db.sql("update svc_private.search_tables set relation = 0 where name = $1", [declared.table]);
  expect(await imported(["slug,title", "a,crane"])).toMatchObject({ written: 1 });
  expect(await found("crane")).toEqual(["a"]);
});

test("a row that the index refuses is the only one that is refused", async () => {
  await db.sql(
    "alter table svc_private.search_documents add constraint lab_short check (cardinality(keys) < 5) not valid",
  );
  const result = await imported([
    "slug,title",
    "a,crane",
    "long,one word and another and yet four others more",
    "b,boat",
    "b,twice",
  ]);
  await db.sql("alter table svc_private.search_documents drop constraint lab_short");
  expect(result).toMatchObject({ written: 2, refused: 2 });
  expect([await found("crane"), await found("boat"), await found("twice"), await found("others")]).toEqual([
    ["a"],
    ["b"],
    [],
    [],
  ]);
});
