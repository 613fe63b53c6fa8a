/**
 * `local_text`: text, Markdown, HTML and CSV in any known encoding.
 * Next hop: `../charset.ts`, and `html.ts` for HTML.
 */
import { decodeText } from "../charset.ts";
import { pipeTable } from "../html-tables.ts";
import type { DocumentKind } from "../types.ts";
import { parseCsv } from "./csv.ts";
import type { Converted } from "./run.ts";

export async function convertText(bytes: Buffer, kind: DocumentKind): Promise<Converted> {
  const text = decodeText(bytes).replace(/\r\n?/g, "\n");
  // An empty text is whole all the same: there is nothing to read better.
  if (kind === "csv") return { markdown: pipeTable(parseCsv(text).map((row) => row.map(literal))) };
  if (kind !== "html") return { markdown: text };
  const { htmlToMarkdown } = await import("./html.ts");
  return { markdown: htmlToMarkdown(text) };
}

/** A cell is text: none of its signs are Markdown. */
const literal = (cell: string) => cell.replace(/[\\`*_[\]<]/g, "\\$&");
