// If this file fails, documents are stored twice or in part, or are cut so that citations point elsewhere.
import { randomUUID } from "node:crypto";
import { createSvcProcedureBuilders } from "@svc/core";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { v } from "../../src/kit/v.ts";
import { runInThread } from "../../src/text/worker-thread.ts";
import { database } from "../support/database.ts";
import { apiWith, service, type User } from "../support/service.ts";
import { until } from "../support/worker.ts";
import { handbook, procedures } from "./application.ts";

const db = database();
/** A model of the application that waits, so that two calls overlap. */
const gate = { asked: 0, open: () => {}, wait: Promise.resolve() };
/** Titles of the documents that were cut, in that order. */
const cut: string[] = [];
const ingestWithGate = createSvcProcedureBuilders()
  .mutation.name("docs.ingestWithGate")
  .input(v.any())
  .handler(({ context, input }) =>
    context.rag.ingest({
      ...input,
      embed: async (texts: string[]) => {
        gate.asked += 1;
        cut.push(input.title);
        await gate.wait;
        return texts.map(() => [1, 0]);
      },
    }),
  );
const running = service(db, apiWith({ procedures: { ...procedures, ingestWithGate } }));
const scope = { corpus: "harbour", visibility: "private" };
let ann: User;
beforeAll(async () => {
  ann = await running.signUp("ann");
});
beforeEach(() => db.sql("delete from svc.rag_sources"));

async function ingest(more: object = {}) {
  const input = { title: "Handbook", markdown: handbook, scope, ...more };
  const { status, body } = await running.mutate(ann, "docs.ingest", input);
  expect([status, body]).toMatchObject([200, {}]);
  return body.json;
}

test("headings make sections, with the way from the top", async () => {
  expect(await ingest()).toMatchObject({ status: "created", sections: 5, chunks: 5 });
  expect(await db.sql("select level, title, path from svc.rag_sections order by position")).toEqual([
    { level: 0, title: "", path: [] },
    { level: 1, title: "Opening hours", path: ["Opening hours"] },
    { level: 1, title: "Fees", path: ["Fees"] },
    { level: 2, title: "Discounts", path: ["Fees", "Discounts"] },
    { level: 1, title: "Safety", path: ["Safety"] },
  ]);
});

test("rows of a table are lines of their own, without the signs that draw it", async () => {
  await ingest({ markdown: "# Fees\n\n| Boat | Fee |\n|---|--:|\n| `Dinghy` | 5 euros |\n| Yacht | 12 euros |" });
  expect(await db.sql("select text, sentence_starts from svc.rag_chunks")).toEqual([
    { text: "Boat · Fee\nDinghy · 5 euros\nYacht · 12 euros", sentence_starts: [1, 12, 29] },
  ]);
});

test("the same document again changes nothing", async () => {
  const first = await ingest();
  const tables = ["svc.rag_sources", "svc.rag_sections", "svc.rag_chunks"];
  const before = await Promise.all(tables.map((table) => db.snapshot(table)));
  expect(await ingest()).toEqual({ ...first, status: "unchanged" });
  expect(await Promise.all(tables.map((table) => db.snapshot(table)))).toEqual(before);
});

test("the same document from another stored file leads to that file", async () => {
  const [first, second] = [randomUUID(), randomUUID()];
  const { sourceId } = await ingest({ storageId: first });
  for (const more of [{ storageId: second }, {}])
    expect(await ingest(more)).toMatchObject({ sourceId, status: "unchanged" });
  expect(await db.sql("select storage_id from svc.rag_sources")).toEqual([{ storage_id: second }]);
});

test("another text at the same address replaces all of the first and keeps the source's id", async () => {
  const first = await ingest({ sourceUri: "https://harbour.example/handbook" });
  const second = await ingest({ sourceUri: "https://harbour.example/handbook", markdown: "# New\n\nAll is new." });
  expect(second).toMatchObject({ sourceId: first.sourceId, status: "replaced", sections: 1, chunks: 1 });
  expect(await db.sql("select text from svc.rag_chunks")).toEqual([{ text: "All is new." }]);
});

test("of two callers with one document at once one has vectors made, and the other finds them stored", async () => {
  gate.wait = new Promise<void>((resolve) => {
    gate.open = resolve;
  });
  const input = { title: "Handbook", markdown: handbook, scope };
  const callers = [1, 2].map(() => running.mutate(ann, "docs.ingestWithGate", input));
  // One computes vectors, the other waits for the lock; without the lock both would compute.
  await until(async () => {
    const waiting = await db.sql(
      "select from pg_locks l join pg_database d on d.oid = l.database where datname = current_database() and locktype = 'advisory' and not granted",
    );
    return gate.asked === 2 || (gate.asked === 1 && waiting.length === 1);
  });
  gate.open();
  const answers = (await Promise.all(callers)).map(({ body }) => body.json);
  expect(answers.map(({ status }) => status).toSorted()).toEqual(["created", "unchanged"]);
  expect(gate.asked).toBe(1);
});

test("twenty callers with one document at once store it once", async () => {
  const answers = await Promise.all(Array.from({ length: 20 }, () => ingest({ sourceUri: "x" })));
  expect(new Set(answers.map(({ sourceId }) => sourceId)).size).toBe(1);
  expect(await db.sql("select count(*)::int from svc.rag_sources")).toEqual([{ count: 1 }]);
  expect(await db.sql("select count(*)::int from svc.rag_chunks")).toEqual([{ count: 5 }]);
});

