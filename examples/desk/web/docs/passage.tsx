/** One citation: the sentence, where it stands, how much of the statement it holds; opened, the whole section. */
import { skip, useQuery } from "@svc/react";
import { useState } from "react";
import { Problem } from "../parts/problem.tsx";
import { api } from "../svc/api.ts";
import type { Claim } from "./verdict.tsx";

export function Passage({ citation }: { citation: Claim["citations"][number] }) {
  const [isOpen, setOpen] = useState(false);
  const section = useQuery(api.docs.section, isOpen ? { id: citation.sectionId } : skip);
  const place = [citation.sourceTitle, ...citation.sectionPath.filter((title) => title !== citation.sourceTitle)];
  return (
    <li className="post">
      <blockquote className="body">{citation.snippet}</blockquote>
      <details onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>
          {place.join(" › ")} · {Math.round(citation.coverage * 100)}% of its words
        </summary>
        {section.error && <Problem error={section.error} retry={section.refetch} />}
        {section.data && <p className="body">{section.data.text}</p>}
      </details>
    </li>
  );
}
