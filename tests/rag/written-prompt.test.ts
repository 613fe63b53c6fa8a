// If this file fails, a sentence of a model's answer counts as proven by passages that it does not cite.
import { describe, expect, test } from "vitest";
import { citedSentences, endedSentences } from "../../src/rag/written-prompt.ts";

describe("an answer that is streamed", () => {
  test.for([
    "One night costs 12.50 euros [1]. The crane, e.g. on Sunday, lifts 8 t. [2][3] Dr. Ann says no! [4] Is it so? Yes.",
    "- Open at nine [1].\n- Closed on Monday. [2]\n\nNothing else",
    "UNKNOWN.",
    "밤에는 닫힌다 [1]. 아침에 연다 [2]. 夜は閉まる。[3] 朝は開く。[4]",
  ])("has the sentences that the whole has, wherever it is cut: %s", (text) => {
    const told: unknown[] = [];
    for (let end = 1; end <= text.length; end++) told.push(...endedSentences(text.slice(0, end)).slice(told.length));
    told.push(...citedSentences(text).slice(told.length));
    expect(told).toEqual(citedSentences(text));
  });
});

describe("where a model puts its marks, each sentence has its own", () => {
  test.for([
    [
      "before or behind the full stop",
      "It opens [1]. It closes. [2] It rests [3].",
      "It opens.1|It closes.2|It rests.3",
    ],
    ["several at once", "Dr. Kim opens [1, 2][3].", "Dr. Kim opens.1,2,3"],
    ["in lists and headings", "# Fees\n- The fee is **12 euros** [1].\n- None.\n", "Fees|The fee is 12 euros.1|None."],
    [
      "in Korean",
      "사무실은 8시에 문을 연다 [1]. 배는 12유로를 낸다 [2].",
      "사무실은 8시에 문을 연다.1|배는 12유로를 낸다.2",
    ],
    ["around nothing", "[1]. ... \0 [2]", ""],
  ])("%s", ([, text, wanted]) => {
    const found = citedSentences(text as string).map(({ text, cited }) => `${text}${cited.join(",")}`);
    expect(found.join("|")).toBe(wanted);
  });
});
