// If this file fails, an operator does not see a delivery that failed, cannot send it again, or keeps all of them for ever.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, expect, test } from "vitest";
import { defineAuth } from "../../src/contract/auth.ts";
import { defineApi, webhook } from "../../src/index.ts";
import { createLog } from "../../src/telemetry/log.ts";
import { missingReceivers } from "../../src/webhooks/receivers.ts";
import { webhooksFile } from "../../src/webhooks/webhooks-sql.ts";
import { openDueJobs } from "../../workers/run-due.ts";
import { startWorker } from "../../workers/runner.ts";
import { procedure } from "../fixture/backend/index.ts";
import * as schema from "../fixture/backend/schema.ts";
import { notes } from "../fixture/backend/schema.ts";
import { fixture, svcHere } from "../support/cli.ts";
import { database, waitsForLock } from "../support/database.ts";
import { secret as serviceSecret } from "../support/service.ts";
import { until } from "../support/worker.ts";
import { otherSecret, secret, webhooks } from "./application.ts";
import { api, noteChanged, noteDone } from "./definitions.ts";

const db = database();
const { got, answers, at, config, worker, deliveries, addEndpoint, addNote } = webhooks(db);
const folder = await mkdtemp(join(tmpdir(), "svc-webhooks-"));
afterAll(() => rm(folder, { recursive: true }));

const run = (...args: string[]) => svcHere(db, fixture, args, { DATABASE_ADMIN_URL: "" });
const ids = { dead: crypto.randomUUID(), pending: crypto.randomUUID(), sent: crypto.randomUUID() };

beforeEach(() =>
  db.sql(
    `insert into svc.webhook_deliveries (id, webhook, source, endpoint, row_key, body, state, attempts, due_at, last_status, last_error, ended_at)
     select id::uuid, webhook, 'env', 'DONE_HOOK', 'notes ' || state, '{"type":"x"}', state, attempts, now() + interval '1 hour', status, error,
            case when state <> 'pending' then now() end
       from (values ($1, 'note.done', 'sent', 1, 200, null),
                    ($2, 'note.done', 'pending', 3, null, 'connect ECONNREFUSED'),
                    ($3, 'note.done', 'dead', 11, 500, 'The receiver answered 500.'),
                    (gen_random_uuid()::text, 'undeclared', 'dead', 11, 500, 'The receiver answered 500.'))
            v (id, webhook, state, attempts, status, error)`,
    [ids.sent, ids.pending, ids.dead],
  ),
);
const state = async (id: string) => (await deliveries()).find((one) => one.id === id)?.state;

test("svc webhooks lists dead deliveries first, shows one, and sends dead ones again", async () => {
  const all = await run("webhooks", "list");
  expect(all.text).toMatch(/id +state +webhook +endpoint +attempts +changed at \(UTC\) +last error/);
  expect(all.text.match(/ (dead|pending|sent) /g)).toEqual([" dead ", " dead ", " pending ", " sent "]);
  const dead = await run("webhooks", "list", "--state", "dead", "--webhook", "note.done", "--json");
  expect(JSON.parse(dead.out)).toMatchObject([{ id: ids.dead, state: "dead", attempts: 11, last_status: 500 }]);
  expect(dead.out).not.toContain("type"); // bodies are long
  expect((await run("webhooks", "show", ids.dead)).text).toMatch(
    /endpoint +DONE_HOOK\n(.*\n)+last error +The receiver answered 500\.\nbody +\{"type":"x"\}/,
  );

  expect((await run("webhooks", "retry", ids.sent)).text).toContain(`Delivery ${ids.sent} is sent.`);
  expect((await run("webhooks", "retry")).text).toContain("Say what to send again.");
  expect((await run("webhooks", "retry", crypto.randomUUID())).text).toContain("There is no delivery");
  expect((await run("webhooks", "retry", "7")).text).toContain('"7" is not a delivery\'s id.');
  expect(await run("webhooks", "retry", "--dead")).toMatchObject({
    code: 0,
    text: "1 delivery is due now; a worker sends.\n",
  });
  expect([await state(ids.dead), await state(ids.pending)]).toEqual(["pending", "pending"]);
  const [undeclared] = await db.sql("select id from svc.webhook_deliveries where state = 'dead'");
  expect((await run("webhooks", "retry", undeclared?.id)).text).toContain(
    '"undeclared" is no longer declared, or runs',
  );
  expect(await db.sql("select act, outcome from svc.operator_acts")).toEqual([
    { act: "act_retry_deliveries", outcome: "retried 1" },
  ]);
});

