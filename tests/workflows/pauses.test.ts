// If this file fails, a step that waits for another service with an open transaction repeats its call ten times, and its
// author is told nothing.
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { loadConfig } from "../../src/config/load-config.ts";
import { workflow } from "../../src/index.ts";
import { procedure } from "../fixture/backend/index.ts";
import { guestbook, notes } from "../fixture/backend/schema.ts";
import { database } from "../support/database.ts";
import { apiWith, service } from "../support/service.ts";
import { until, workers } from "../support/worker.ts";

const idleInTransactionMs = 100;
/** Longer than PostgreSQL lets a transaction be idle. */
const answer = () => sleep(5 * idleInTransactionMs);
let calls = 0;

const reading = workflow("pauses.reading", {
  retries: { limit: 1, delay: 0 },
  handler: async (wf) => {
    const apart = await wf.step("read", async () => (await wf.db.select().from(notes)).length);
    await wf.step("call", answer);
    await wf.step("read and call", async () => {
      await wf.db.select().from(notes);
      calls++;
      await answer();
    });
    return apart;
  },
});
let late: unknown;
const keeping = workflow("pauses.keeping", {
  handler: async (wf) => {
    const kept: { db?: typeof wf.db } = {};
    await wf.step("keep", () => {
      kept.db = wf.db;
    });
    late = await kept.db
      ?.select()
      .from(notes)
      .catch((error) => String(error.cause));
  },
});
const halves = workflow("pauses.halves", {
  handler: async (wf) => {
    await wf.step("write", () => {
      const nested = wf.db.transaction(async (db) => {
        await db.insert(guestbook).values({ message: "one half" });
        await sleep(20);
        await db.insert(guestbook).values({ message: "the other" });
      });
      nested.catch(() => {});
    });
  },
});
const start = procedure.mutation.name("pauses.start").handler(({ context }) => context.workflows.start(reading, {}));
const keep = procedure.mutation.name("pauses.keep").handler(({ context }) => context.workflows.start(keeping, {}));
const halve = procedure.mutation.name("pauses.halve").handler(({ context }) => context.workflows.start(halves, {}));

const db = database();
const api = apiWith({ procedures: { start, keep, halve }, workflows: { reading, keeping, halves } });
const startWorker = workers(db, api);
const app = service(db, api);

test("a step that pauses for too long after wf.db fails as a step, and says what to do", async () => {
  const config = await loadConfig({ cwd: join(import.meta.dirname, "../fixture"), env: {} });
  await startWorker({ config: { ...config, limits: { ...config.limits, idleInTransactionMs } } });
  const ann = await app.signUp("ann");
  const { id } = (await app.mutate(ann, "pauses.start", {})).body.json;
  const get = async () => (await app.query(ann, "workflows.get", { id })).body.json;
  await until(async () => (await get()).status === "failed");

  const { error, steps } = await get();
  expect(error).toMatchObject({ code: "TIMEOUT", step: "read and call", hint: expect.stringContaining("wf.db") });
  expect(steps.map(({ name, error }: { name: string; error: unknown }) => [name, error === null])).toEqual([
    ["read", true],
    ["call", true],
    ["read and call", false],
  ]);
  expect(calls).toBe(2);
});

test("wf.db that outlives its step is refused, also if the step had not used it", async () => {
  const bob = await app.signUp("bob");
  const { id } = (await app.mutate(bob, "pauses.keep", {})).body.json;
  await until(async () => (await app.query(bob, "workflows.get", { id })).body.json.status === "completed");
  expect(late).toContain("was used after its call had ended");
});

test("a step ends after a nested transaction that it does not wait for", async () => {
  const cid = await app.signUp("cid");
  const { id } = (await app.mutate(cid, "pauses.halve", {})).body.json;
  await until(async () => (await app.query(cid, "workflows.get", { id })).body.json.status === "completed");
  expect(await db.sql("select message from guestbook order by id")).toEqual([
    { message: "one half" },
    { message: "the other" },
  ]);
});
