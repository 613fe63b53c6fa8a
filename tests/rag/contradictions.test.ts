// If this file fails, a text that merely has a claim's words is cited for it, or one that denies it is.
import { beforeAll, describe, expect, test } from "vitest";
import { database } from "../support/database.ts";
import { service, type User } from "../support/service.ts";
import { api } from "./application.ts";

const running = service(database(), api);
let ann: User;
beforeAll(async () => {
  ann = await running.signUp("ann");
});

let corpora = 0;
async function judge(claimText: string, text: string) {
  corpora += 1;
  const scope = { corpus: `contradictions ${corpora}`, visibility: "private" };
  // Other texts make the words of the claim neither rare nor common.
  const others = "The lighthouse was painted in spring. A ferry leaves every hour. The archive keeps letters.";
  await running.mutate(ann, "docs.ingest", { title: "Others", text: others, scope });
  await running.mutate(ann, "docs.ingest", { title: "Text", text, scope });
  const input = { question: "Is it so?", scope, mode: "qa", claims: [{ claimText }] };
  const { status, body } = await running.query(ann, "docs.answer", input);
  expect([status, body]).toMatchObject([200, {}]);
  return body.json.claims[0] as { status: string; conflicts: string[] };
}

describe("a claim's words without its predicate do not support it", () => {
  test.for([
    ["Floods are because of rain.", "Floods and rain were discussed."],
    ["Rain causes floods.", "Rain and floods are the topics of this book."],
    ["Traffic is slow because of rain.", "The traffic report mentions rain and slow music."],
    ["Coffee cures headaches.", "Coffee is sold next to pills for headaches."],
    ["The gate opens only for members.", "The gate opens for members and guests."],
    ["The rent is paid before the harvest.", "The rent is paid and the harvest begins."],
    [
      "Members of the rowing club pay no fee in the old harbour.",
      "Members of the sailing club pay no fee in the old harbour.",
    ],
  ])("claim: %s Text: %s", async ([claim, text]) => {
    expect((await judge(claim as string, text as string)).status).not.toBe("supported");
  });
});

describe("what says the contrary is a contradiction", () => {
  test.for([
    ["order", "The tower is larger than the church.", "The church is larger than the tower."],
    ["order", "Copper costs more than steel.", "Steel costs more than copper."],
    [
      "order",
      "The exports of grain exceeded the imports of wine.",
      "The imports of wine exceeded the exports of grain.",
    ],
    ["negation", "Smoking is related to cancer.", "Smoking is unrelated to cancer."],
    ["negation", "Smoking is unrelated to cancer.", "Smoking is related to cancer."],
    ["negation", "The theory of tides was proven.", "The theory of tides was disproven."],
    ["negation", "The old map is accurate.", "The old map is inaccurate."],
    ["negation", "The rumour of the ghost ship is true.", "The rumour of the ghost ship was debunked."],
    ["opposite", "The paint is heat-resistant.", "The paint is heat-sensitive."],
    ["opposite", "The rent is paid before the harvest.", "The rent is paid after the harvest."],
    ["opposite", "Vitamin C prevents colds.", "Vitamin C causes colds."],
  ])("%s. Claim: %s Text: %s", async ([conflict, claim, text]) => {
    expect(await judge(claim as string, text as string)).toMatchObject({
      status: "insufficient_evidence",
      conflicts: expect.arrayContaining([conflict]),
    });
  });
});

describe("what says the same in other words is no contradiction", () => {
  test.for([
    [
      "Floods of the valley are because of heavy rain in spring.",
      "Floods of the valley are caused by heavy rain in spring.",
      "supported",
    ],
    ["Fertilisation of the fields increased the harvest.", "Fertilised fields increased harvests.", "supported"],
    ["The old map of the harbour is not accurate.", "The old map of the harbour is inaccurate.", "partially_supported"],
    ["Smoking is not related to cancer.", "Smoking is unrelated to cancer.", "partially_supported"],
    ["Copper costs more than steel.", "Steel costs less than copper.", "partially_supported"],
    ["Depression lowers blood pressure.", "Depression lowers blood pressure in most patients.", "supported"],
  ])("claim: %s Text: %s Status: %s", async ([claim, text, status]) => {
    expect(await judge(claim as string, text as string)).toMatchObject({ status, conflicts: [] });
  });
});

test("further documents on the same subject take no support away", async () => {
  const scope = { corpus: "growing", visibility: "private" };
  const ingest = (title: string, text: string) => running.mutate(ann, "docs.ingest", { title, text, scope });
  await ingest("Harvest", "Fertilised fields increased harvests. The fields lie beside the river.");
  const claims = [{ claimText: "Fertilisation of the fields increased the harvest." }];
  const statusOf = async () => {
    const input = { question: "Is it so?", scope, mode: "qa", claims };
    return (await running.query(ann, "docs.answer", input)).body.json.claims[0].status;
  };
  expect(await statusOf()).toBe("supported");
  for (let year = 1; year <= 20; year += 1) {
    await ingest(`Year ${year}`, `The harvest of the fields was counted in year ${year}. Fields were increased.`);
  }
  expect(await statusOf()).toBe("supported");
});
