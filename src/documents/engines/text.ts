/** `local_text`: converts text, Markdown, HTML and CSV in any known encoding. Next hop: `charset.ts`, and `html.ts` for HTML. */
import type { DocumentKind } from "../../contract/documents.ts";
import type { Converted } from "../types.ts";
import { decodeText } from "./charset.ts";
import { parseCsv } from "./csv.ts";
import { literal, pipeTable } from "./html-tables.ts";

export async function convertText(bytes: Buffer, kind: DocumentKind): Promise<Converted> {
  const text = decodeText(bytes).replace(/\r\n?/g, "\n");
  // An empty text is complete: another provider would not do better.
  if (kind === "csv") return { markdown: pipeTable(parseCsv(text).map((row) => row.map(literal))) };
  if (kind === "md") return { markdown: await withoutBlocksOfHtml(text) };
  if (kind !== "html") return { markdown: text };
  const { htmlToMarkdown } = await import("./html.ts");
  return { markdown: htmlToMarkdown(text) };
}

const blockOfHtml =
  /^ {0,3}<(!--|(table|div|p|center|details|section|article|figure|h[1-6]|ul|ol|dl|script|style)[\s>/])/i;

/** Converts tables and other HTML blocks inside Markdown to Markdown. Tags within lines stay text. */
async function withoutBlocksOfHtml(text: string): Promise<string> {
  if (!text.split("\n").some((line) => blockOfHtml.test(line))) return text;
  const [{ htmlToMarkdown }, { fromMarkdown }] = await Promise.all([
    import("./html.ts"),
    import("mdast-util-from-markdown"),
  ]);
  let result = text;
  for (const node of fromMarkdown(text).children.reverse()) {
    const [start = 0, end = 0] = [node.position?.start.offset, node.position?.end.offset];
    const source = text.slice(start, end);
    if (node.type !== "html" || !blockOfHtml.test(source)) continue;
    result = result.slice(0, start) + htmlToMarkdown(source) + result.slice(end);
  }
  return result;
}
