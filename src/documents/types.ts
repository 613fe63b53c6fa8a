/**
 * What goes into a conversion and what comes out of it.
 * Next hop: `convert.ts` takes the one and makes the other.
 */
import type { ConvertedDocument } from "../contract/documents.ts";

/** What one engine makes of the bytes. */
export interface EngineResult extends Pick<ConvertedDocument, "markdown" | "text" | "sections"> {
  pages: string[];
  warnings: string[];
  /** Why the result is not good enough to keep, or null. */
  poor: string | null;
}
