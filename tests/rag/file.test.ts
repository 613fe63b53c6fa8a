// If this file fails, a stored file does not become a document for grounded answers: it is converted twice, its pages
// are lost, its progress cannot be followed, or a user ingests another user's file.
import { createSvcProcedureBuilders } from "@svc/core";
import { beforeAll, describe, expect, test } from "vitest";
import { v } from "../../src/kit/v.ts";
import { database } from "../support/database.ts";
import { docx, pdf } from "../support/papers.ts";
import { apiWith, service, type User } from "../support/service.ts";
import { heard, Socket } from "../support/sockets.ts";
import { until, workers } from "../support/worker.ts";
import { procedures } from "./application.ts";

const procedure = createSvcProcedureBuilders();
const store = procedure.mutation
  .name("files.store")
  .input(v.object({ name: v.string(), base64: v.string() }))
  .handler(({ context, input }) => context.storage.storeBuffer(Buffer.from(input.base64, "base64"), input.name, "a/b"));
const ingestFile = procedure.mutation
  .name("files.ingest")
  .allowAnonymous()
  .input(v.any())
  .handler(({ context, input }) => context.rag.ingestFile(input));
const publish = procedure.internal
  .name("files.publish")
  .runAs("system")
  .handler(({ context }) =>
    context.rag.ingest({ title: "House rules", text: "Dogs wait outside.", scope: { ...scope, visibility: "public" } }),
  );
const publishLater = procedure.mutation
  .name("files.publishLater")
  .handler(({ context }) => context.scheduler.runAfter(0, "files.publish"));

const scope = { corpus: "files", visibility: "private" } as const;
const db = database();
const api = apiWith({ procedures: { ...procedures, store, ingestFile, publish, publishLater } });
const startWorker = workers(db, api);
const app = service(db, api);
const pages = [
  ["Opening hours", "The office opens at 8:00 and closes at 17:00.", "It is closed on Sundays."],
  ["Fees", "Every boat pays a mooring fee of 12 euros per night."],
];
let ann: User;
let bob: User;
beforeAll(async () => {
  ann = await app.signUp("ann");
  bob = await app.signUp("bob");
  await startWorker();
});

async function upload(name: string, bytes: Buffer): Promise<string> {
  const { status, body } = await app.mutate(ann, "files.store", { name, base64: bytes.toString("base64") });
  expect([status, body]).toMatchObject([200, {}]);
  return body.json;
}
async function begin(input: object, user = ann): Promise<string> {
  const { status, body } = await app.mutate(user, "files.ingest", { scope, ...input });
  expect([status, body]).toMatchObject([200, {}]);
  return body.json.runId;
}
// biome-ignore lint/suspicious/noExplicitAny: a timeline
async function end(id: string): Promise<any> {
  const get = async () => (await app.query(ann, "workflows.get", { id })).body.json;
  await until(async () => ["completed", "failed"].includes((await get()).status));
  return get();
}
const cited = async (claimText: string) => {
  const question = { question: "?", scope, mode: "qa", claims: [{ claimText }] };
  const { body } = await app.query(ann, "docs.answer", question);
  return body.json.claims[0].citations[0];
};

test("a PDF becomes a document whose pages and headings are cited, and whose file is known", async () => {
  const storageId = await upload("Harbour rules.pdf", pdf(pages));
  const run = await end(await begin({ storageId }));
  expect(run).toMatchObject({
    name: "rag.ingest",
    status: "completed",
    result: { status: "created", sections: 2, chunks: 2, warnings: [] },
    steps: [{ name: "document.convert" }, { name: "rag.ingest" }],
  });
  const citation = await cited("Every boat pays a mooring fee of 12 euros per night.");
  expect(citation).toMatchObject({
    sourceId: run.result.sourceId,
    sourceTitle: "Harbour rules.pdf",
    sectionPath: ["Fees"],
    pageStart: 2,
  });
  const { body } = await app.query(ann, "docs.section", citation.sectionId);
  expect(body.json).toMatchObject({ sourceStorageId: storageId, pageStart: 2, title: "Fees" });
  const list = await app.query(ann, "docs.list", { scope });
  expect(list.body.json).toMatchObject([{ title: "Harbour rules.pdf", storageId }]);
});

test("pages without headings are cited by their pages", async () => {
  const storageId = await upload("log.pdf", pdf([["The log begins in March."], ["The log was kept by Ines."]]));
  await end(await begin({ storageId }));
  expect(await cited("The log was kept by Ines.")).toMatchObject({ sourceTitle: "log.pdf", pageStart: 2 });
});

