/** What an engine makes of a document. */

/** What an engine returns; `poor` is null unless it says otherwise. */
export interface Converted {
  markdown: string;
  pages?: string[];
  warnings?: string[];
  poor?: string | null;
}
