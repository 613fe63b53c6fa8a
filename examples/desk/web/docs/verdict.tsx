/** What the documentation says of a statement: the status in words, and the passages. */
import type { OutputOf } from "@svc/client";
import type { api } from "../svc/api.ts";
import { Passage } from "./passage.tsx";

export type Claim = NonNullable<OutputOf<typeof api.docs.check>>;

const verdicts: Record<Claim["status"], string> = {
  supported: "The documentation says so.",
  partially_supported: "The documentation says some of it.",
  insufficient_evidence: "The documentation does not say so.",
};
const reasons: Record<Claim["conflicts"][number], string> = {
  negation: "The nearest passage denies it, or does not deny it.",
  number: "The nearest passage names another number.",
  unit: "The nearest passage counts something else.",
  opposite: "The nearest passage says the opposite.",
};

export function Verdict({ claim }: { claim: Claim }) {
  return (
    <div className="verdict" data-status={claim.status}>
      <p role="status">
        <strong>{verdicts[claim.status]}</strong> {claim.conflicts.map((conflict) => reasons[conflict]).join(" ")}
      </p>
      <ul className="rows" aria-label="Passages">
        {claim.citations.map((citation) => (
          <Passage key={citation.sectionId} citation={citation} />
        ))}
      </ul>
    </div>
  );
}
