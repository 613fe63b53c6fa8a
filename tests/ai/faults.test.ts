/**
 * Failing providers: every call ends in a clear error or after a bounded retry, costs nothing, and discloses no secret.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { signalFor } from "../../src/ai/paid.ts";
import { patientFetch } from "../../src/ai/patient-fetch.ts";
import { loadConfig } from "../../src/config/load-config.ts";
import { createAi, createSvcProcedureBuilders, v } from "../../src/index.ts";
import { aiProvider } from "../support/ai-provider.ts";
import { collectGarbage } from "../support/collect-garbage.ts";
import { database } from "../support/database.ts";
import { bytesFolder } from "../support/files.ts";
import { apiWith, TestService, type User } from "../support/service.ts";

const key = "sk-the-provider-key-0123456789";
const secret = "the secret prompt";
const ai = createAi();
const input = v.object({ text: v.string() });
const of = (name: string) => createSvcProcedureBuilders().query.name(`faults.${name}`).input(input);
const messages = (text: string) => [{ role: "user" as const, content: text }];

/** Every call to a remote provider, with the secret in its input. */
const procedures = {
  chat: of("chat").handler(({ input }) => ai.chat({ messages: messages(input.text) })),
  stream: of("stream").handler(async ({ input }) => {
    for await (const _ of ai.stream({ messages: messages(input.text) }));
  }),
  embed: of("embed").handler(({ input }) => ai.embed(input.text, { model: "e" })),
  rerank: of("rerank").handler(({ input }) => ai.rerank({ query: input.text, documents: ["a"], model: "r" })),
  extract: of("extract").handler(({ input }) =>
    ai.vision.extractText({ image: Buffer.from(input.text), mediaType: "image/png", model: "v" }),
  ),
  speak: createSvcProcedureBuilders()
    .mutation.name("faults.speak")
    .input(input)
    .handler(({ input }) => ai.speech.synthesize({ input: input.text, model: "s" })),
};
const names = Object.keys(procedures);

const db = database();
const provider = aiProvider();
const dir = bytesFolder();
let svc: TestService;
let ann: User;

beforeAll(async () => {
  const base = await loadConfig({ cwd: join(import.meta.dirname, "../fixture"), env: {} });
  const ai = { ...base.ai, chatModel: "c", baseUrl: provider.url, apiKey: key };
  svc = new TestService(db, apiWith({ procedures }), { ai, storage: { driver: "disk", dir } } as object);
  await svc.start();
});
afterAll(() => svc.stop());
beforeEach(async () => {
  ann = await svc.signUp("ann");
});

const callAll = () =>
  Promise.all(names.map((name) => svc[name === "speak" ? "mutate" : "query"](ann, `faults.${name}`, { text: secret })));
const ledger = () => db.sql("select state, charged from svc.ai_ledger where user_id = $1", [ann.id]);

const json = { "content-type": "application/json" };
const faults: [string, (response: ServerResponse) => unknown, attempts: number][] = [
  ["with 500", (response) => response.writeHead(500).end(`Traceback: ${secret} ${key}`), 3],
  ["with 429, for good", (response) => response.writeHead(429, { "retry-after": "0" }).end(), 3],
  ["with 400", (response) => response.writeHead(400, json).end(`{"error":{"message":"${secret} ${key}"}}`), 1],
  ["with 401", (response) => response.writeHead(401, json).end(`{"error":{"message":"wrong key ${key}"}}`), 1],
  ["with JSON that is none", (response) => response.writeHead(200, json).end("{"), 1],
  ["with something else", (response) => response.writeHead(200, json).end("{}"), 1],
  ["by breaking the connection", (response) => response.destroy(), 3],
  [
    "by ending in the middle",
    (response) => {
      response.writeHead(200, { ...json, "content-length": 10_000 }).write('{"id":"1","choices":[');
      setImmediate(() => response.destroy());
    },
    1,
  ],
  ["by sending the call elsewhere", (response) => response.writeHead(307, { location: provider.url }).end(), 1],
];

