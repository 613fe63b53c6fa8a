/**
 * HTML to Markdown by turndown, plus what turndown omits: tables, notes, and angle brackets as text.
 * Next hop: `text.ts` and `docx.ts` call it; `src/text/neutralise.ts` has the last word on what is harmless.
 */
import TurndownService from "turndown";
import { gridOf, pipeTable } from "./html-tables.ts";

/** Deeper documents are not written by people, and would overflow the stack. */
const deepest = 500;

export function htmlToMarkdown(html: string): string {
  refuseDepth(html);
  const service = new TurndownService({
    headingStyle: "atx",
    codeBlockStyle: "fenced",
    bulletListMarker: "-",
    emDelimiter: "*",
  });
  service.remove(["script", "style", "noscript", "template", "iframe", "object", "head"] as never);
  service.addRule("table", {
    filter: "table",
    replacement: (_, node) => `\n\n${writeTable(node as unknown as Element, service)}\n\n`,
  });
  // Images are not part of the result; their alternative text is.
  service.addRule("image", {
    filter: "img",
    replacement: (_, node) => (node as unknown as Element).getAttribute("alt") ?? "",
  });
  service.addRule("noteReference", {
    filter: (node) => node.nodeName === "A" && /^#(foot|end)note-\d+$/.test(node.getAttribute("href") ?? ""),
    replacement: (_, node) => `[^${(node as unknown as Element).getAttribute("href")?.slice(1)}]`,
  });
  service.addRule("noteBack", {
    filter: (node) => node.nodeName === "A" && /^#(foot|end)note-ref-/.test(node.getAttribute("href") ?? ""),
    replacement: () => "",
  });
  service.addRule("note", {
    filter: (node) => node.nodeName === "LI" && /^(foot|end)note-\d+$/.test(node.getAttribute("id") ?? ""),
    replacement: (content, node) =>
      `\n\n[^${(node as unknown as Element).getAttribute("id")}]: ${content.trim().replace(/\n+/g, "\n    ")}\n\n`,
  });
  const escapeText = service.escape.bind(service);
  service.escape = (text) => escapeText(text).replace(/<(?=[A-Za-z/!?])/g, "\\<");
  return service.turndown(html).trim();
}

/** Counts tags in linear time. Closing tags lower the count, so it is an upper bound. */
function refuseDepth(html: string): void {
  let depth = 0;
  for (const [, slash, name = ""] of html.matchAll(/<(\/?)([a-zA-Z][\w-]*)[^>]*>/g)) {
    if (
      /^(br|img|hr|meta|link|input|p|li|td|tr|th|option|col|wbr|source|area|base|embed|param|track|dt|dd)$/i.test(name)
    )
      continue;
    depth = slash ? Math.max(0, depth - 1) : depth + 1;
    if (depth > deepest) throw new RangeError("too deep");
  }
}

/** A spanning cell is repeated in every place that it covers, as in `html-tables.ts`. */
function writeTable(table: Element, service: TurndownService): string {
  const cellOf = (cell: Element) => {
    const content = service.turndown(cell.innerHTML || " ").replace(/^\s*\|[\s:|-]+\|\s*$/gm, "");
    return { content, again: content, wide: span(cell, "colspan"), high: span(cell, "rowspan") };
  };
  const rows = Array.from(table.querySelectorAll("tr"))
    .filter((row) => row.closest("table") === table)
    .map((row) => (Array.from(row.childNodes) as Element[]).filter(({ nodeName }) => /^T[DH]$/.test(nodeName)));
  const caption = table.querySelector("caption");
  const grid = gridOf(rows.map((row) => row.map(cellOf)));
  const text = pipeTable(rows.map((_, y) => grid[y] ?? []));
  return caption ? `${service.turndown(caption.innerHTML)}\n\n${text}` : text;
}

const span = (cell: Element, name: string) => Math.min(Math.max(Number(cell.getAttribute(name)) || 1, 1), 200);
