/** The findings of the audit, and the error message that lists them. */
import { relative } from "node:path";
import { DefinitionError } from "../kit/definition-error.ts";
import { type Place, placeOf } from "./source.ts";

/** One thing that has to change before the application is served. */
export interface Finding {
  /** Relative to the application's folder. */
  file: string;
  /** From 1. */
  line: number;
  /** From 1. */
  column: number;
  /** The procedure's name, the route's verb and path; absent where no handler is concerned. */
  handler?: string;
  /** The problem, with the offending text. */
  what: string;
  /** What to write instead. */
  remedy: string;
}

export const remedies = {
  use: "Remove .allowAnonymous(), use ctx.db with the query builder, or write above the definition or the call: /* svc-allow: reason: …; scope: …; owner: …; test: path/to/test */",
  opaque:
    "The audit cannot read this code. Use plain names, functions and imports of your own files. Or remove .allowAnonymous(), or allow it by a svc-allow comment.",
  table: "Remove .allowAnonymous(), or leave the table out; no comment allows this.",
};

export function findingAt(
  root: string,
  { file, node }: Place,
  rest: Pick<Finding, "handler" | "what" | "remedy">,
): Finding {
  return { file: relative(root, file.path), ...placeOf(file.text, node.start), ...rest };
}

/** The source of a node, cut to one short line. */
export function excerpt({ file, node }: Place): string {
  const text = file.text.slice(node.start, node.end).replaceAll(/\s+/g, " ").trim();
  return text.length > 60 ? `${text.slice(0, 57)}…` : text;
}

/** Sorted by place, repetitions left out. */
export function sorted(findings: readonly Finding[]): Finding[] {
  const unique = new Map(findings.map((finding) => [JSON.stringify(finding), finding]));
  return [...unique.values()].toSorted(
    (a, b) => a.file.localeCompare(b.file) || a.line - b.line || a.column - b.column,
  );
}

/** @throws DefinitionError with all findings, when there are any */
export function refuse(findings: readonly Finding[]): void {
  if (findings.length === 0) return;
  const lines = findings.map(({ file, line, column, handler, what, remedy }) => {
    const subject = handler ? `${handler}: ` : "";
    return `  ${file}:${line}:${column}\n    ${subject}${what}\n    ${remedy}`;
  });
  const count = findings.length === 1 ? "one place" : `${findings.length} places`;
  throw new DefinitionError(`The audit of anonymous handlers refuses ${count}:\n${lines.join("\n")}`);
}