test("many dead deliveries are sent again ten thousand at a time, those that died first before others", async () => {
  await db.sql(
    `insert into svc.webhook_deliveries (webhook, source, endpoint, row_key, body, state, ended_at)
     select 'note.done', 'env', 'DONE_HOOK', n::text, '{}', 'dead', now() - interval '1 day' from generate_series(1, 10000) n`,
  );
  expect(await db.sql("select svc_private.retry_deliveries(null, null)::integer as it")).toEqual([{ it: 10_000 }]);
  expect(await state(ids.dead)).toBe("dead");
  await db.sql(
    "update svc.webhook_deliveries set state = 'dead', ended_at = now() - interval '1 day' where row_key <> 'notes pending' and state = 'pending'",
  );
  expect((await run("webhooks", "retry", "--dead")).text).toBe("10001 deliveries are due now; a worker sends.\n");
  expect(await state(ids.dead)).toBe("pending");
});

test("a delivery that dies is told as an error, with the command that sends it again", async () => {
  const lines: Record<string, unknown>[] = [];
  answers.set("/ann", 410);
  await worker({ log: createLog("info", { write: (line) => void lines.push(JSON.parse(line)) }) });
  await addEndpoint("ann", "/ann");
  await addNote("ann", "1");
  const error = () => lines.find(({ level }) => level === 50);
  await until(() => error() !== undefined);
  expect(error()).toMatchObject({
    webhook: "note-changed",
    reason: "The receiver answered 410.",
    delivery: expect.any(String),
  });
  expect(error()?.msg).toContain("svc webhooks retry sends it again");
});

test("svc webhooks declared lists what a change of a table is told to, and what it runs", async () => {
  const follow = procedure.internal.name("notes.follow").handler(() => {});
  const on = notes;
  const noteFollowed = webhook({
    name: "note-followed",
    on,
    when: "insert",
    columns: ["id"],
    to: { procedure: follow },
  });
  const more = defineApi({ webhooks: { noteDone, noteChanged, noteFollowed } })["~svc"].webhooks;
  await db.sql(`set role svc_owner; ${webhooksFile(more)}; reset role`);
  await db.sql('alter table notes disable trigger "_svc_webhook_note.done_update"');
  const { text } = await run("webhooks", "declared");
  await db.sql(`set role svc_owner; ${webhooksFile(api["~svc"].webhooks)}; reset role`);
  expect(text.split("\n").map((line) => line.trim().split(/ {2,}/))).toEqual([
    ["webhook", "table", "when", "of the columns", "to"],
    ["note-changed", "notes", "insert, update, delete", "id, title", "rows of public.endpoints"],
    ["note-followed", "notes", "insert", "id", "runs notes.follow"],
    ["note.done (off)", "notes", "update", "id, title, created_at", "DONE_HOOK"],
    [""],
  ]);
});

test("a delivery that is retried is sent by a running worker", async () => {
  await worker();
  await run("webhooks", "retry", ids.dead);
  await until(async () => (await state(ids.dead)) === "sent");
  expect(got.map(({ headers }) => headers["webhook-id"])).toEqual([ids.dead]);
});

test("the daily sweep removes what ended longer ago than limits.webhookDays, and nothing pending", async () => {
  await db.sql(`update svc.webhook_deliveries set created_at = now() - interval '9 days',
    ended_at = case when state = 'sent' then now() - interval '3 days' when state = 'dead' then now() - interval '1 day' end`);
  await db.sql("insert into svc_private.webhook_leases values ('env', 'OLD', null, now() - interval '2 days')");
  await db.sql("update graphile_worker._private_jobs set run_at = now()");
  const base = await config();
  const storage = { driver: "disk" as const, dir: folder };
  await worker({ config: { ...base, storage, limits: { ...base.limits, webhookDays: 2 } } });
  await db.sql("select svc_private.keep_sweep_job('0')");
  await db.sql('update graphile_worker._private_jobs set run_at = now(); notify "jobs:insert", \'{"count":1}\'');
  await until(async () => (await state(ids.sent)) === undefined);
  expect([await state(ids.dead), await state(ids.pending)]).toEqual(["dead", "pending"]);
  await until(async () => (await db.sql("select from svc_private.webhook_leases")).length === 0);
});

test("the sweep and another retry wait for nobody, and keep a delivery that is retried at the same moment", async () => {
  await db.sql("update svc.webhook_deliveries set ended_at = now() - interval '9 days' where state <> 'pending'");
  await db.sql("insert into svc_private.webhook_leases values ('env', 'DONE_HOOK', null, now() - interval '2 days')");
  const [operator, system] = [await db.connect("admin"), await db.connect("system")];
  await operator.query("begin");
  await operator.query("select svc_private.retry_deliveries($1, null)", [ids.dead]);
  await operator.query("select from svc_private.webhook_leases for update");
  const { rows } = await system.query("select svc_private.retry_deliveries(null, null)::integer as retried");
  expect(rows).toEqual([{ retried: 0 }]);
  const swept = system.query("select svc_private.sweep_deliveries('2 days')");
  const isWaiting = async () => (await db.sql(waitsForLock)).length > 0;
  await until(async () => (await isWaiting()) || (await state(ids.sent)) === undefined);
  const waited = await isWaiting();
  await operator.query("commit");
  await swept;
  expect([await state(ids.dead), await state(ids.sent), waited]).toEqual(["pending", undefined, false]);
});

