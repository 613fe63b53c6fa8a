/** Finds the headings of a Markdown text, and removes Markdown's signs. */
import type { DocumentSection } from "../contract/documents.ts";

const fence = /^ {0,3}(```|~~~)/;

export function cutSections(markdown: string): DocumentSection[] {
  const sections: DocumentSection[] = [];
  let offset = 0;
  let isCode = false;
  for (const line of markdown.split("\n")) {
    if (fence.test(line)) isCode = !isCode;
    const [, signs = "", title = ""] = (!isCode && /^ {0,3}(#{1,6})\s+(.+?)\s*#*\s*$/.exec(line)) || [];
    if (signs) sections.push({ level: signs.length, title: plainText(title), offset });
    offset += line.length + 1;
  }
  return sections;
}

/** A text with its sections and plain text. */
export const outlined = (markdown: string) => ({
  markdown,
  text: plainText(markdown),
  sections: cutSections(markdown),
});

/** For search and for people; not meant to be read as Markdown again. */
export function plainText(markdown: string): string {
  return markdown
    .replace(/^ {0,3}#{1,6}\s+/gm, "")
    .replace(/^\|(\s*:?-+:?\s*\|)+\s*$\n?/gm, "")
    .replace(/^\|\s*|\s*\|$/gm, "")
    .replace(/\s*(?<!\\)\|\s*/g, "\t")
    .replaceAll("<br>", " ")
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replace(/(\*\*|__|~~)(?=\S)(.+?)(?<=\S)\1/g, "$2")
    .replace(/&lt;/g, "<")
    .replace(/\\([!-/:-@[-`{-~])/g, "$1")
    .trim();
}
