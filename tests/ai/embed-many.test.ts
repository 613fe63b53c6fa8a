/** If this file fails, vectors of many texts belong to other texts, or cost nothing. */
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { loadConfig } from "../../src/config/load-config.ts";
import { aiProvider } from "../support/ai-provider.ts";
import { database } from "../support/database.ts";
import { apiWith, TestService, type User } from "../support/service.ts";
import { procedures } from "./application.ts";

const db = database();
const provider = aiProvider();
let svc: TestService;
let ann: User;

beforeAll(async () => {
  const { ai } = await loadConfig({ cwd: join(import.meta.dirname, "../fixture"), env: {} });
  svc = new TestService(db, apiWith({ procedures }), {
    ai: { ...ai, creditsPerRequest: 50, baseUrl: provider.url },
  } as object);
  await svc.start();
});
afterAll(() => svc.stop());
beforeEach(async () => {
  ann = await svc.signUp("ann");
});

const ledger = (user: User) =>
  db.sql("select operation, state, input_tokens from svc.ai_ledger where user_id = $1 order by id", [user.id]);

describe("embedMany", () => {
  test("asks once for all texts, keeps their order, and has one line in the ledger", async () => {
    const { body } = await svc.query(ann, "ai.embedMany", { texts: ["3", "1", "2"] });
    expect(body.json.map(([first]: number[]) => first)).toEqual([3, 1, 2]);
    expect(provider.asked.map(({ body }) => body.input)).toEqual([["3", "1", "2"]]);
    expect(await ledger(ann)).toMatchObject([{ operation: "embed", state: "settled", input_tokens: 1000 }]);
  });

  test("gives each text its own vector if the provider sends them in another order", async () => {
    provider.order = "reversed";
    const { body } = await svc.query(ann, "ai.embedMany", { texts: ["3", "1", "2"] });
    expect(body.json.map(([first]: number[]) => first)).toEqual([3, 1, 2]);
  });

  test("fails if the provider sends vectors of the same text twice", async () => {
    provider.order = "twice";
    const { body } = await svc.query(ann, "ai.embedMany", { texts: ["3", "1", "2"] });
    expect(body).toMatchObject({ code: "PROVIDER_FAILED" });
  });

  test("of no text asks for nothing", async () => {
    expect((await svc.query(ann, "ai.embedMany", { texts: [] })).body.json).toEqual([]);
    expect(provider.asked).toEqual([]);
  });

  test.each([
    ["no list", "hello"],
    ["a list with an empty text", ["hello", " "]],
    ["more than a thousand texts", Array.from({ length: 1_001 }, () => "a")],
  ])("of %s is refused", async (_, texts) => {
    expect((await svc.query(ann, "ai.embedMany", { texts })).status).toBe(400);
    expect([provider.asked, await ledger(ann)]).toEqual([[], []]);
  });

  test("fails if an embedding is missing: the others would belong to the wrong texts", async () => {
    provider.without = true;
    const { body } = await svc.query(ann, "ai.embedMany", { texts: ["1", "2"] });
    expect(body).toMatchObject({ code: "PROVIDER_FAILED" });
    expect(await ledger(ann)).toMatchObject([{ state: "released" }]);
  });

  test("above the cap of one request asks for nothing", async () => {
    const texts = Array.from({ length: 100 }, () => "x".repeat(2_000));
    expect((await svc.query(ann, "ai.embedMany", { texts })).body.code).toBe("CREDIT_LIMIT_EXCEEDED");
    expect(provider.asked).toEqual([]);
  });
});
