/** The options `grounding` of `defineApi`. Next hop: `application-judge.ts`. */
import { z } from "zod";
import type { GroundingJudge } from "../contract/grounding.ts";
import { callable, integer } from "../kit/options.ts";

export const groundingOptions = z.strictObject({
  judge: callable<GroundingJudge>().optional(),
  timeoutMs: integer(1, 60_000).optional(),
});
