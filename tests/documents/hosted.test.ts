// If this file fails, a hosted provider is called without permission, costs more than its cap, or discloses a fault or
// a key to the caller.
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type Credits, convertDocument } from "../../src/documents/convert.ts";

interface Answer {
  /** Instead of an answer. */
  fault?: "silence" | "breaking off";
  status?: number;
  headers?: Record<string, string>;
  body: string;
}

const key = "key-that-nobody-sees";
const answers: Answer[] = [];
const requests: { authorization: string | undefined; body: string }[] = [];
let server: Server;
let baseUrl: string;

beforeAll(async () => {
  server = createServer(async (request, response) => {
    requests.push({ authorization: request.headers.authorization, body: await text(request) });
    const { status = 200, headers = {}, body, fault } = answers.shift() ?? { body: "" };
    if (fault === "silence") return;
    if (fault === "breaking off") {
      response.writeHead(200, { "content-length": 1000 }).write('{"choices": [');
      return setImmediate(() => response.destroy());
    }
    response.writeHead(status, headers).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  answers.length = 0;
  requests.length = 0;
});

const says = (content: string, finish = "stop"): Answer => ({
  body: JSON.stringify({ choices: [{ message: { content }, finish_reason: finish }] }),
});
const document = Buffer.from("a,b\n1,2\n");
const platform = (creditsPerPage = 3, credits?: Credits) => ({
  hosted: { hosted_ai_a: { baseUrl, apiKey: key, model: "m", creditsPerPage } },
  defaultCap: 10,
  ...(credits ? { credits } : {}),
});
const external = { mode: "force-external", paidFallback: true } as const;

/** Credits in memory. */
function purse(total: number) {
  const state = { left: total, charged: 0 };
  const credits: Credits = {
    async reserve(reserved) {
      state.left -= reserved;
      return {
        async settle(amount) {
          state.left += reserved - amount;
          state.charged += amount;
        },
        async release() {
          state.left += reserved;
        },
      };
    },
  };
  return { credits, state };
}

test("a hosted provider gets the file with the platform's key, and is paid", async () => {
  answers.push(says("# Title\n\n<script>x</script>"));
  const { credits, state } = purse(10);
  const result = await convertDocument(document, external, platform(3, credits));
  expect(requests).toHaveLength(1);
  expect(requests[0]?.authorization).toBe(`Bearer ${key}`);
  expect(requests[0]?.body).toContain(document.toString("base64"));
  expect(result).toMatchObject({
    markdown: "# Title\n\n&lt;script>x&lt;/script>",
    creditsCharged: 3,
    providerTrace: [{ provider: "hosted_ai_a", outcome: "used" }],
  });
  expect(state).toEqual({ left: 7, charged: 3 });
});

describe("nobody is called", () => {
  test.each([
    ["past the caller's cap", { ...external, maxServiceCredits: 2.99 }, 3],
    ["past the platform's cap", external, 10.01],
    ["past the cap, by name", { provider: "hosted_ai_a", maxServiceCredits: 1 } as const, 3],
  ])("%s", async (_, options, price) => {
    const { credits, state } = purse(100);
    await expect(convertDocument(document, options, platform(price, credits))).rejects.toMatchObject({
      code: "DOCUMENT_COST_ABOVE_CAP",
    });
    expect(requests).toEqual([]);
    expect(state).toEqual({ left: 100, charged: 0 });
  });

  test("without paidFallback", async () => {
    await expect(convertDocument(document, { mode: "force-external" }, platform())).rejects.toMatchObject({
      code: "DOCUMENT_PAID_FALLBACK_REQUIRED",
    });
    expect(requests).toEqual([]);
  });

  test("while a local provider does", async () => {
    const result = await convertDocument(document, { filename: "a.csv", paidFallback: true }, platform());
    expect(result.markdown).toBe("| a | b |\n| --- | --- |\n| 1 | 2 |");
    expect(requests).toEqual([]);
  });
});

describe("after a paid result that is not readable", () => {
  const unreadable = "\uE000".repeat(40);
  const both = (credits: Credits) => {
    const { hosted, ...rest } = platform(6, credits);
    return { ...rest, hosted: { ...hosted, hosted_ai_b: { ...hosted.hosted_ai_a, creditsPerPage: 4 } } };
  };

  test("the next provider is paid, within the cap for both", async () => {
    answers.push(says(unreadable), says("text"));
    const { credits, state } = purse(100);
    const result = await convertDocument(document, { ...external, maxServiceCredits: 10 }, both(credits));
    expect(result).toMatchObject({ markdown: "text", creditsCharged: 10 });
    expect(state).toEqual({ left: 90, charged: 10 });
  });

  test("nobody else is called when both cost more than the cap", async () => {
    answers.push(says(unreadable), says("text"));
    const { credits, state } = purse(100);
    await expect(convertDocument(document, { ...external, maxServiceCredits: 9 }, both(credits))).rejects.toMatchObject(
      { code: "DOCUMENT_PAID_FALLBACK_REQUIRED" },
    );
    expect(requests).toHaveLength(1);
    expect(state).toEqual({ left: 94, charged: 6 });
  });
});

test("a provider by name needs no paidFallback", async () => {
  answers.push(says("text"));
  const result = await convertDocument(document, { provider: "hosted_ai_a" }, platform());
  expect(result.markdown).toBe("text");
});

test("429 and 500 are tried again, as often as three times", async () => {
  const busy = { status: 429, headers: { "retry-after": "0" }, body: "" };
  answers.push(busy, { ...busy, status: 500 }, says("text"));
  expect((await convertDocument(document, external, platform())).markdown).toBe("text");
  answers.push(busy, busy, busy, says("too late"));
  await expect(convertDocument(document, external, platform())).rejects.toMatchObject({
    code: "DOCUMENT_PAID_FALLBACK_REQUIRED",
  });
  expect(requests).toHaveLength(6);
});

test.each([
  ["a date", new Date(0).toUTCString()],
  ["less than no time", "-5"],
  ["something else", "soon"],
])("429 is tried again if it asks to wait for %s", async (_, wait) => {
  answers.push({ status: 429, headers: { "retry-after": wait }, body: "" }, says("text"));
  expect((await convertDocument(document, external, platform())).markdown).toBe("text");
});

test.each([
  ["malformed JSON", { body: '{"choices": [' }],
  ["an answer without text", { body: "{}" }],
  ["an answer that was cut off", says("half", "length")],
  ["an answer that a filter cut off", says("half", "content_filter")],
  ["a pause of an hour", { status: 429, headers: { "retry-after": "3600" }, body: "" }],
  ["a refusal that quotes the key", { status: 401, body: key }],
  ["an answer that breaks off", { fault: "breaking off", body: "" }],
  ["silence", { fault: "silence", body: "" }],
  ["another address", { status: 307, headers: { location: "http://127.0.0.1:9/" }, body: "" }],
] as [string, Answer][])("%s ends in an error that holds no key and costs nothing", async (_, answer) => {
  answers.push(answer);
  const { credits, state } = purse(10);
  const { hosted, ...rest } = platform(3, credits);
  const patience = { hosted_ai_a: { ...hosted.hosted_ai_a, timeMs: answer.fault === "silence" ? 2_000 : 30_000 } };
  const error = await convertDocument(document, external, { ...rest, hosted: patience }).catch((thrown) => thrown);
  expect(error).toMatchObject({ code: "DOCUMENT_PAID_FALLBACK_REQUIRED" });
  expect(`${error.message} ${error.hint} ${error.stack}`).not.toContain(key);
  expect(requests).toHaveLength(1);
  expect(state).toEqual({ left: 10, charged: 0 });
});

test("the reason tells an answer that broke off from one without text", async () => {
  const reasonOf = async (answer: Answer) => {
    answers.push(answer);
    return (await convertDocument(document, external, platform()).catch((thrown) => thrown)).message;
  };
  expect(await reasonOf({ fault: "breaking off", body: "" })).toContain("Its answer broke off, or took too long.");
  expect(await reasonOf({ body: '{"choices": [' })).toContain("Its answer holds no text.");
});

test("an answer without an end is read to a limit, and costs nothing", async () => {
  answers.push(says(" ".repeat(64 * 1024 * 1024)));
  const { credits, state } = purse(10);
  const error = await convertDocument(document, external, platform(3, credits)).catch((thrown) => thrown);
  expect(error.message).toContain("Its text is larger than is kept here.");
  expect(state).toEqual({ left: 10, charged: 0 });
});
