/**
 * What came of a question: whether the documents say what was stated, then the passages, those that the verdict rests on
 * first. A question states nothing, so it gets passages alone.
 */
import type { OutputOf } from "@svc/client";
import { useQuery } from "@svc/react";
import { Empty } from "../parts/empty.tsx";
import { Problem } from "../parts/problem.tsx";
import { Skeleton } from "../parts/skeleton.tsx";
import { api } from "../svc/api.ts";
import { type Found, Passage } from "./passage.tsx";
import { Verdict } from "./verdict.tsx";

type Answered = OutputOf<typeof api.docs.ask>;

/** A statement ends with a full stop. Everything else asks, as "upsert" and "how to do a join" do. */
const isStatement = (text: string) => /[.!。]$/.test(text);

interface Props {
  /** Whose `ask` answers. */
  from: "docs" | "library" | "handbook";
  text: string;
  /** Address of the PDF that all passages are of. */
  file?: string | undefined;
}

export function Answer({ from, text, file }: Props) {
  const { data, error, isPending, refetch } = useQuery(api[from].ask, { text });
  if (isPending) return <Skeleton rows={3} />;
  if (error) return <Problem error={error} retry={refetch} />;
  const claim = isStatement(text) ? data.claim : null;
  const found = foundIn(claim, data.passages);
  return (
    <div className="answer">
      {claim && <Verdict claim={claim} />}
      {found.length === 0 ? (
        <Empty title="Nothing answers this.">Try other words: it looks for words, not for meanings.</Empty>
      ) : (
        <ul className="rows" aria-label="Passages">
          {found.map((one) => (
            <Passage key={one.sectionId} found={one} file={file} />
          ))}
        </ul>
      )}
    </div>
  );
}

/** One for each section. */
function foundIn(claim: Answered["claim"], passages: Answered["passages"]): Found[] {
  const role = claim?.status === "supported" ? "Says so" : "Says some of it";
  const cited = (claim?.citations ?? []).map(({ confidence, ...rest }) => ({ ...rest, score: confidence, role }));
  const all: Found[] = [...cited, ...passages];
  return all.filter(({ sectionId }, at) => all.findIndex((other) => other.sectionId === sectionId) === at);
}
