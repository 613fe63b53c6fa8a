// If this file fails, a run's conversion is not charged, or a provider is called that is not allowed or too expensive.
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { loadConfig } from "../../src/config/load-config.ts";
import { v, workflow } from "../../src/index.ts";
import { procedure } from "../fixture/backend/index.ts";
import { aiProvider } from "../support/ai-provider.ts";
import { database } from "../support/database.ts";
import { apiWith, service, type User } from "../support/service.ts";
import { until, workers } from "../support/worker.ts";

const convert = workflow("test.paid", {
  args: { storageId: v.string(), paidFallback: v.boolean(), maxServiceCredits: v.optional(v.number()) },
  handler: async (wf, args) => {
    const { creditsCharged, providerTrace } = await wf.services.document.convert({ ...args, mode: "force-external" });
    return { creditsCharged, used: providerTrace.at(-1)?.provider };
  },
});
const start = procedure.mutation
  .name("paid.start")
  .input(v.object({ paidFallback: v.boolean(), maxServiceCredits: v.optional(v.number()) }))
  .handler(async ({ context, input }) => {
    const storageId = await context.storage.storeBuffer(
      Buffer.from(`a,b\n1,${input.maxServiceCredits}\n`),
      "table.csv",
      "text/csv",
    );
    return context.workflows.start("test.paid", { storageId, ...input });
  });

const db = database();
const provider = aiProvider();
const api = apiWith({ procedures: { start }, workflows: { convert } });
const startWorker = workers(db, api);
const app = service(db, api);
let ann: User;
beforeAll(async () => {
  ann = await app.signUp("ann");
  const base = await loadConfig({ cwd: join(import.meta.dirname, "../fixture"), env: {} });
  const hosted = { hosted_ai_a: { baseUrl: provider.url, apiKey: "a key", model: "reader", creditsPerPage: 7 } };
  // Less than a page costs: the cap of AI calls is none of conversions.
  const ai = { ...base.ai, creditsPerRequest: 1 };
  await startWorker({ config: { ...base, ai, documents: { defaultCap: 10, hosted } } });
});

async function runWith(args: object) {
  const { id } = (await app.mutate(ann, "paid.start", args)).body.json;
  const get = async () => (await app.query(ann, "workflows.get", { id })).body.json;
  await until(async () => ["completed", "failed"].includes((await get()).status));
  return get();
}

test("a hosted provider of the configuration is asked, and charged to the run's user", async () => {
  expect(await runWith({ paidFallback: true })).toMatchObject({
    status: "completed",
    result: { creditsCharged: 7, used: "hosted_ai_a" },
  });
  const admin = await db.connect("admin");
  const { rows } = await admin.query("select user_id, operation, state, charged::float8 from svc.ai_ledger");
  expect(rows).toEqual([{ user_id: ann.id, operation: "document.convert", state: "settled", charged: 7 }]);
});

test("a conversion is held to its own cap, not to that of AI calls", async () => {
  const result = { creditsCharged: 7, used: "hosted_ai_a" };
  expect(await runWith({ paidFallback: true, maxServiceCredits: 7 })).toMatchObject({ status: "completed", result });
});

test("what was paid for once is not paid for again", async () => {
  await runWith({ paidFallback: true, maxServiceCredits: 8 });
  const asked = provider.asked.length;
  expect(await runWith({ paidFallback: true, maxServiceCredits: 8 })).toMatchObject({
    status: "completed",
    result: { creditsCharged: 0, used: "hosted_ai_a" },
  });
  expect(provider.asked.length).toBe(asked);
});

