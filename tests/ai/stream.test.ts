/** A model's text on its way to the SDK: in pieces, with errors that have a status. A reader who leaves ends it. */
import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createAuthClient, createSvcClient } from "../../client/sdk/src/index.ts";
import { loadConfig } from "../../src/config/load-config.ts";
import { createAi, createSvcHttpRouteBuilders, v } from "../../src/index.ts";
import { aiProvider } from "../support/ai-provider.ts";
import { database } from "../support/database.ts";
import { apiWith, TestService } from "../support/service.ts";

const ai = createAi();
/** Of the last story. */
let billing: ReturnType<typeof ai.stream>["billing"];
const tell = createSvcHttpRouteBuilders()
  .post.path("/api/tell")
  .input(v.object({ text: v.string() }))
  .handler(({ input }) => {
    const body = ai.stream({ messages: [{ role: "user", content: input.text }] });
    billing = body.billing;
    return { body };
  });
const retell = createSvcHttpRouteBuilders()
  .post.path("/api/retell")
  .input(v.object({ text: v.string() }))
  .handler(({ input }) => {
    async function* body() {
      yield "plan: ";
      const { text } = await ai.chat({ messages: [{ role: "user", content: input.text }] });
      yield `${text}, `;
      yield* ai.stream({ messages: [{ role: "user", content: text }] });
    }
    return { body: body() };
  });
const leave = createSvcHttpRouteBuilders()
  .post.path("/api/leave")
  .handler(async () => {
    const parts = ai.stream({ messages: [{ role: "user", content: "hello" }] });
    return { body: await Promise.all([parts.return?.(), parts.next()]) };
  });

const db = database();
const provider = aiProvider();
let svc: TestService;
let userId: string;
let client: ReturnType<typeof createSvcClient>;

beforeAll(async () => {
  const base = await loadConfig({ cwd: join(import.meta.dirname, "../fixture"), env: {} });
  const ai = { ...base.ai, chatModel: "gpt-test", creditsPerRequest: 5, baseUrl: provider.url, apiKey: "a key" };
  svc = new TestService(db, apiWith({ httpRoutes: { tell, retell, leave } }), { ai } as object);
  await svc.start();
  const auth = createAuthClient(svc.url, { sessionTokenStorage: "memory" });
  userId = (await auth.signUp("ann@example.com", "correct horse", "Ann")).id;
  client = createSvcClient({ api: {}, baseUrl: svc.url, auth });
});
afterAll(() => svc.stop());

const headers = { "content-type": "application/json" };
const story = (text = "hello", signal?: AbortSignal) =>
  client.stream("/api/tell", { method: "POST", headers, body: JSON.stringify({ text }), ...(signal && { signal }) });

/** The provider begins to answer, and is held there. */
function held(): Promise<{ response: ServerResponse; say(content: string): void }> {
  return new Promise((resolve) => {
    provider.fault = (response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      const say = (content: string) =>
        response.write(`data: ${JSON.stringify({ id: "1", choices: [{ index: 0, delta: { content } }] })}\n\n`);
      resolve({ response, say });
      return true;
    };
  });
}

async function all<T>(parts: AsyncIterable<T>): Promise<T[]> {
  const read: T[] = [];
  for await (const part of parts) read.push(part);
  return read;
}

const lastLine = async () =>
  (
    await db.sql("select state, charged::float8 from svc.ai_ledger where user_id = $1 order by id desc limit 1", [
      userId,
    ])
  )[0];

test("the SDK iterates over the pieces", async () => {
  expect((await all(story())).join("")).toBe("one two three");
});

test("a generator calls the model several times after its handler has returned, at the caller's cost", async () => {
  const body = JSON.stringify({ text: "hello" });
  const told = await all(client.stream("/api/retell", { method: "POST", headers, body }));
  expect(told.join("")).toBe('plan: echo: "hello", one two three');
  const text = "select operation from svc.ai_ledger where user_id = $1 and state = 'settled' order by id desc limit 2";
  expect(await db.sql(text, [userId])).toEqual([{ operation: "stream" }, { operation: "chat" }]);
});

