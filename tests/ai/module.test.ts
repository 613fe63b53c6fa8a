/** The AI module with a provider that speaks OpenAI's protocol: results, costs and errors. */
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { loadConfig } from "../../src/config/load-config.ts";
import { aiProvider } from "../support/ai-provider.ts";
import { database } from "../support/database.ts";
import { bytesFolder } from "../support/files.ts";
import { apiWith, bearer, TestService, type User } from "../support/service.ts";
import { workers } from "../support/worker.ts";
import { ai, messages, procedures, streamed } from "./application.ts";

const key = "sk-the-provider-key-0123456789";
const db = database();
const provider = aiProvider();
const api = apiWith({ procedures, httpRoutes: { streamed } });
const dir = bytesFolder();
const startWorker = workers(db, api);
let svc: TestService;
let ann: User;
let bob: User;
const settings = { chatModel: "gpt-test", timeoutMs: 20_000, creditsPerRequest: 50, creditsPerUserPerDay: 20 };

beforeAll(async () => {
  const base = await loadConfig({ cwd: join(import.meta.dirname, "../fixture"), env: {} });
  const config = {
    storage: { driver: "disk" as const, dir },
    ai: { ...base.ai, ...settings, baseUrl: provider.url, apiKey: key },
  };
  svc = new TestService(db, api, config as object);
  await svc.start();
});
afterAll(() => svc.stop());
beforeEach(async () => {
  ann = await svc.signUp("ann");
});

const ledger = async (user: User) => {
  const admin = await db.connect("admin");
  const { rows } = await admin.query(
    "select operation, model, state, charged::float8, input_tokens, output_tokens from svc.ai_ledger where user_id = $1 order by id",
    [user.id],
  );
  return rows;
};

describe("chat", () => {
  test("returns the text, the usage, what it cost, and the model", async () => {
    const { status, body } = await svc.query(ann, "ai.chat", { text: "hello" });
    expect([status, body.json]).toEqual([
      200,
      {
        text: 'echo: "hello"',
        usage: { inputTokens: 1000, outputTokens: 500, totalTokens: 1500 },
        creditsCharged: 2.5,
        model: "gpt-test",
      },
    ]);
    expect(provider.asked[0]?.headers.authorization).toBe(`Bearer ${key}`);
    expect(provider.asked[0]?.body.messages[0]).toEqual({ role: "system", content: "Be brief." });
    expect(await ledger(ann)).toEqual([
      { operation: "chat", model: "gpt-test", state: "settled", charged: 2.5, input_tokens: 1000, output_tokens: 500 },
    ]);
  });

  test("without messages is refused before anything is called", async () => {
    expect((await svc.query(ann, "ai.badChat")).status).toBe(400);
    expect(provider.asked).toEqual([]);
  });

  test("and its neighbours refuse numbers and texts that are none before anything is reserved or called", async () => {
    // A negative reservation would make room for the calls of others.
    const wrong: [string, object][] = [
      ["chat", { maxTokens: -1_000_000 }],
      ["chat", { maxTokens: null }],
      ["chat", { maxTokens: 3e9 }],
      ["chat", { temperature: "hot" }],
      ["chat", { system: 5 }],
      ["stream", { system: ["Be brief."] }],
      ["stream", { maxTokens: 0.5 }],
      ["rerank", { topK: -1 }],
      ["rerank", { query: 7 }],
      ["extractText", { mediaType: "text/html" }],
      ["chat", { model: "a\0b" }],
      ["stream", { model: 5 }],
      ["rerank", { model: "" }],
      ["extractText", { model: "x".repeat(257) }],
    ];
    for (const [call, options] of wrong) {
      const { status, body } = await svc.query(ann, "ai.any", { call, options });
      expect([status, body.error]).toEqual([400, expect.stringContaining(Object.keys(options)[0] ?? "")]);
    }
    expect([provider.asked, await ledger(ann)]).toEqual([[], []]);
  });
});

describe("stream", () => {
  test("gives the text piece by piece, and is charged at its end", async () => {
    const { body } = await svc.query(ann, "ai.collect", { text: "hello" });
    expect(body.json).toEqual(["one ", "two ", "three"]);
    expect(await ledger(ann)).toMatchObject([{ operation: "stream", state: "settled", charged: 2.5 }]);
  });

  test("can be sent on by a route", async () => {
    expect(await svc.fetch("/api/streamed", { headers: bearer(ann) })).toMatchObject({
      status: 200,
      body: "one two three",
    });
    await expect.poll(() => ledger(ann)).toMatchObject([{ state: "settled" }]);
  });

  test("that breaks off is an error, not a short answer", async () => {
    provider.fault = (response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(`data: ${JSON.stringify({ id: "1", choices: [{ index: 0, delta: { content: "half" } }] })}\n\n`);
      setImmediate(() => response.destroy());
      return true;
    };
    expect((await svc.query(ann, "ai.collect", { text: "hello" })).body).toMatchObject({ code: "PROVIDER_FAILED" });
  });
});

