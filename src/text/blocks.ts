/**
 * Reads Markdown or plain text as a list of headings and paragraphs with their positions in the document.
 * Next hop: `cut-document.ts` makes sections and chunks of them.
 */
import { fromMarkdown } from "mdast-util-from-markdown";

type Node = ReturnType<typeof fromMarkdown>["children"][number];

/** A heading (with its level, 1 to 6) or a block of text, from `start` to `end` in UTF-16 units of the document. */
export interface Block {
  level?: number;
  text: string;
  start: number;
  end: number;
}

/** Headings, paragraphs, list items, table rows and code. HTML and link definitions are omitted. */
export const markdownBlocks = (markdown: string): Block[] => fromMarkdown(markdown).children.flatMap(blocksOf);

/** Paragraphs, separated by empty lines. */
export function textBlocks(text: string): Block[] {
  return [...text.matchAll(/\S[\s\S]*?(?=\n[^\S\n]*\n|\s*$(?![\s\S]))/g)].map(({ 0: found, index }) => ({
    text: unwrap(found),
    start: index,
    end: index + found.length,
  }));
}

function blocksOf(node: Node): Block[] {
  if (node.type === "blockquote" || node.type === "list" || node.type === "listItem") {
    return node.children.flatMap(blocksOf);
  }
  if (node.type === "html" || node.type === "definition" || node.type === "thematicBreak") return [];
  const words = plainText(node).trim();
  const text = node.type === "code" ? words : (tableRows(words) ?? unwrap(words));
  const start = node.position?.start.offset ?? 0;
  const end = node.position?.end.offset ?? start;
  if (node.type === "heading") return [{ level: node.depth, text, start, end }];
  return text === "" ? [] : [{ text, start, end }];
}

/** The rows of a table as citable lines, without the separator below its head; null if the text is not a table. */
function tableRows(text: string): string | null {
  const lines = text.split("\n").map((line) => line.trim());
  const isTable =
    /^\|?(\s*:?-+:?\s*\|)+\s*(:?-+:?)?$/.test(lines[1] ?? "") && lines.every((line) => line.includes("|"));
  if (!isTable) return null;
  const rows = lines.toSpliced(1, 1).map((line) => line.replace(/^\||\|$/g, "").split("|"));
  return rows
    .map((cells) =>
      cells
        .map((cell) => cell.trim())
        .filter(Boolean)
        .join(" · "),
    )
    .join("\n");
}

/**
 * Joins the lines of a paragraph, because sentences continue across lines. Lines of a table or a list stay apart: each
 * is a statement.
 */
const unwrap = (text: string) => text.replaceAll(/[^\S\n]*\n(?!\s*(?:[-*•|]|\d+[.)]\s))\s*/g, " ");

/** The words of a node without Markdown's signs. */
function plainText(node: Node): string {
  if (node.type === "html") return "";
  if (node.type === "break") return "\n";
  if (node.type === "image" || node.type === "imageReference") return node.alt ?? "";
  if ("value" in node) return node.value;
  return "children" in node ? node.children.map(plainText).join("") : "";
}