test("a piece arrives as soon as the provider has said it", async () => {
  const provided = held();
  const parts = story()[Symbol.asyncIterator]();
  const first = parts.next();
  const { say, response } = await provided;
  say("first");
  expect((await first).value).toBe("first");
  const second = parts.next();
  say("second");
  expect((await second).value).toBe("second");
  const gone = once(response, "close");
  await parts.return?.();
  await gone;
});

test("who leaves a stream before its first piece and asks for one all the same gets its end, and nothing is reserved", async () => {
  const before = await lastLine();
  const answer = await client.fetch("/api/leave", { method: "POST", headers, body: "{}" });
  expect(await answer.json()).toEqual([{ done: true }, { done: true }]);
  expect(await lastLine()).toEqual(before);
});

describe("what a stream has cost is told at its end", () => {
  const model = "gpt-test";

  test("as the provider reports it", async () => {
    await all(story());
    const usage = { inputTokens: 1000, outputTokens: 500, totalTokens: 1500 };
    expect(await billing).toEqual({ usage, creditsCharged: 2.5, model });
  });

  test("and whether the text is complete", async () => {
    provider.finish = "length";
    await all(story());
    expect(await billing).toMatchObject({ creditsCharged: 2.5, incomplete: "length" });
  });

  test("also where no credit was left for it", async () => {
    await expect(all(story("x".repeat(50_000)))).rejects.toMatchObject({ status: 402 });
    const usage = { inputTokens: 0, outputTokens: 0, totalTokens: 0 };
    expect(await billing).toEqual({ usage, creditsCharged: 0, model, incomplete: "interrupted" });
  });
});

describe("who leaves ends the provider's work, although it is silent", () => {
  test("by leaving the loop, and what was said is charged", async () => {
    const provided = held();
    const gone = provided.then(({ response }) => once(response, "close"));
    provided.then(({ say }) => say("one"));
    for await (const part of story()) {
      expect(part).toBe("one");
      break;
    }
    await gone;
    await expect.poll(lastLine).toEqual({ state: "settled", charged: expect.closeTo(0.021, 5) });
    expect(await billing).toMatchObject({ creditsCharged: expect.closeTo(0.021, 5), incomplete: "interrupted" });
  });

  test("by its signal, before the first piece: nothing is charged", async () => {
    const provided = held();
    const controller = new AbortController();
    const read = all(story("hello", controller.signal));
    const { response } = await provided;
    const gone = once(response, "close");
    controller.abort(new Error("enough"));
    await expect(read).rejects.toThrow("enough");
    await gone;
    await expect.poll(lastLine).toEqual({ state: "released", charged: null });
    expect(await billing).toMatchObject({ creditsCharged: 0, incomplete: "interrupted" });
  });

  test("by its signal, between two pieces", async () => {
    const provided = held();
    const controller = new AbortController();
    const parts = story("hello", controller.signal)[Symbol.asyncIterator]();
    const first = parts.next();
    const { say, response } = await provided;
    say("one");
    await first;
    const gone = once(response, "close");
    const second = parts.next();
    controller.abort(new Error("enough"));
    await expect(second).rejects.toThrow("enough");
    await gone;
  });
});

describe("what goes wrong", () => {
  test("before the first piece is an error with its code", async () => {
    await expect(all(story("x".repeat(50_000)))).rejects.toMatchObject({
      code: "CREDIT_LIMIT_EXCEEDED",
      status: 402,
    });
    provider.fault = (response) => {
      response.writeHead(400).end("no");
      return true;
    };
    await expect(all(story())).rejects.toMatchObject({ code: "PROVIDER_FAILED", status: 502 });
  });

  test("after it cuts the answer: nobody takes half of it for the whole", async () => {
    const provided = held();
    const parts = story()[Symbol.asyncIterator]();
    const first = parts.next();
    const { say, response } = await provided;
    say("half");
    expect((await first).value).toBe("half");
    response.destroy();
    await expect(parts.next()).rejects.toMatchObject({ code: "NETWORK_ERROR", status: 0 });
  });
});