describe("a provider that fails", () => {
  test.each(faults)("%s ends every call in a clear error, and costs nothing", async (_case, fault, attempts) => {
    provider.fault = (response) => {
      fault(response);
      return true;
    };
    const answers = await callAll();
    expect(answers.map(({ status, body }, at) => [names[at], status, body.code])).toEqual(
      names.map((name) => [name, 502, "PROVIDER_FAILED"]),
    );
    expect(provider.asked).toHaveLength(names.length * attempts);
    expect(await ledger()).toEqual(names.map(() => ({ state: "released", charged: null })));
    const told = JSON.stringify(answers.map(({ body }) => body)) + svc.logged.join("");
    expect(told).not.toContain(secret);
    expect(told).not.toContain(key);
  });

  test("with 429 and Retry-After once is asked again", async () => {
    let refused = 0;
    provider.fault = (response) => {
      if (refused++ >= names.length) return false;
      response.writeHead(429, { "retry-after": "0" }).end();
      return true;
    };
    expect((await callAll()).map(({ status }) => status)).toEqual(names.map(() => 200));
    expect(provider.asked).toHaveLength(names.length * 2);
  });

  test("by sending the call elsewhere holds no connection, although its answer does not end", async () => {
    const closed: Promise<unknown>[] = [];
    provider.fault = (response) => {
      closed.push(once(response, "close"));
      response.writeHead(307, { location: provider.url }).write("x".repeat(100_000));
      return true;
    };
    await callAll();
    expect(closed).toHaveLength(names.length);
    await Promise.all(closed);
  });

  test("to score every document is told so", async () => {
    provider.fault = (response) => {
      response.writeHead(200, json).end('{"results":[{"index":7,"relevance_score":1}]}');
      return true;
    };
    const { body } = await svc.query(ann, "faults.rerank", { text: secret });
    expect(body).toMatchObject({ code: "PROVIDER_FAILED", hint: "it did not score every document." });
    expect(await ledger()).toEqual([{ state: "released", charged: null }]);
  });

  test("to give as many numbers as configured is told so", async () => {
    provider.dimensions = 3;
    const { body } = await svc.query(ann, "faults.embed", { text: secret });
    expect(body).toMatchObject({ code: "PROVIDER_FAILED", hint: expect.stringContaining("3 dimensions") });
    expect(await ledger()).toEqual([{ state: "released", charged: null }]);
  });
});

describe("a provider that does not stop", () => {
  const mebibyte = Buffer.alloc(1024 * 1024, "x");
  /** In MiB: what a call cannot have asked for takes no memory. */
  const limits: Record<string, number> = { chat: 2, stream: 2, embed: 2, rerank: 2, extract: 5, speak: 32 };
  /** Far more than any answer may have; without a limit it would be read to the end. */
  const chunks = 128;
  async function* endless(begin: string) {
    yield begin;
    for (let chunk = 0; chunk < chunks; chunk++) yield mebibyte;
  }
  test.each([
    ["in JSON", json, '{"a":"'],
    ["in a stream", { "content-type": "text/event-stream" }, "data: "],
  ])("%s is read to a limit, and costs nothing", async (_case, headers, begin) => {
    provider.fault = (response) => {
      response.writeHead(200, headers);
      pipeline(endless(begin), response).catch(() => {});
      return true;
    };
    const answers = await callAll();
    expect(answers.map(({ status, body }, at) => [names[at], status, body.hint])).toEqual(
      names.map((name) => [name, 502, `its answer is larger than ${limits[name]} MiB.`]),
    );
    expect(await ledger()).toEqual(names.map(() => ({ state: "released", charged: null })));
  });

  test("when its few bytes are unpacked", async () => {
    const packed = gzipSync(Buffer.alloc(chunks * mebibyte.length));
    provider.fault = (response) => {
      response.writeHead(200, { ...json, "content-encoding": "gzip" }).end(packed);
      return true;
    };
    const { body } = await svc.query(ann, "faults.chat", { text: secret });
    expect(body.hint).toBe("its answer is larger than 2 MiB.");
  });
});

describe("a provider that is silent", () => {
  test("is given up after three attempts, each of which has its time", async () => {
    let asked = 0;
    const server = createServer(() => asked++);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    try {
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
      await expect(patientFetch(300)(url)).rejects.toMatchObject({
        code: "PROVIDER_FAILED",
        hint: "it did not answer in time, after 3 attempts.",
      });
      expect(asked).toBe(3);
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });

  test("after the head of a stream is given up in the same time", async () => {
    const server = createServer((_, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    try {
      const response = await patientFetch(300)(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
      await expect(response.text()).rejects.toMatchObject({
        code: "PROVIDER_FAILED",
        hint: "it did not answer in time.",
      });
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });

  test("in the end is a failure of the provider, which was told as INTERNAL", async () => {
    // 100 milliseconds in all: three attempts, and a minute for the waits.
    const call = { services: { config: { timeoutMs: (100 - 60_000) / 3 } } } as never;
    const signal = signalFor(call, undefined, new AbortController().signal);
    await once(signal, "abort");
    expect(signal.reason).toMatchObject({ code: "PROVIDER_FAILED", hint: "it did not end in time." });
  });

  test("leaves nothing of a call that has ended until its longest time is over", async () => {
    const requests = new AsyncLocalStorage<object>();
    const call = () => {
      const request = { body: Buffer.alloc(1_000) };
      const over = new AbortController();
      const services = { config: { timeoutMs: 60_000 } };
      requests.run(request, () => signalFor({ services } as never, undefined, over.signal));
      over.abort();
      return new WeakRef(request);
    };
    const held = call();
    const isFree = () => {
      collectGarbage();
      return held.deref() === undefined;
    };
    await expect.poll(isFree).toBe(true);
  });

  test("in the middle of a stream is not cut off by the time of an attempt, which was for its beginning", async () => {
    const server = createServer((_, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" }).write("data: one\n\n");
      setTimeout(() => response.end("data: two\n\n"), 1_200);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    try {
      const response = await patientFetch(1_000)(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
      expect(await response.text()).toBe("data: one\n\ndata: two\n\n");
    } finally {
      server.close();
    }
  });
});
