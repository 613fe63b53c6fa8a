/** The result of an engine. */

/** `poor` is null unless the engine sets it. */
export interface Converted {
  markdown: string;
  pages?: string[];
  warnings?: string[];
  poor?: string | null;
}
