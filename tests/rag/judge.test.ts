// If this file fails, an application's judge is not asked, decides wrongly, or takes grounding down with it.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { GroundingJudge, JudgeQuestion, JudgeVerdict } from "../../src/index.ts";
import { DefinitionError } from "../../src/kit/definition-error.ts";
import { aiProvider } from "../support/ai-provider.ts";
import { database } from "../support/database.ts";
import { apiWith, TestService, type User } from "../support/service.ts";
import { handbook, procedures } from "./application.ts";
import { key, scope, writes } from "./writing.ts";

type Asked = Omit<JudgeQuestion, "signal">;
const asked: Asked[] = [];
const secret = "sk-live-0123456789abcdef0123456789";
/** What the judge answers; a number is an HTTP status, null no answer at all. */
let answers: (asked: Asked) => unknown;
let atOnce = 0;
let mostAtOnce = 0;
const server = createServer(async (request, response) => {
  atOnce += 1;
  mostAtOnce = Math.max(mostAtOnce, atOnce);
  const question = (await json(request)) as Asked;
  asked.push(question);
  const answer = await answers(question);
  await new Promise(setImmediate);
  atOnce -= 1;
  if (typeof answer === "number") response.writeHead(answer).end();
  else if (answer !== null) response.end(JSON.stringify(answer));
});
beforeAll(() => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve)));
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const judge: GroundingJudge = async ({ claim, passages, signal }) => {
  const { port } = server.address() as AddressInfo;
  const body = JSON.stringify({ claim, passages });
  const response = await fetch(`http://127.0.0.1:${port}`, { method: "POST", body, signal });
  if (!response.ok) throw new Error(`The judge answered ${response.status} to the key ${secret}.`);
  return (await response.json()) as JudgeVerdict[];
};

const provider = aiProvider();
const api = apiWith({ procedures, grounding: { judge, timeoutMs: 1_000 } });
const db = database();
let running: TestService;
let ann: User;
beforeAll(async () => {
  const ai = { chatModel: "gpt-test", timeoutMs: 20_000, creditsPerRequest: 50, baseUrl: provider.url, apiKey: key };
  running = new TestService(db, api, { ai } as object);
  await running.start();
  ann = await running.signUp("ann");
  await running.mutate(ann, "docs.ingest", { title: "Handbook", markdown: handbook, scope });
});
afterAll(() => running.stop());
beforeEach(() => {
  asked.length = 0;
  mostAtOnce = 0;
  running.logged.length = 0;
  answers = ({ passages }) => passages.map(() => ({ verdict: "neither", confidence: 1 }));
});

/** The verdict for passages that contain a text, and `neither` for the others. */
const say = (...said: [text: string, verdict: string, confidence: number][]) => {
  answers = ({ passages }) =>
    passages.map(({ text }) => {
      const [, verdict = "neither", confidence = 1] = said.find(([part]) => text.includes(part)) ?? [];
      return { verdict, confidence };
    });
};

async function ground(claims: (string | object)[], more = {}) {
  const input = {
    ...{ question: "What are the rules?", scope, mode: "qa", ...more },
    claims: claims.map((claim) => (typeof claim === "string" ? { claimText: claim } : claim)),
  };
  const { status, body } = await running.query(ann, "docs.answer", input);
  expect([status, body]).toMatchObject([200, {}]);
  return body.json;
}
const paraphrase = "Mooring for a night costs a dozen euros.";
const literal = "The crane lifts boats of at most 8 tonnes.";

test("the judge gets the claim and its passages, and decides", async () => {
  say(["12 euros", "supports", 0.9]);
  const { grounded, claims } = await ground([paraphrase]);
  expect(grounded).toBe(true);
  expect(claims).toMatchObject([
    { status: "supported", confidence: 0.9, judgedBy: "application", conflicts: [], citations: [{ confidence: 0.9 }] },
  ]);
  expect(claims[0].citations[0]).toMatchObject({
    sectionPath: ["Fees"],
    snippet: "Every boat pays a mooring fee of 12 euros per night.",
  });
  expect(asked).toHaveLength(1);
  expect(asked[0]?.claim).toBe(paraphrase);
  expect(asked[0]?.passages[0]).toEqual({
    sourceTitle: "Handbook",
    sectionPath: ["Fees"],
    text: "Every boat pays a mooring fee of 12 euros per night. Children under 6 years stay free of charge.",
    sentence: "Every boat pays a mooring fee of 12 euros per night.",
  });
});

