/** Input and result of a conversion. Next hop: `convert.ts` takes the one and makes the other. */
import type { ConvertedDocument, DocumentKind } from "../contract/documents.ts";
import type { ErrorCode } from "../kit/error-codes.ts";

/** What one engine is to do with the bytes. */
export interface Task {
  engine: "local_text" | "parser_a" | "parser_b" | "clean" | "pictures";
  kind: DocumentKind;
  /** Which pages to draw as pictures, from 1. */
  numbers?: readonly number[];
}

/** The result of one engine. */
export interface EngineResult extends Pick<ConvertedDocument, "markdown" | "text" | "sections"> {
  pages: string[];
  warnings: string[];
  /** Why the result is not good enough to keep, or null. */
  poor: string | null;
  /** Why another parser may do better. It is kept if no other result is good. */
  doubt: string | null;
}

/** The same before it is completed: `poor` and `doubt` are null unless the engine sets them. */
export interface Converted extends Partial<Omit<EngineResult, "markdown" | "text" | "sections">> {
  markdown: string;
}

/** What a process of engines answers. */
export interface Answer {
  result?: EngineResult;
  error?: Refusal;
}

export interface Refusal {
  /** null: an error of the engine. */
  code: ErrorCode | null;
  message: string;
  hint?: string;
}
