// If this file fails, a handler reads an answer that its types do not describe.
import { expectTypeOf, test } from "vitest";
import {
  type ClaimStatus,
  type Context,
  defineApi,
  type GroundedAnswer,
  type GroundingInput,
  type GroundingJudge,
  type OmittedSentence,
  type WriteOptions,
  type WrittenAnswer,
  type WrittenSentence,
} from "../../src/index.ts";

test("grounding may be absent, and answers with statuses and citations", () => {
  expectTypeOf<undefined>().toExtend<Context["grounding"]>();
  type Answer = NonNullable<Context["grounding"]>["answer"];
  expectTypeOf<ReturnType<Answer>>().resolves.toEqualTypeOf<GroundedAnswer>();
  expectTypeOf<GroundedAnswer["grounded"]>().toBeBoolean();
  type Status = GroundedAnswer["claims"][number]["status"];
  expectTypeOf<Status>().toEqualTypeOf<"supported" | "partially_supported" | "insufficient_evidence">();
});

test("what a model wrote is there or not, and says what was left out and why", () => {
  expectTypeOf<GroundingInput["write"]>().toEqualTypeOf<WriteOptions | undefined>();
  expectTypeOf<keyof WriteOptions>().toEqualTypeOf<"model" | "maxTokens" | "temperature" | "signal">();
  expectTypeOf<GroundedAnswer["written"]>().toEqualTypeOf<WrittenAnswer | undefined>();
  expectTypeOf<WrittenAnswer["text"]>().toEqualTypeOf<string | null>();
  expectTypeOf<WrittenSentence["status"]>().toEqualTypeOf<ClaimStatus>();
  type Reason = OmittedSentence["reason"];
  expectTypeOf<Reason>().toEqualTypeOf<"no_citation" | "not_supported" | "not_checked">();
});

test("a judge is defined with the API, and its arguments need no types", () => {
  defineApi({
    procedures: {},
    grounding: {
      timeoutMs: 2_000,
      judge: async ({ claim, passages, signal }) => {
        expectTypeOf(claim).toEqualTypeOf<string>();
        expectTypeOf(signal).toEqualTypeOf<AbortSignal>();
        return passages.map(({ text, sentence, sectionPath }) => {
          expectTypeOf([text, sentence]).toEqualTypeOf<string[]>();
          expectTypeOf(sectionPath).toEqualTypeOf<readonly string[]>();
          return { verdict: "supports", confidence: 1 };
        });
      },
    },
  });
  // It may also answer at once.
  expectTypeOf(() => []).toExtend<GroundingJudge>();
  // @ts-expect-error an unknown verdict
  defineApi({ grounding: { judge: () => [{ verdict: "yes", confidence: 1 }] } });
  // @ts-expect-error a verdict without its confidence
  defineApi({ grounding: { judge: () => [{ verdict: "supports" }] } });
  expectTypeOf<GroundedAnswer["claims"][number]["judgedBy"]>().toEqualTypeOf<"rules" | "application">();
});