describe("verdicts become a status", () => {
  const fees = "12 euros";
  const members = "sailing club";
  test.for([
    [[[fees, "supports_partly", 0.8]], "partially_supported", []],
    [[[fees, "neither", 1]], "insufficient_evidence", []],
    [[[fees, "contradicts", 0.8]], "insufficient_evidence", ["judged"]],
    [
      [
        [fees, "supports", 0.9],
        [members, "contradicts", 0.6],
      ],
      "supported",
      [],
    ],
    [
      [
        [fees, "supports", 0.6],
        [members, "contradicts", 0.9],
      ],
      "partially_supported",
      ["judged"],
    ],
    [
      [
        [fees, "supports", 0.6],
        [members, "neither", 1],
      ],
      "supported",
      [],
    ],
  ] as [[string, string, number][], string, string[]][])("%j: %s", async ([said, status, conflicts]) => {
    say(...said);
    const { claims } = await ground(["The mooring fee is 12 euros for members of the sailing club."]);
    expect(claims).toMatchObject([{ status, conflicts, judgedBy: "application" }]);
  });
});

describe("the rules decide when the judge", () => {
  test.for<[string, () => unknown]>([
    ["answers with an error", () => 500],
    ["never answers", () => null],
    ["returns too few verdicts", () => []],
    ["returns no list", () => ({ verdict: "supports", confidence: 1 })],
    ["returns an unknown verdict", () => asked.at(-1)?.passages.map(() => ({ verdict: "yes", confidence: 1 }))],
    ["is surer than sure", () => asked.at(-1)?.passages.map(() => ({ verdict: "supports", confidence: 7 }))],
  ])("%s", async ([, answer]) => {
    answers = answer;
    const { claims } = await ground([literal, paraphrase]);
    expect(claims[0]).toMatchObject({ status: "supported", judgedBy: "rules" });
    expect(claims[1]).toMatchObject({ judgedBy: "rules" });
    expect(claims[1].status).not.toBe("supported");
    const log = running.logged.join("");
    expect(log).toContain("the rules decide");
    expect(log).not.toContain(secret);
    expect(log).not.toContain("crane");
  });
});

test("no transaction waits for the judge", async () => {
  const idle = "datname = current_database() and state = 'idle in transaction' and query like '%find_evidence%'";
  let waiting: unknown[] = ["not looked"];
  answers = async ({ passages }) => {
    // The call does not wait for the COMMIT of what it has read. The judge has a second.
    for (let look = 0; look < 30 && waiting.length > 0; look++) {
      waiting = await db.sql(`select query from pg_stat_activity where ${idle}`);
      if (waiting.length > 0) await sleep(25);
    }
    return passages.map(() => ({ verdict: "supports", confidence: 1 }));
  };
  await ground([literal]);
  expect(waiting).toEqual([]);
});

test("twenty claims are judged, four at once", async () => {
  say(["tonnes", "supports", 0.7]);
  const { claims } = await ground(Array.from({ length: 20 }, () => literal));
  expect(claims.every(({ status }: { status: string }) => status === "supported")).toBe(true);
  expect(asked).toHaveLength(20);
  expect(mostAtOnce).toBeLessThanOrEqual(4);
});

test("required terms hold for the judge's passages, too", async () => {
  answers = ({ passages }) => passages.map(() => ({ verdict: "supports", confidence: 1 }));
  const { claims } = await ground([{ claimText: literal, requiredTerms: ["hydraulic"] }]);
  expect(claims).toMatchObject([{ status: "insufficient_evidence", judgedBy: "rules" }]);
  expect(asked).toEqual([]);
});

test("it judges the sentences of a written answer by the passages that they cite", async () => {
  writes(provider, "A night at the quay costs a dozen euros [fees]. The office sells fish [fees].");
  answers = ({ claim, passages }) =>
    passages.map(() => ({ verdict: claim.includes("dozen") ? "supports" : "neither", confidence: 0.9 }));
  const { written } = await ground([paraphrase], { write: {} });
  expect(written).toMatchObject({
    text: "A night at the quay costs a dozen euros.",
    omitted: [{ text: "The office sells fish.", reason: "not_supported" }],
  });
});

describe("a definition that cannot work is refused", () => {
  test.for([
    [{ judge: "nli" }, "judge: must be a function"],
    [{ judge, timeoutMs: 0 }, "timeoutMs: must be a whole number from 1 to 60000"],
    [{ judges: judge }, 'Did you mean "judge"?'],
  ])("%j", ([grounding, message]) => {
    expect(() => apiWith({ grounding: grounding as object })).toThrow(DefinitionError);
    expect(() => apiWith({ grounding: grounding as object })).toThrow(message as string);
  });
});
