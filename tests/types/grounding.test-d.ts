// If this file fails, a handler reads an answer that its types do not describe.
import { expectTypeOf, test } from "vitest";
import type {
  ClaimStatus,
  Context,
  GroundedAnswer,
  GroundingInput,
  OmittedSentence,
  WriteOptions,
  WrittenAnswer,
  WrittenSentence,
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
