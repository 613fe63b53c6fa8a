// If this file fails, a write without await is lost while developing, and nothing says so; or a sent write is called lost.
import { Writable } from "node:stream";
import { eq } from "drizzle-orm";
import { beforeAll, expect, test } from "vitest";
import { workflow } from "../../src/index.ts";
import { createLog } from "../../src/telemetry/log.ts";
import { procedure } from "../fixture/backend/index.ts";
import { notes } from "../fixture/backend/schema.ts";
import { database } from "../support/database.ts";
import { apiWith, service, type User } from "../support/service.ts";
import { until, workers } from "../support/worker.ts";

const forgetful = procedure.mutation.name("forgetful").handler(async ({ context: { db, auth } }) => {
  const userId = auth.requireAuth().user.id;
  void db.insert(notes).values({ userId, title: "lost" });
  void db.update(notes).set({ userId, title: "lost" }).where(eq(notes.id, 0));
  await db.transaction(async (inner) => void inner.delete(notes));
});
const careful = procedure.mutation.name("careful").handler(async ({ context: { db, auth } }) => {
  const userId = auth.requireAuth().user.id;
  const added = db.insert(notes).values({ userId, title: "kept" }).returning({ id: notes.id });
  const [{ id } = { id: 0 }] = await added;
  const changed = db
    .$with("changed")
    .as(db.update(notes).set({ userId, title: "kept" }).where(eq(notes.id, id)).returning());
  await Promise.all([db.with(changed).select().from(changed), db.delete(notes).where(eq(notes.id, 0)).execute()]);
  return db.insert(notes).values({ userId, title: "kept" });
});
const ofSystem = procedure.mutation.name("ofSystem").handler(async ({ context: { unsafeDb, auth } }) => {
  const userId = auth.requireAuth().user.id;
  void unsafeDb.insert(notes).values({ userId, title: "lost" });
  await unsafeDb
    .transaction(async (outer) => {
      await outer.insert(notes).values({ userId, title: "rolled back" });
      await outer.transaction(async (inner) => void inner.delete(notes));
      outer.rollback();
    })
    .catch(() => {});
  const kept = unsafeDb.update(notes).set({ userId }).where(eq(notes.id, 0)).returning();
  return [
    await kept,
    await unsafeDb.query.notes.findMany({ where: eq(notes.id, 0) }),
    await unsafeDb.execute("select 1 as it"),
  ];
});
const byJob = procedure.internal.name("byJob").handler(({ context }) => void context.unsafeDb.delete(notes));
const enqueue = procedure.mutation.name("enqueue").handler(({ context }) => context.scheduler.runAfter(0, "byJob", {}));
const flow = workflow("forgetful.flow", {
  handler: (wf) => wf.step("write", () => void wf.db.delete(notes)),
});
const begin = procedure.mutation.name("begin").handler(({ context }) => context.workflows.start("forgetful.flow"));

const db = database();
const api = apiWith({ procedures: { forgetful, careful, ofSystem, byJob, enqueue, begin }, workflows: { flow } });
const svc = service(db, api);
const startWorker = workers(db, api);
let ann: User;
beforeAll(async () => {
  ann = await svc.signUp("ann");
});

const told = (lines: string[]) =>
  lines.flatMap((line) => {
    const { level, msg, at } = JSON.parse(line);
    return level === 50 && msg.includes("not awaited")
      ? [[msg.split(" ")[0], at.replace(/.*\/(.*):\d+:\d+$/, "$1")]]
      : [];
  });

test("each write that was built and not awaited is named, with its place", async () => {
  const file = "unsent-writes.test.ts";
  expect((await svc.mutate(ann, "forgetful")).status).toBe(200);
  expect(told(svc.logged)).toEqual([
    ["ctx.db.insert(notes)", file],
    ["ctx.db.update(notes)", file],
    ["ctx.db.delete(notes)", file],
  ]);
});

test("writes that are awaited, returned or part of another statement are not", async () => {
  svc.logged.length = 0;
  expect((await svc.mutate(ann, "careful")).status).toBe(200);
  expect((await svc.query(ann, "notes.list")).body.json.total).toBe(2);
  expect(told(svc.logged)).toEqual([]);
});

test("those of unsafeDb are named, also in its transactions", async () => {
  svc.logged.length = 0;
  const { status, body } = await svc.mutate(ann, "ofSystem");
  expect([status, body.json?.map((one: unknown) => Object(one).rowCount ?? one)]).toEqual([200, [[], [], 1]]);
  expect(told(svc.logged)).toEqual([
    ["ctx.unsafeDb.insert(notes)", "unsent-writes.test.ts"],
    ["ctx.unsafeDb.delete(notes)", "unsent-writes.test.ts"],
  ]);
});

test("those of a job are named", async () => {
  const lines: string[] = [];
  const sink = new Writable({ write: (chunk, _encoding, done) => done(void lines.push(String(chunk)) as never) });
  const worker = await startWorker({ log: createLog("info", sink, false) });
  await svc.mutate(ann, "enqueue");
  await until(() => told(lines).length > 0);
  expect(told(lines)).toEqual([["ctx.unsafeDb.delete(notes)", "unsent-writes.test.ts"]]);
  await worker.stop();
});

test("in a step of a workflow", async () => {
  const lines: string[] = [];
  const sink = new Writable({ write: (chunk, _encoding, done) => done(void lines.push(String(chunk)) as never) });
  await startWorker({ log: createLog("info", sink, false) });
  await svc.mutate(ann, "begin");
  await until(() => told(lines).length > 0);
  expect(told(lines)).toEqual([["wf.db.delete(notes)", "unsent-writes.test.ts"]]);
});