test("a DOCX, which has no pages, is cited by its headings", async () => {
  const bytes = await docx(["# Quay", "The quay is 240 metres long.", "# Tower", "The tower burns no light at noon."]);
  await end(await begin({ storageId: await upload("quay.docx", bytes), title: "The quay" }));
  const citation = await cited("The quay is 240 metres long.");
  expect(citation).toMatchObject({ sourceTitle: "The quay", sectionPath: ["Quay"], pageStart: 1 });
});

test("its user hears of every step, and nobody else does", async () => {
  const storageId = await upload("notes.txt", Buffer.from("Fog closes the harbour."));
  const [own, foreign] = await Promise.all([Socket.open(app, ann), Socket.open(app, bob)]);
  for (const socket of [own, foreign]) await socket.subscribe("workflows.list");
  const id = await begin({ storageId });
  await end(id);
  await own.wait({ type: "invalidate", queries: ["workflows.list"] });
  expect(await heard(foreign, db)).toEqual([]);
  expect((await app.query(bob, "workflows.get", { id })).status).toBe(404);
});

describe("the same bytes", () => {
  const converted = () => db.sql("select owner_id, used_at from svc_private.document_conversions order by created_at");

  test("with the same options are converted once, and ingested once", async () => {
    const bytes = Buffer.from("The crane lifts 8 tonnes.");
    const first = await end(await begin({ storageId: await upload("crane.txt", bytes) }));
    const before = await converted();
    const second = await end(await begin({ storageId: await upload("crane.txt", bytes) }));
    expect(second.result).toEqual({ ...first.result, status: "unchanged" });
    expect((await converted()).length).toBe(before.length);
    expect(second.steps[0].result).toEqual({ ...first.steps[0].result, creditsCharged: 0 });
  });

  test("under another kind of name are converted again", async () => {
    const bytes = Buffer.from("depth,8\nwidth,9\n");
    await end(await begin({ storageId: await upload("depths.txt", bytes) }));
    const before = await converted();
    await end(await begin({ storageId: await upload("depths.csv", bytes) }));
    expect((await converted()).length).toBe(before.length + 1);
  });

  test("of another user are converted for them: nobody learns what others have", async () => {
    const bytes = Buffer.from("The buoy is red.");
    await end(await begin({ storageId: await upload("buoy.txt", bytes) }));
    const before = await converted();
    const args = { name: "buoy.txt", base64: bytes.toString("base64") };
    const { body } = await app.mutate(bob, "files.store", args);
    const id = await begin({ storageId: body.json }, bob);
    const get = async () => (await app.query(bob, "workflows.get", { id })).body.json;
    await until(async () => (await get()).status === "completed");
    expect((await converted()).slice(before.length)).toMatchObject([{ owner_id: bob.id }]);
  });
});

test("a changed file under the same sourceUri replaces what was there", async () => {
  const first = await upload("tide.txt", Buffer.from("High tide is at six."));
  const next = await upload("tide.txt", Buffer.from("High tide is at seven."));
  const { result } = await end(await begin({ storageId: first, sourceUri: "tides" }));
  expect((await end(await begin({ storageId: next, sourceUri: "tides" }))).result).toMatchObject({
    sourceId: result.sourceId,
    status: "replaced",
  });
  expect(await db.sql("select storage_id from svc.rag_sources where id = $1", [result.sourceId])).toEqual([
    { storage_id: next },
  ]);
});

// A large file may be read longer than the next version of it, and a step may be retried after that one is stored.
test("an earlier upload that ends after a later one of the same sourceUri does not replace it", async () => {
  const [first, next] = ["The ferry leaves at one.", "The ferry leaves at two."].map((text) => Buffer.from(text));
  const early = await begin({ storageId: await upload("ferry.txt", first as Buffer), sourceUri: "ferry" });
  await end(early);
  const late = await begin({ storageId: await upload("ferry.txt", next as Buffer), sourceUri: "ferry" });
  const { result } = await end(late);
  // As if its last step had failed until now.
  await db.sql("update svc.workflow_runs set status = 'failed' where id = $1", [early]);
  const retry = { id: early, fromStep: "rag.ingest" };
  expect((await app.mutate(ann, "workflows.retry", retry)).status).toBe(200);
  expect((await end(early)).result).toMatchObject({ ...result, status: "superseded" });
  expect(await cited("The ferry leaves at two.")).toMatchObject({ sourceId: result.sourceId });
  expect((await db.sql("select text from svc.rag_chunks where source_id = $1", [result.sourceId])).length).toBe(1);
});

