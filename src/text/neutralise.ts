/**
 * Removes from Markdown what a browser would act on: HTML becomes text, and only harmless link schemes stay. It works
 * on the parsed tree, not on patterns, which can mistake other text for code.
 */
import { fromMarkdown } from "mdast-util-from-markdown";

interface Node {
  type: string;
  url?: string;
  alt?: string | null;
  position?: { start: { offset?: number }; end: { offset?: number } };
  children?: Node[];
}

const harmless = /^(https?:|mailto:|tel:|#|\/(?!\/)|\.{0,2}\/|[^:]*$)/i;

export function neutralise(markdown: string): string {
  let text = markdown;
  // Text inside HTML becomes Markdown, so repeat, a few times.
  for (let round = 0; round < 4; round++) {
    if (!/<(?!br>)|\]\(|\]:|\]\[/.test(text)) return text;
    const edits: { start: number; end: number; text: string }[] = [];
    collect(fromMarkdown(text) as Node, text, edits);
    if (edits.length === 0) return text;
    for (const edit of edits.sort((one, other) => other.start - one.start)) {
      text = text.slice(0, edit.start) + edit.text + text.slice(edit.end);
    }
  }
  // Text that is nested deeper is not prose.
  return text.replaceAll("<", "&lt;").replace(/\]\(/g, "] (");
}

function collect(root: Node, text: string, edits: { start: number; end: number; text: string }[]): void {
  // Iterative, because nested quotes can exceed the stack.
  const waiting = [root];
  for (let node = waiting.pop(); node; node = waiting.pop()) {
    const start = node.position?.start.offset ?? 0;
    const end = node.position?.end.offset ?? 0;
    const source = text.slice(start, end);
    if (node.type === "html") {
      const safe = source.replace(/<(?!br>)/g, "&lt;");
      if (safe !== source) edits.push({ start, end, text: safe });
    } else if (node.type === "text") {
      // Not a tag to a Markdown parser, but to other readers: this spelling is text for both.
      const safe = source.replace(/\\?<(?=[A-Za-z/!?<])/g, "&lt;");
      if (safe !== source) edits.push({ start, end, text: safe });
    } else if (node.url !== undefined && !harmless.test(withoutControls(node.url))) {
      edits.push({ start, end, text: node.type === "definition" ? "" : inside(node, text) });
    } else {
      for (const child of node.children ?? []) waiting.push(child);
    }
  }
}

/** Browsers ignore control characters and spaces before and inside a scheme. */
const withoutControls = (url: string) => url.replace(/[\p{Cc}\s]/gu, "");

function inside(node: Node, text: string): string {
  if (node.type === "image") return (node.alt ?? "").replace(/[<>[\]]/g, "");
  const [first, last] = [node.children?.at(0), node.children?.at(-1)];
  return text.slice(first?.position?.start.offset ?? 0, last?.position?.end.offset ?? 0).replace(/^<|>$/g, "");
}