describe("embed", () => {
  test("gives numbers", async () => {
    const { body } = await svc.query(ann, "ai.embed", { text: "hello" });
    expect(body.json).toEqual(Array.from({ length: 384 }, (_, at) => expect.closeTo(at / 384)));
  });

  test("of another length than configured is an error", async () => {
    provider.dimensions = 3;
    const { status, body } = await svc.query(ann, "ai.embed", { text: "hello" });
    expect([status, body.code, body.hint]).toEqual([502, "PROVIDER_FAILED", expect.stringContaining("3 dimensions")]);
  });

  test("by local-hash needs no provider, costs nothing, and brings texts with the same words together", async () => {
    const of = async (text: string): Promise<number[]> => (await svc.query(ann, "ai.embedHere", { text })).body.json;
    const [cat, cats, tax] = await Promise.all(["the cat sat", "cats that sat", "tax law"].map(of));
    const near = (a: number[] = [], b: number[] = []) => a.reduce((sum, value, at) => sum + value * (b[at] ?? 0), 0);
    expect(near(cat, cat)).toBeCloseTo(1);
    expect(near(cat, cats)).toBeGreaterThan(near(cat, tax));
    expect(provider.asked).toEqual([]);
    expect((await ledger(ann)).every(({ charged }) => charged === 0)).toBe(true);
  });
});

test.each([undefined, "rank-model"])("rerank orders documents, the best first (model: %s)", async (model) => {
  const { body } = await svc.query(ann, "ai.rerank", model ? { model } : {});
  expect(body.json).toHaveLength(2);
  expect(body.json[0]).toMatchObject(
    model ? { index: 1, document: "a long one", score: 10 } : { index: 2, document: "long" },
  );
  expect(body.json[0].score).toBeGreaterThanOrEqual(body.json[1].score);
});

test("vision.extractText sends the image and gives its text", async () => {
  const { body } = await svc.query(ann, "ai.extract");
  expect(body.json).toMatchObject({
    text: expect.stringContaining("echo"),
    markdown: expect.any(String),
    model: "gpt-vision",
    creditsCharged: 2.5,
  });
  const [, image] = provider.asked[0]?.body.messages[0].content ?? [];
  expect(image.image_url.url).toBe(`data:image/png;base64,${Buffer.from("an image").toString("base64")}`);
});

test("the Markdown of an image is harmless, whatever the image says", async () => {
  const content = "<script>alert(1)</script> [a](javascript:alert(1))";
  provider.fault = (response) => {
    const message = { role: "assistant", content };
    const answer = { id: "1", created: 1, model: "m", choices: [{ index: 0, finish_reason: "stop", message }] };
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answer));
    return true;
  };
  const { text, markdown } = (await svc.query(ann, "ai.extract")).body.json;
  expect(text).toBe(content);
  expect(markdown).not.toMatch(/<[a-z/]|javascript/i);
});

describe("speech", () => {
  test("synthesize stores the audio as a private object of the caller's", async () => {
    const { body } = await svc.mutate(ann, "ai.speak", { text: "hello" });
    expect(body.json).toMatchObject({
      name: "speech.mp3",
      type: "audio/mpeg",
      size: 14,
      visibility: "private",
      model: "tts",
    });
    expect((await svc.query(ann, "files.read", { id: body.json.id })).body.json).toBe("audio of hello");
    expect((await svc.fetch(`/api/storage/${body.json.id}`)).status).toBe(404);
  });

  test("transcribe starts a job, and a worker ends it; others do not see it", async () => {
    bob = await svc.signUp("bob");
    const { body: audio } = await svc.mutate(ann, "ai.speak", { text: "hello" });
    const { status, body } = await svc.mutate(ann, "ai.transcribe", { storageId: audio.json.id });
    expect([status, body.json]).toMatchObject([200, { status: "pending", text: null, model: "whisper" }]);
    const jobs = await db.sql("select payload from graphile_worker._private_jobs where payload ->> 'id' = $1", [
      body.json.id,
    ]);
    expect(jobs).toEqual([{ payload: { id: body.json.id } }]);
    expect((await svc.mutate(bob, "ai.transcribe", { storageId: audio.json.id })).status).toBe(404);
    const base = await loadConfig({ cwd: join(import.meta.dirname, "../fixture"), env: {} });
    const ai = { ...base.ai, ...settings, baseUrl: provider.url, apiKey: key };
    const worker = await startWorker({ config: { ...base, ai, storage: { driver: "disk", dir } } });
    const look = async (user: User) => await svc.query(user, "ai.transcription", { id: body.json.id });
    await expect.poll(async () => (await look(ann)).body.json.status).toBe("completed");
    expect((await look(ann)).body.json.text).toBe("what was said");
    expect((await look(bob)).status).toBe(404);

    // Text that PostgreSQL cannot store was paid for at each attempt, and lost.
    provider.said = "what\u0000 was";
    const { body: odd } = await svc.mutate(ann, "ai.transcribe", { storageId: audio.json.id });
    const read = async () => (await svc.query(ann, "ai.transcription", { id: odd.json.id })).body.json;
    await expect.poll(async () => (await read()).status).toBe("completed");
    expect((await read()).text).toBe("what\ufffd was");
    await worker.stop();
  });
});