test("of two that want the same at the same time one pays, and the other waits for its result", async () => {
  let answer = () => {};
  const isAsked = new Promise<void>((resolve) => {
    provider.fault = (response) => {
      // The first request stays open until both runs are in progress.
      answer = () =>
        response.end(JSON.stringify({ choices: [{ message: { content: "Read." }, finish_reason: "stop" }] }));
      provider.fault = undefined;
      resolve();
      return true;
    };
  });
  const runs = [
    runWith({ paidFallback: true, maxServiceCredits: 9 }),
    runWith({ paidFallback: true, maxServiceCredits: 9 }),
  ];
  await isAsked;
  await until(async () => {
    const [row] = await db.sql<{ n: number }>(
      "select count(*)::integer as n from svc.workflow_runs where status = 'running'",
    );
    return row?.n === 2;
  });
  answer();
  const results = (await Promise.all(runs)).map(({ result }) => result);
  expect(results.map(({ creditsCharged }) => creditsCharged).toSorted()).toEqual([0, 7]);
  expect(provider.asked).toHaveLength(1);
});

test("one that waits for a conversion that fails tries for itself, and what died in one is taken on", async () => {
  const input = { paidFallback: true, maxServiceCredits: 10 };
  provider.fault = (response) => {
    provider.fault = undefined;
    response.writeHead(400).end();
    return true;
  };
  const runs = await Promise.all([runWith(input), runWith(input)]);
  expect(runs.map(({ status }) => status)).toContain("completed");
  expect(await db.sql("select from svc_private.document_conversions where result is null")).toEqual([]);

  // A process that dies leaves its claim behind, which is not renewed.
  await db.sql(
    "update svc_private.document_conversions set result = null, claim = gen_random_uuid(), claimed_until = now()",
  );
  expect(await runWith(input)).toMatchObject({ status: "completed", result: { creditsCharged: 7 } });
});

const states = () =>
  db.sql<{ state: string }>("select state from svc.ai_ledger where user_id = $1 order by id", [ann.id]);

test("a result that could not be stored is paid for at the next attempt only", async () => {
  const before = (await states()).length;
  const admin = await db.connect("admin");
  await admin.query(`
    create sequence public.refused;
    grant usage on sequence public.refused to public;
    create function public.refuse_once() returns trigger language plpgsql as $$
    begin
      if new.result is not null and nextval('public.refused') = 1 then raise exception 'not this time'; end if;
      return new;
    end $$;
    create trigger refuse_once before insert or update on svc_private.document_conversions
      for each row execute function public.refuse_once()`);
  expect(await runWith({ paidFallback: true, maxServiceCredits: 7.5 })).toMatchObject({
    status: "completed",
    result: { creditsCharged: 7 },
  });
  expect((await states()).slice(before).map(({ state }) => state)).toEqual(["released", "settled"]);
});

test("of two that convert the same after a claim has expired one pays", async () => {
  const before = (await states()).length;
  const waiting: ServerResponse[] = [];
  provider.fault = (response) => waiting.push(response) > 0;
  const input = { paidFallback: true, maxServiceCredits: 8.5 };
  const first = runWith(input);
  await expect.poll(() => waiting.length).toBe(1);
  // As when its process has lost the database for a time.
  await db.sql("update svc_private.document_conversions set claimed_until = '-infinity' where result is null");
  const second = runWith(input);
  await expect.poll(() => waiting.length).toBe(2);
  for (const response of waiting) {
    const choices = [{ message: { content: "Read." }, finish_reason: "stop" }];
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ choices }));
  }
  const charged = (await Promise.all([first, second])).map(({ result }) => result.creditsCharged);
  expect(charged.toSorted()).toEqual([0, 7]);
  expect(
    (await states())
      .slice(before)
      .map(({ state }) => state)
      .toSorted(),
  ).toEqual(["released", "settled"]);
});

test("without leave to pay, and above the cap, nobody is asked", async () => {
  expect(await runWith({ paidFallback: false })).toMatchObject({
    status: "failed",
    error: { code: "DOCUMENT_PAID_FALLBACK_REQUIRED" },
  });
  expect(await runWith({ paidFallback: true, maxServiceCredits: 6 })).toMatchObject({
    status: "failed",
    error: { code: "DOCUMENT_COST_ABOVE_CAP" },
  });
  expect(provider.asked).toEqual([]);
});
