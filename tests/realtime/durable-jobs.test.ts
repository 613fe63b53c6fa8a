// If this file fails, a job that sends to a durable channel and a transaction that holds the job wait for each other, and
// PostgreSQL ends one of them.
import { expect, test } from "vitest";
import { procedure } from "../fixture/backend/index.ts";
import { database } from "../support/database.ts";
import { apiWith } from "../support/service.ts";
import { jobs, workers } from "../support/worker.ts";
import { channels } from "./durable-application.ts";

let runs = 0;
let hasBegun = Promise.withResolvers<void>();
let mayEnd = Promise.withResolvers<void>();
const tell = procedure.internal.name("test.tell").handler(async ({ context }) => {
  runs++;
  hasBegun.resolve();
  await mayEnd.promise;
  context.realtime.send(channels.diary, { id: "jobs" }, "moved", { text: "of the job" });
});

const db = database();
const startWorker = workers(db, apiWith({ procedures: { tell }, channels }));

test.for(["anonymous", "system"])("a job of the caller %s ends before it locks the channel", async (kind) => {
  await db.sql("delete from svc.channel_messages");
  [runs, hasBegun, mayEnd] = [0, Promise.withResolvers(), Promise.withResolvers()];
  const worker = await startWorker();
  const call = JSON.stringify({ procedure: "test.tell", args: {}, caller: { kind }, requestId: "r" });
  await db.sql("select graphile_worker.add_job('procedure', $1::json)", [call]);
  await hasBegun.promise;
  // As a cancellation holds it, whose worker seems dead.
  const other = await db.connect("admin");
  await other.query("begin");
  await other.query("select from graphile_worker._private_jobs where locked_at is not null for update");
  mayEnd.resolve();
  const waiting = "select query from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()";
  await expect
    .poll(async () => (await db.sql(waiting)).map(({ query }) => query))
    .toEqual([expect.stringMatching("finish_job")]);
  const message = {
    ...{ name: "diary", topic: 'diary::{"id":"jobs"}', message: "moved", body: '{"json":{"text":"of the other"}}' },
    ...{ keep: 3_600_000, max: 10 },
  };
  await other.query("select svc.store_messages($1)", [JSON.stringify([message])]);
  await other.query("commit");
  await expect.poll(() => jobs(db)).toEqual([]);
  const texts = await db.sql("select body::json -> 'json' ->> 'text' as text from svc.channel_messages order by id");
  expect(texts.map(({ text }) => text)).toEqual(["of the other", "of the job"]);
  expect(runs).toBe(1);
  await worker.stop();
});
