// If this file fails, a streamed answer has sentences that no document supports, or continues after its reader has
// left.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { aiProvider } from "../support/ai-provider.ts";
import { database } from "../support/database.ts";
import { bearer, type TestService, type User } from "../support/service.ts";
import { crane, fee, nobodyWaits, scope, startWriting, writes } from "./writing.ts";

const db = database();
const provider = aiProvider();
const has = (text: string) => writes(provider, text);
let svc: TestService;
let ann: User;

beforeAll(async () => {
  ({ svc, ann } = await startWriting(db, provider));
});
afterAll(() => svc.stop());

describe("an answer that is streamed", () => {
  const streamed = async (more: object = {}, who: User | null = ann) => {
    const question = "What does a night cost, and what does the crane lift?";
    const response = await fetch(`${svc.url}/docs/stream`, {
      method: "POST",
      headers: { "content-type": "application/json", ...(who && bearer(who)) },
      body: JSON.stringify({ question, scope, mode: "qa", ...more }),
    });
    const text = await response.text();
    return {
      status: response.status,
      text,
      sentences: text
        .split("\n")
        .filter(Boolean)
        .map((line) => JSON.parse(line)),
    };
  };

  test("gives the sentences that stand, each with its citations, and is charged", async () => {
    has(
      "A boat pays a mooring fee of 12 euros per night. [fees] The harbour sells fish [fees]. The crane lifts at most 8 tonnes [safety].",
    );
    const { sentences } = await streamed({ claims: [fee, crane] });
    expect(sentences).toMatchObject([
      { text: "A boat pays a mooring fee of 12 euros per night.", citations: [{ sectionPath: ["Fees"] }] },
      { text: "The crane lifts at most 8 tonnes.", status: "supported", citations: [{ sectionPath: ["Safety"] }] },
    ]);
    expect(await db.sql("select operation, state, user_id from svc.ai_ledger order by id desc limit 1")).toEqual([
      { operation: "stream", state: "settled", user_id: ann.id },
    ]);
  });

  test("tells a sentence before the model has ended, and holds no transaction meanwhile", async () => {
    const { promise: toldFirst, resolve } = Promise.withResolvers<void>();
    provider.reply = async function* () {
      yield `${crane.claimText.slice(0, -1)} [1][2]. Every `;
      await toldFirst;
      yield "boat pays nothing [1].";
    };
    const response = await fetch(`${svc.url}/docs/stream`, {
      method: "POST",
      headers: { "content-type": "application/json", ...bearer(ann) },
      body: JSON.stringify({ question: "What does the crane lift?", scope, mode: "qa", claims: [crane, fee] }),
    });
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    const first = await reader.read();
    expect(JSON.parse(Buffer.from(first.value ?? []).toString()).text).toBe(crane.claimText);
    await nobodyWaits(db);
    resolve();
    expect((await reader.read()).done).toBe(true);
  });

  test("ends at the provider when its reader leaves, and what had been said is paid", async () => {
    const left = Promise.withResolvers<void>();
    provider.reply = async function* () {
      yield `${crane.claimText.slice(0, -1)} [1][2]. Every `;
      await left.promise; // the provider is silent
    };
    const leaving = new AbortController();
    const response = await fetch(`${svc.url}/docs/stream`, {
      method: "POST",
      headers: { "content-type": "application/json", ...bearer(ann) },
      body: JSON.stringify({ question: "What does the crane lift?", scope, mode: "qa", claims: [crane, fee] }),
      signal: leaving.signal,
    });
    await (response.body as ReadableStream<Uint8Array>).getReader().read();
    leaving.abort();
    const last = () => db.sql("select operation, state from svc.ai_ledger order by id desc limit 1");
    await expect.poll(last).toEqual([{ operation: "stream", state: "settled" }]);
    left.resolve();
  });

  test("is empty where nothing is known, asks no model without passages, and refuses what answer refuses", async () => {
    has("UNKNOWN");
    expect(await streamed()).toMatchObject({ status: 200, text: "" });
    provider.asked.length = 0;
    expect(await streamed({ question: "xylophone" })).toMatchObject({ status: 200, text: "" });
    expect(provider.asked).toEqual([]);
    expect((await streamed({}, null)).status).toBe(401);
    expect((await streamed({ question: "" })).status).toBe(400);
  });
});
