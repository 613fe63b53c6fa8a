/** Whether the documents say what was stated, in words. */
import type { OutputOf } from "@svc/client";
import type { api } from "../svc/api.ts";

export type Claim = NonNullable<OutputOf<typeof api.docs.ask>["claim"]>;

const verdicts: Record<Claim["status"], string> = {
  supported: "The documents say so.",
  partially_supported: "The documents say some of it.",
  insufficient_evidence: "The documents do not say so.",
};
const reasons: Record<Claim["conflicts"][number], string> = {
  negation: "The nearest passage denies it, or does not deny it.",
  number: "The nearest passage names another number.",
  unit: "The nearest passage counts something else.",
  opposite: "The nearest passage says the opposite.",
  order: "The nearest passage compares them the other way around.",
  judged: "The judge found a passage that contradicts it.",
};

export function Verdict({ claim }: { claim: Claim }) {
  return (
    <p className="verdict" role="status" data-status={claim.status}>
      <strong>{verdicts[claim.status]}</strong> {claim.conflicts.map((conflict) => reasons[conflict]).join(" ")}
    </p>
  );
}