test("what is removed is gone with its sections and chunks", async () => {
  const { sourceId } = await ingest();
  expect((await running.mutate(ann, "docs.remove", sourceId)).body.json).toBe(true);
  expect(await db.sql("select from svc.rag_chunks union all select from svc.rag_sections")).toEqual([]);
  expect((await running.mutate(ann, "docs.remove", sourceId)).status).toBe(404);
  expect((await running.mutate(ann, "docs.remove", "not an id")).status).toBe(404);
});

test("a list shows newest first, a page at a time", async () => {
  for (const title of ["one", "two", "three"]) await ingest({ title });
  const list = async (more: object) =>
    (await running.query(ann, "docs.list", { scope, ...more })).body.json.map(({ title }: { title: string }) => title);
  expect(await list({})).toEqual(["three", "two", "one"]);
  expect(await list({ limit: 1, offset: 1 })).toEqual(["two"]);
  for (const wrong of [{ limit: "x" }, { offset: "1" }]) {
    const { status, body } = await running.query(ann, "docs.list", { scope, ...wrong });
    expect([status, body.issues?.[0].path]).toEqual([400, Object.keys(wrong)]);
  }
});

describe("chunks", () => {
  const sentence = (number: number) => `Sentence ${number} says something about the harbour — 🚢 included.`;
  const long = Array.from({ length: 60 }, (_, number) => sentence(number)).join(" ");

  test("hold whole sentences, whose places are right", async () => {
    await ingest({ markdown: undefined, text: `${long}\n\nLast.` });
    const chunks = await db.sql(
      `select text, (select array_agg(substr(text, s, coalesce(e, 9999) - s)) from (
          select s, lead(s) over (order by s) e from unnest(sentence_starts) s) x) as sentences
         from svc.rag_chunks order by position`,
    );
    expect(chunks.length).toBeGreaterThan(3);
    for (const { text } of chunks) expect(text.length).toBeLessThanOrEqual(1_100);
    const all = chunks.flatMap(({ sentences }) => sentences.map((one: string) => one.trim()));
    expect(all).toEqual([...Array.from({ length: 60 }, (_, number) => sentence(number)), "Last."]);
  });

  test("say where they stand in the document, in characters and pages", async () => {
    const pages = ["# One 🚢\n\nFirst page.", "# Two\n\nSecond page.", "Still two, on page three."];
    const markdown = pages.join("\f");
    await ingest({ markdown });
    const rows = await db.sql(
      "select text, start_offset, end_offset, page_start, page_end from svc.rag_chunks order by position",
    );
    const characters = [...markdown.replaceAll("\f", "\n")];
    expect(rows).toMatchObject([
      { text: "First page.", page_start: 1, page_end: 1 },
      { page_start: 2, page_end: 3 },
    ]);
    expect(rows.map((row) => characters.slice(row.start_offset, row.end_offset).join(""))).toEqual([
      "First page.",
      "Second page.\nStill two, on page three.",
    ]);
  });

  test("hold the words of Markdown and not its marks", async () => {
    await ingest({
      markdown: "# T\n\n- a **bold** [link](http://x)\n- `code`\n\n> quoted\n\n<!-- no -->\n\n![alt](y.png)",
    });
    const [row] = await db.sql("select text from svc.rag_chunks");
    expect(row?.text).toBe("a bold link\n\ncode\n\nquoted\n\nalt");
  });

  const wrapped = "A sentence that\ngoes on, and\nends here. Another.\n\n| a | 1 |\n| b | 2 |\n";
  const wholes = ["A sentence that goes on, and ends here.", "Another.", "| a | 1 |", "| b | 2 |"];
  test.for([{ markdown: wrapped }, { markdown: undefined, text: wrapped }])(
    "hold sentences that go over lines, and the rows of tables: %j",
    async (more) => {
      await ingest(more);
      const rows = await db.sql(
        `select trim(e'\\n ' from substr(text, s, coalesce(lead(s) over (order by s), 9999) - s)) as sentence
           from svc.rag_chunks, unnest(sentence_starts) s order by s`,
      );
      expect(rows.map(({ sentence }) => sentence)).toEqual(wholes);
    },
  );

  test("do not part at abbreviations", async () => {
    await ingest({ markdown: "Dr. Smith measured e.g. the depth, cf. Fig. 3. It was 4 m." });
    const [row] = await db.sql("select cardinality(sentence_starts) as sentences from svc.rag_chunks");
    expect(row).toEqual({ sentences: 2 });
  });
});

test("a user with many documents does not keep others waiting behind all of them", async () => {
  const bob = await running.signUp("bob");
  gate.wait = Promise.resolve();
  cut.length = 0;
  // Both threads are busy; one of them until after this test.
  const endless = (timeMs: number) =>
    runInThread("cut", ["*a_".repeat(50_000), "markdown"], { timeMs }).catch(() => {});
  const busy = endless(4_000);
  endless(60_000);
  const send = (user: User, title: string) =>
    running.mutate(user, "docs.ingestWithGate", { title, markdown: title, scope });
  const inCalls = "select count(*)::integer from pg_stat_activity where datname = $1 and state = 'idle in transaction'";
  const waiting = async () => (await db.sql(inCalls, [db.name]))[0]?.count;
  const sent = ["first", "second", "third", "fourth"].map((title) => send(ann, title));
  await until(async () => (await waiting()) === 4);
  sent.push(send(bob, "of bob"));
  await until(async () => (await waiting()) === 5);
  await busy;
  await Promise.all(sent);
  expect(cut).toHaveLength(5);
  expect(cut.indexOf("of bob")).toBe(1);
});
