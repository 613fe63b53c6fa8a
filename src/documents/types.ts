/**
 * Input and result of a conversion.
 * Next hop: `convert.ts` takes the one and makes the other.
 */
import type { ConvertedDocument } from "../contract/documents.ts";

/** The result of one engine. */
export interface EngineResult extends Pick<ConvertedDocument, "markdown" | "text" | "sections"> {
  pages: string[];
  warnings: string[];
  /** Why the result is not good enough to keep, or null. */
  poor: string | null;
}