test("a document larger than a checkpoint is ingested whole", async () => {
  const filler = " The log of the harbour says so, and whoever keeps it has never been wrong about a length,".repeat(5);
  const berth = (at: number) => `Berth ${at} is ${at % 90} metres long.${filler} so they say.`;
  const text = Array.from({ length: 1_300 }, (_, at) => berth(at)).join("\n\n");
  const storageId = await upload("berths.txt", Buffer.from(text));
  expect(await end(await begin({ storageId }))).toMatchObject({ status: "completed", result: { status: "created" } });
  expect((await cited("Berth 1299 is 39 metres long.")).snippet).toContain("Berth 1299");
});

test("a file that somebody made public becomes a document of whoever ingests it", async () => {
  const storageId = await upload("notice.txt", Buffer.from("The slipway is closed in June."));
  await db.sql("update svc.storage_objects set visibility = 'public' where id = $1", [storageId]);
  const id = await begin({ storageId }, bob);
  const get = async () => (await app.query(bob, "workflows.get", { id })).body.json;
  await until(async () => ["completed", "failed"].includes((await get()).status));
  expect(await get()).toMatchObject({ status: "completed", result: { status: "created" } });
  expect(await cited("The slipway is closed in June.")).toBeUndefined();
});

describe("is refused", () => {
  test("a file of others, as one that does not exist", async () => {
    const storageId = await upload("mine.txt", Buffer.from("Mine."));
    expect((await app.mutate(bob, "files.ingest", { scope, storageId })).status).toBe(404);
    expect((await app.mutate(bob, "files.ingest", { scope, storageId: crypto.randomUUID() })).status).toBe(404);
  });

  test.for([
    ["nobody's session", null, {}, 401],
    ["a scope of others", "ann", { scope: { ...scope, ownerUserId: "bob" } }, 403],
    ["no scope", "ann", { scope: undefined }, 400],
    ["an empty title", "ann", { title: "" }, 400],
    ["a language that is none", "ann", { language: "klingon" }, 400],
  ] as const)("%s", async ([, who, more, status]) => {
    const storageId = await upload("a.txt", Buffer.from("A."));
    const input = { scope, storageId, ...more };
    expect((await app.mutate(who && ann, "files.ingest", input)).status).toBe(status);
  });

  test("what is no document, in the run, with the reason and without trying again", async () => {
    const storageId = await upload("broken.pdf", Buffer.from("%PDF-1.4 nothing of one"));
    const run = await end(await begin({ storageId }));
    expect(run).toMatchObject({ status: "failed", error: { code: expect.stringMatching(/^DOCUMENT_/) }, attempts: 0 });
    expect(await db.sql("select from svc.rag_sources where title = 'broken.pdf'")).toEqual([]);
  });
});

test("what the system ingests belongs to nobody: anyone reads it, and no user changes it", async () => {
  await app.mutate(ann, "files.publishLater");
  const published = { scope: { ...scope, visibility: "public" } };
  const list = async () => (await app.query(null, "docs.list", published)).body.json;
  await until(async () => (await list()).length > 0);
  const [{ id, title }] = await list();
  expect(title).toBe("House rules");
  expect((await app.mutate(ann, "docs.remove", id)).status).toBe(404);
  expect(await db.sql("select owner_id from svc.rag_sources where id = $1", [id])).toEqual([{ owner_id: null }]);
});

test("conversions that nobody asked for in a month are swept", async () => {
  const storageId = await upload("old.txt", Buffer.from("Old."));
  const run = await end(await begin({ storageId }));
  const { conversionId } = run.steps[0].result;
  await db.sql("update svc_private.document_conversions set used_at = now() - interval '31 days' where id = $1", [
    conversionId,
  ]);
  expect(await db.sql("select svc_private.sweep_conversions('30 days', 9) as removed")).toEqual([{ removed: 1 }]);
});

test("the text of a deleted file is swept after a day, but not while a run needs it", async () => {
  const storageId = await upload("secret.txt", Buffer.from("The safe stands behind the mirror."));
  const run = await end(await begin({ storageId }));
  const sweep = async () => (await db.sql("select svc_private.sweep_conversions('30 days', 9) as removed"))[0];
  const setStatus = (status: string) =>
    db.sql("update svc.workflow_runs set status = $1, finished_at = null where id = $2", [status, run.id]);
  const used = (interval: string) =>
    db.sql("update svc_private.document_conversions set used_at = now() - $1::interval where id = $2", [
      interval,
      run.steps[0].result.conversionId,
    ]);
  await used("2 days");
  expect(await sweep()).toEqual({ removed: 0 });
  await db.sql("delete from svc.storage_objects where id = $1", [storageId]);
  await setStatus("running");
  expect(await sweep()).toEqual({ removed: 0 });
  await setStatus("completed");
  await used("1 hour");
  expect(await sweep()).toEqual({ removed: 0 });
  await used("2 days");
  expect(await sweep()).toEqual({ removed: 1 });
});