test("many deliveries to an endpoint that is gone, or another owner's now, end little by little, and none of them is sent", async () => {
  await db.sql("delete from svc.webhook_deliveries");
  const given = await addEndpoint("bob", "/given");
  await db.sql(
    `insert into svc.webhook_deliveries (webhook, source, endpoint, owner, row_key, body)
     select 'note-changed', '"public"."endpoints"', e.id, e.owner, n::text, '{}'
       from (values (gen_random_uuid()::text, null), ($1, 'ann')) e (id, owner), generate_series(1, 1200) n`,
    [given],
  );
  await db.sql(
    "insert into svc.webhook_deliveries (webhook, source, endpoint, row_key, body) values ('note.done', 'env', 'DONE_HOOK', '', '{}')",
  );
  const ended: number[] = [];
  const claimed: string[] = [];
  for (let claims = 0; claims < 4; claims++) {
    claimed.push(
      ...(await db.sql("select endpoint from svc_private.claim_deliveries(50, '1 minute')")).map((one) => one.endpoint),
    );
    ended.push((await deliveries()).filter((one) => one.state === "dead").length);
  }
  expect(claimed).toEqual(["DONE_HOOK"]);
  expect(ended).toEqual([1050, 2050, 2400, 2400]);
});

test("what is due is found, and its end noted, without reading all that wait", async () => {
  await db.sql("analyze svc.webhook_deliveries"); // before they come, as of a queue that was empty for long
  await db.sql(
    `insert into svc.webhook_deliveries (webhook, source, endpoint, row_key, body, due_at)
     select 'note.done', 'env', 'DONE_HOOK', n::text, '{}', now() + (n - 2) * interval '1 minute' from generate_series(1, 5000) n`,
  );
  await db.sql(
    "insert into svc_private.webhook_leases (source, endpoint, busy_until, places) values ('env', 'DONE_HOOK', now(), 10)",
  );
  const client = await db.connect("admin");
  await client.query("begin");
  const claimed = await client.query("select id from svc_private.claim_deliveries(50, '1 minute')");
  await client.query("select svc_private.end_delivery($1, 1, 200, null, null)", [claimed.rows[0]?.id]);
  const read = await client.query(
    "select (seq_tup_read + idx_tup_fetch)::int as rows from pg_stat_xact_all_tables where relid = 'svc.webhook_deliveries'::regclass",
  );
  await client.query("rollback");
  expect(claimed.rowCount).toBe(2);
  expect(read.rows[0].rows).toBeLessThan(100);
});

test("tests of an application that run due jobs send what is due, too", async () => {
  const app = { api, auth: defineAuth({}), schema };
  const log = createLog("silent");
  const due = await openDueJobs({ app, config: await config(), urls: db.urls, secrets: [serviceSecret], log });
  await addNote("ann", "boat");
  await db.sql("update notes set done = true");
  await due.run();
  expect(got.map(({ body }) => body.data.title)).toEqual(["boat"]);
  await due.close();
});

test("a missing variable or secret is named; in production a worker does not start", async () => {
  const missing = async (variables: Record<string, string>) =>
    missingReceivers(api["~svc"].webhooks, (await config(variables)).webhooks);
  expect(await missing({})).toEqual([]);
  expect(await missing({ DONE_HOOK_SECRET: `${secret},${otherSecret}` })).toEqual([]);
  const needs = 'The webhook "note.done" needs a receiver, but';
  expect(await missing({ DONE_HOOK: "", DONE_HOOK_SECRET: "" })).toEqual([
    `${needs} DONE_HOOK is not set.`,
    `${needs} DONE_HOOK_SECRET is not set.`,
  ]);
  expect(await missing({ DONE_HOOK: "billing", DONE_HOOK_SECRET: "hunter2" })).toEqual([
    `${needs} DONE_HOOK is not a URL.`,
    `${needs} DONE_HOOK_SECRET is not whsec_ and 24 to 64 bytes in base64.`,
  ]);
  const app = { api, auth: defineAuth({}), schema };
  const wrong = { ...(await config({ DONE_HOOK: "" })), production: true };
  expect(() =>
    startWorker({ app, config: wrong, urls: db.urls, secrets: [serviceSecret], log: createLog("silent") }),
  ).toThrow(`${needs} DONE_HOOK is not set.`);
});

test("URLs and secrets of receivers are not printed with the configuration", async () => {
  const { describeConfig } = await import("../../src/config/describe-config.ts");
  const text = describeConfig(await config());
  expect(text).toContain("webhooks.variables.DONE_HOOK: ***");
  expect([text.includes(secret), text.includes(at("/done"))]).toEqual([false, false]);
});
