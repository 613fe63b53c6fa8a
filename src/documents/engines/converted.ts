/** The result of an engine. */

/** `poor` and `doubt` are null unless the engine sets them. */
export interface Converted {
  markdown: string;
  pages?: string[];
  warnings?: string[];
  poor?: string | null;
  doubt?: string | null;
}
