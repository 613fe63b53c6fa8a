/** One passage: the sentence, where it stands, how much it shares with what was asked; opened, the whole section. */
import { skip, useQuery } from "@svc/react";
import { useState } from "react";
import { Problem } from "../parts/problem.tsx";
import { api } from "../svc/api.ts";

export interface Found {
  sectionId: string;
  sourceTitle: string;
  sectionPath: string[];
  pageStart: number;
  snippet: string;
  /** 0 to 1. */
  score: number;
  /** What the verdict takes it for, when it rests on it. */
  role?: string;
}

/** @param file address of the PDF, if it is of one */
export function Passage({ found, file }: { found: Found; file?: string | undefined }) {
  const [isOpen, setOpen] = useState(false);
  const section = useQuery(api.docs.section, isOpen ? { id: found.sectionId } : skip);
  const place = [found.sourceTitle, ...found.sectionPath.filter((title) => title !== found.sourceTitle)];
  const page = found.pageStart > 1 ? [`page ${found.pageStart}`] : [];
  const percent = Math.round(found.score * 100);
  return (
    <li className="passage">
      <p className="score">
        <span aria-hidden="true" className="measure">
          <span style={{ width: `${percent}%` }} />
        </span>
        {percent}% of your words{found.role && <span className="count">{found.role}</span>}
      </p>
      <blockquote className="body">{found.snippet}</blockquote>
      {file && (
        <a href={`${file}#page=${found.pageStart}`} target="_blank" rel="noreferrer">
          Page {found.pageStart} of the PDF
        </a>
      )}
      <details onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>{[place.join(" › "), ...page].join(" · ")}</summary>
        {section.error && <Problem error={section.error} retry={section.refetch} />}
        {section.data && <Marked text={section.data.text} mark={found.snippet} />}
      </details>
    </li>
  );
}

/** A section with the sentence that was found in it. */
function Marked({ text, mark }: { text: string; mark: string }) {
  const at = text.indexOf(mark);
  if (at < 0) return <p className="body">{text}</p>;
  return (
    <p className="body">
      {text.slice(0, at)}
      <mark>{mark}</mark>
      {text.slice(at + mark.length)}
    </p>
  );
}
