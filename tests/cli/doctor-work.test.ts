// If this file fails, jobs and runs that a release has left behind fail an hour later without a word in `svc doctor`.
import { createSvc, defineApi, workflow } from "@svc/core";
import { expect, test } from "vitest";
import { examineKept, examineWork } from "../../src/cli/doctor-work.ts";
import { database } from "../support/database.ts";

const db = database();

const { procedure } = createSvc({ schema: {} });
const handler = () => null;
const api = defineApi({
  procedures: { known: procedure.internal.name("work.known").handler(handler) },
  workflows: { known: workflow("work.known", { version: 2, handler }) },
});

const enqueue = (name: string) => db.sql("select svc_private.enqueue_system_job($1, null, null, null, null)", [name]);
const start = (name: string, version: number) =>
  db.sql("select svc_private.add_run(null, true, $1, $2, '{}', null, null, null)", [name, version]);

test("names what jobs and runs need and the code does not have", async () => {
  const system = (await db.connect("system")) as never;
  await enqueue("work.known");
  await start("work.known", 2);
  expect(await examineWork(system, api)).toEqual([]);

  await enqueue("work.gone");
  await start("work.known", 1);
  await start("work.known", 1);
  await start("work.gone", 1);
  const [{ kind, text } = { kind: "", text: "" }] = await examineWork(system, api);
  expect(kind).toBe("advice");
  expect(text.split("\n").slice(1, -2)).toEqual([
    '  internal procedure "work.gone": 1 job',
    '  workflow "work.gone", version 1: 1 run',
    '  workflow "work.known", version 1: 2 runs',
  ]);

  await db.sql("update svc.workflow_runs set status = 'failed'");
  await db.sql("update graphile_worker._private_jobs set attempts = max_attempts");
  expect(await examineWork(system, api)).toEqual([]);
});

test("names the endpoints whose deliveries fail, before they are dead", async () => {
  const system = (await db.connect("system")) as never;
  const pending = (endpoint: string, attempts: number, error: string | null) =>
    db.sql(
      `insert into svc.webhook_deliveries (webhook, source, endpoint, row_key, body, attempts, last_error)
       values ('w', 'env', $1, '', '{}', $2, $3)`,
      [endpoint, attempts, error],
    );
  await pending("WELL_HOOK", 1, null);
  await pending("WELL_HOOK", 2, "answered 503"); // a receiver that restarts
  expect(await examineKept(system, 30)).toEqual([]);
  for (let number = 0; number < 3; number++) await pending("AWAY_HOOK", 3, "connect ECONNREFUSED 127.0.0.1:9");
  await pending("SLOW_HOOK", 4, "no answer within 15 s");
  expect(await examineKept(system, 30)).toEqual([
    {
      kind: "advice",
      text:
        "Deliveries of webhooks fail, and are tried again: 3 to AWAY_HOOK (connect ECONNREFUSED 127.0.0.1:9), 1 to SLOW_HOOK (no " +
        "answer within 15 s).\n  See svc webhooks list --state pending, and whether the receivers answer.",
    },
  ]);
  await db.sql("delete from svc.webhook_deliveries");
});

test("tells of dead deliveries, of months of the history and of messages of channels that the sweep could not remove", async () => {
  const system = (await db.connect("system")) as never;
  expect(await examineKept(system, 30)).toEqual([]);
  await db.sql(`insert into svc.webhook_deliveries (webhook, source, endpoint, row_key, body, state, ended_at)
    values ('w', 'env', 'HOOK', '', '{}', 'dead', now())`);
  await db.sql(`create table svc_private.history_2020_01 partition of svc_private.history_entries
    for values from ('2020-01-01 00:00+00') to ('2020-02-01 00:00+00')`);
  expect((await examineKept(system, false)).map(({ text }) => text.split("\n")[0])).toEqual([
    "Deliveries of webhooks have used up their attempts: 1.",
  ]);
  const [, month] = await examineKept(system, 30);
  expect(month?.text).toMatch(/^A month of the history is \d{4} days older than limits.historyDays/);
  await db.sql("select svc_private.sweep_history('30 days')");
  expect(await examineKept(system, 30)).toHaveLength(1);
  const message = { name: "room", topic: "room", message: "said", body: "{}", keep: 60_000, max: 10 };
  await db.sql("select svc.store_messages($1)", [JSON.stringify([message])]);
  await db.sql("update svc.channel_messages set expires_at = now() - interval '1 day'");
  expect(await examineKept(system, 30)).toHaveLength(1);
  await db.sql("update svc.channel_messages set expires_at = now() - interval '5 days'");
  expect((await examineKept(system, 30)).map(({ text }) => text)).toEqual([
    expect.stringContaining("used up their attempts"),
    expect.stringMatching(/^Messages of durable channels are stored 5 days longer than their channels say/),
  ]);
});