test("a transcription that nobody can make says so, and is not tried again and again", async () => {
  const { body: audio } = await svc.mutate(ann, "ai.speak", { text: "hello" });
  const { body } = await svc.mutate(ann, "ai.transcribe", { storageId: audio.json.id });
  const { body: deadly } = await svc.mutate(ann, "ai.transcribe", { storageId: audio.json.id });
  // As if five workers had died of it.
  await db.sql("update graphile_worker._private_jobs set attempts = 5 where payload ->> 'id' = $1", [deadly.json.id]);
  const base = await loadConfig({ cwd: join(import.meta.dirname, "../fixture"), env: {} });
  const worker = await startWorker({ config: { ...base, storage: { driver: "disk", dir } } });
  const look = async (id: string) => (await svc.query(ann, "ai.transcription", { id })).body.json;
  for (const [id, error] of [
    [body.json.id, "No AI provider is configured for this."],
    [deadly.json.id, "Something went wrong on our side."],
  ]) {
    await expect.poll(async () => (await look(id)).status).toBe("failed");
    expect(await look(id)).toMatchObject({ text: null, error });
  }
  await worker.stop();
});

describe("credits", () => {
  test("a provider that counts more tokens than were reserved is not paid past the caps", async () => {
    provider.usage = { prompt_tokens: 50_000, completion_tokens: 500, total_tokens: 50_500 };
    const { body } = await svc.query(ann, "ai.chat", { text: "hello" });
    expect(body.json.creditsCharged).toBeLessThan(4);
    expect(await ledger(ann)).toMatchObject([{ charged: body.json.creditsCharged, input_tokens: 50_000 }]);
  });

  // Some model servers omit it, above all in streams. Their calls were free, and no cap ended them. Counts that are not
  // possible failed with INTERNAL, and cost nothing.
  const calls = ["chat", "collect", "embed", "extract"];
  const usages: [string, object | undefined][] = [
    ["no usage", undefined],
    ["null", { prompt_tokens: null, completion_tokens: null, total_tokens: null }],
    ["less than none", { prompt_tokens: -5, completion_tokens: -1_000_000, total_tokens: 1 }],
    ["halves", { prompt_tokens: 1.5, completion_tokens: 2.5, total_tokens: 4 }],
    ["more than an integer", { prompt_tokens: 1e12, completion_tokens: 1e15, total_tokens: 1e15 }],
  ];
  const untold = usages.flatMap(([what, usage]) => calls.map((call) => [call, what, usage] as const));
  // Embeddings with null are refused by the SDK: PROVIDER_FAILED.
  test.each(untold.filter(([call, what]) => !(call === "embed" && what === "null")))(
    "ai.%s costs something if the provider reports %s",
    async (call, _what, usage) => {
      provider.usage = usage;
      expect((await svc.query(ann, `ai.${call}`, { text: "hello" })).status).toBe(200);
      const [line] = await ledger(ann);
      expect(line).toMatchObject({ state: "settled", charged: expect.any(Number), input_tokens: expect.any(Number) });
      expect(Math.min(line?.charged ?? 0, line?.input_tokens ?? 0)).toBeGreaterThan(0);
    },
  );

  test("above the cap of one request, nothing is called", async () => {
    const { status, body } = await svc.query(ann, "ai.chat", { text: "x".repeat(200_000) });
    expect([status, body.code]).toEqual([402, "CREDIT_LIMIT_EXCEEDED"]);
    expect(provider.asked).toEqual([]);
    expect(await ledger(ann)).toEqual([]);
  });

  test("near a user's cap, 200 calls at the same time do not overspend", async () => {
    const answers = await Promise.all(Array.from({ length: 200 }, () => svc.query(ann, "ai.chat", { text: "hello" })));
    // Concurrent reservations refuse calls for amounts that are not spent in the end; sequential calls can spend the
    // rest.
    let later = 0;
    while ((await svc.query(ann, "ai.chat", { text: "hello" })).status === 200) later++;
    const lines = await ledger(ann);
    const spent = lines.reduce((sum, { charged }) => sum + (charged ?? 0), 0);
    expect(spent).toBeLessThanOrEqual(settings.creditsPerUserPerDay);
    expect(spent).toBeGreaterThan(settings.creditsPerUserPerDay - 3.1); // what the next call would have reserved
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(lines.length - later);
    expect(answers.filter(({ status }) => status === 402).length).toBeGreaterThan(0);
    expect(provider.asked).toHaveLength(lines.length);
  });
});

test("outside of a handler the module says where it works", async () => {
  await expect(ai.chat({ messages: messages("hello") })).rejects.toThrow("outside of a handler");
});
