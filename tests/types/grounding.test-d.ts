// If this file fails, a handler reads an answer that its types do not describe.
import { expectTypeOf, test } from "vitest";
import type { Context, GroundedAnswer } from "../../src/index.ts";

test("grounding may be absent, and answers with statuses and citations", () => {
  expectTypeOf<undefined>().toExtend<Context["grounding"]>();
  type Answer = NonNullable<Context["grounding"]>["answer"];
  expectTypeOf<ReturnType<Answer>>().resolves.toEqualTypeOf<GroundedAnswer>();
  expectTypeOf<GroundedAnswer["grounded"]>().toBeBoolean();
  type Status = GroundedAnswer["claims"][number]["status"];
  expectTypeOf<Status>().toEqualTypeOf<"supported" | "partially_supported" | "insufficient_evidence">();
});
