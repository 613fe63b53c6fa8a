// If this file fails, a cut answer looks complete, a call costs too little, or one transcription is charged twice, or speech that
// nobody gets is charged.
import { readdirSync, readlinkSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { openAiCompatible } from "../../src/ai/openai-compatible.ts";
import type { Provider } from "../../src/ai/provider.ts";
import { loadConfig } from "../../src/config/load-config.ts";
import { aiProvider } from "../support/ai-provider.ts";
import { database } from "../support/database.ts";
import { bytesFolder, bytesIdOf, stored } from "../support/files.ts";
import { apiWith, TestService, type User } from "../support/service.ts";
import { workers } from "../support/worker.ts";
import { procedures } from "./application.ts";

const db = database();
const provider = aiProvider();
const api = apiWith({ procedures });
const dir = bytesFolder();
const startWorker = workers(db, api);
let config: Awaited<ReturnType<typeof loadConfig>>;
let svc: TestService;
let ann: User;

beforeAll(async () => {
  const base = await loadConfig({ cwd: join(import.meta.dirname, "../fixture"), env: {} });
  const ai = { ...base.ai, chatModel: "c", baseUrl: provider.url };
  config = { ...base, storage: { driver: "disk", dir }, ai };
  svc = new TestService(db, api, { storage: config.storage, ai } as object);
  await svc.start();
});
afterAll(() => svc.stop());
beforeEach(async () => {
  ann = await svc.signUp("ann");
});

const ledger = (user: User) =>
  db.sql<{ state: string; input_tokens: number; output_tokens: number }>(
    "select state, input_tokens, output_tokens from svc.ai_ledger where user_id = $1 order by id",
    [user.id],
  );

test.each([
  ["length", "length"],
  ["content_filter", "content-filter"],
])("an answer tells that it is not complete: %s", async (finish, incomplete) => {
  provider.finish = finish;
  expect((await svc.query(ann, "ai.chat", { text: "hello" })).body.json).toMatchObject({ incomplete });
  expect((await svc.query(ann, "ai.extract")).body.json).toMatchObject({ incomplete });
});

test("a count that the provider leaves out is estimated, and the other one is its own", async () => {
  provider.usage = { prompt_tokens: 1000 };
  await svc.query(ann, "ai.chat", { text: "hello" });
  provider.usage = { completion_tokens: 500 };
  await svc.query(ann, "ai.chat", { text: "hello" });
  const [first, second] = await ledger(ann);
  expect([first?.input_tokens, second?.output_tokens]).toEqual([1000, 500]);
  expect(Math.min(first?.output_tokens ?? 0, second?.input_tokens ?? 0)).toBeGreaterThan(0);
});

test("a model without a price is refused before it is called, and a local one still costs nothing", async () => {
  await db.sql("delete from svc_private.ai_prices where model = '*'");
  const { status, body } = await svc.query(ann, "ai.chat", { text: "hello" });
  expect([status, body.code, body.hint]).toEqual([
    402,
    "CREDIT_LIMIT_EXCEEDED",
    "there is no price for the model c. Add its row, or the row * for all others, to svc_private.ai_prices.",
  ]);
  expect([provider.asked, await ledger(ann)]).toEqual([[], []]);
  expect((await db.sql("select svc_private.price_of('local-hash', 10, 0) as price"))[0]).toEqual({ price: "0" });
  await db.sql("insert into svc_private.ai_prices (model, input_per_1000, output_per_1000) values ('*', 1, 3)");
});

test.each<[string, (provider: Provider, signal: AbortSignal) => Promise<unknown> | undefined]>([
  ["embed", (remote, signal) => remote.embed?.("e", ["hello"], signal)],
  ["rerank", (remote, signal) => remote.rerank?.("r", "hello", ["a"], signal)],
  ["transcribe", (remote, signal) => remote.transcribe?.("t", Buffer.from("sound"), "audio/wav", signal, "")],
  ["synthesize", (remote, signal) => remote.synthesize?.("s", "hello", undefined, signal, "")],
])("a call that is aborted while its answer arrives rejects with the signal's reason: %s", async (_name, call) => {
  const aborting = new AbortController();
  provider.fault = (response) => {
    response.writeHead(200, { "content-type": "application/json" }).write("{");
    // Later, so that the head has arrived.
    setTimeout(() => aborting.abort(new Error("enough")), 100);
    return true;
  };
  await expect(call(openAiCompatible(config.ai), aborting.signal)).rejects.toThrow("enough");
});

test("a transcription whose text could not be stored is charged at the next attempt only", async () => {
  const storageId = await stored(svc, ann, new File(["sound"], "a.wav", { type: "audio/wav" }));
  const admin = await db.connect("admin");
  await admin.query(`
    create sequence public.refused;
    grant usage on sequence public.refused to public;
    create function public.refuse_once() returns trigger language plpgsql as $$
    begin
      if nextval('public.refused') = 1 then raise exception 'not this time'; end if;
      return new;
    end $$;
    create trigger refuse_once before update on svc.ai_transcriptions for each row execute function public.refuse_once()`);
  const worker = await startWorker({ config });
  const { id } = (await svc.mutate(ann, "ai.transcribe", { storageId })).body.json;
  const status = async () => (await svc.query(ann, "ai.transcription", { id })).body.json.status;
  await expect.poll(status, { timeout: 60_000 }).toBe("completed");
  expect((await ledger(ann)).map(({ state }) => state)).toEqual(["released", "settled"]);
  await worker.stop();
});

test("a transcription that two workers make at the same time is charged once", async () => {
  const storageId = await stored(svc, ann, new File(["sound"], "a.wav", { type: "audio/wav" }));
  const waiting: ServerResponse[] = [];
  provider.fault = (response) => waiting.push(response) > 0;
  const all = [await startWorker({ config }), await startWorker({ config })];
  const { id } = (await svc.mutate(ann, "ai.transcribe", { storageId })).body.json;
  await expect.poll(() => waiting.length).toBe(1);
  // As when the first one has lost the database for a time.
  await db.sql("update graphile_worker._private_jobs set locked_at = null, locked_by = null");
  await expect.poll(() => waiting.length).toBe(2);
  for (const response of waiting) {
    response.writeHead(200, { "content-type": "application/json" }).end('{"text":"what was said"}');
  }
  const open = async () => (await ledger(ann)).filter(({ state }) => state === "reserved").length;
  await expect.poll(open).toBe(0);
  expect((await svc.query(ann, "ai.transcription", { id })).body.json.status).toBe("completed");
  expect((await ledger(ann)).map(({ state }) => state).toSorted()).toEqual(["released", "settled"]);
  await Promise.all(all.map((worker) => worker.stop()));
});

test("speech whose audio could not be stored is not charged", async () => {
  const admin = await db.connect("admin");
  await admin.query(`
    create function public.refuse_object() returns trigger language plpgsql as $$
    begin
      raise exception 'not this time';
    end $$;
    create trigger refuse_object before insert on svc.storage_objects for each row execute function public.refuse_object()`);
  try {
    expect((await svc.mutate(ann, "ai.speak", { text: "hello" })).status).toBe(500);
    expect((await ledger(ann)).map(({ state }) => state)).toEqual(["released"]);
  } finally {
    await admin.query("drop function public.refuse_object() cascade");
  }
});

test("a transcription whose job an operator cancels has failed, and its page does not wait for ever", async () => {
  const storageId = await stored(svc, ann, new File(["sound"], "a.wav", { type: "audio/wav" }));
  const { id } = (await svc.mutate(ann, "ai.transcribe", { storageId })).body.json;
  const cancel = `select svc_private.act_cancel_job(id) from graphile_worker._private_jobs where payload ->> 'id' = $1`;
  await db.sql(cancel, [id]);
  expect((await svc.query(ann, "ai.transcription", { id })).body.json).toMatchObject({
    status: "failed",
    error: "It was cancelled.",
  });
});

test("a transcription is not completed with a reservation that its worker has released after losing the database", async () => {
  const storageId = await stored(svc, ann, new File(["sound"], "a.wav", { type: "audio/wav" }));
  const { id } = (await svc.mutate(ann, "ai.transcribe", { storageId })).body.json;
  await db.sql("delete from graphile_worker._private_jobs");
  const system = await db.connect("system");
  const reserve = "select svc_private.reserve_credits($1, 'speech.transcribe', 't', 1, 1, null) as it";
  const reservation = (await system.query(reserve, [ann.id])).rows[0].it;
  await system.query("select svc_private.release_credits($1)", [reservation]);
  const late = system.query("select svc_private.complete_transcription($1, 'free', $2, 1)", [id, reservation]);
  await expect(late).rejects.toThrow(`the reservation ${reservation} has ended`);
  expect((await svc.query(ann, "ai.transcription", { id })).body.json.status).toBe("pending");
});

/** Paths of the files that this process has open. */
const openFiles = () =>
  readdirSync("/proc/self/fd").map((descriptor) => {
    try {
      return readlinkSync(`/proc/self/fd/${descriptor}`);
    } catch {
      return ""; // closed meanwhile
    }
  });

test.skipIf(process.platform !== "linux")(
  "a transcription above a cap fails, and its file is not left open",
  async () => {
    const storageId = await stored(svc, ann, new File(["sound"], "a.wav", { type: "audio/wav" }));
    const worker = await startWorker({ config: { ...config, ai: { ...config.ai, creditsPerRequest: 0.0001 } } });
    const { id } = (await svc.mutate(ann, "ai.transcribe", { storageId })).body.json;
    const status = async () => (await svc.query(ann, "ai.transcription", { id })).body.json.status;
    await expect.poll(status, { timeout: 60_000 }).toBe("failed");
    const bytesId = await bytesIdOf(db, storageId);
    expect(openFiles().filter((path) => path.includes(bytesId))).toEqual([]);
    await worker.stop();
  },
);
