/** Decides whether a parser kept the file's content. Null: yes. A sentence: the next provider is tried. */
import type { DocumentKind } from "../contract/documents.ts";
import { readPart } from "./engines/package.ts";

/** The minimal share of the file's word pairs that a result must keep in order. */
const leastRecall = 0.97;

export function judge(bytes: Buffer, kind: DocumentKind, markdown: string): string | null {
  if (kind === "docx") return judgeNotes(bytes, markdown);
  return kind === "xlsx" ? judgeSheets(bytes, markdown) : null;
}

/** Counts, part by part, how many pairs of neighbouring words of the source a result has. */
export class Recall {
  #wanted = 0;
  #kept = 0;

  add(source: string[], result: string): void {
    const have = new Map<string, number>();
    for (const pair of pairs(result)) have.set(pair, (have.get(pair) ?? 0) + 1);
    for (const pair of pairs(source.join(" "))) {
      const left = have.get(pair) ?? 0;
      if (left > 0) {
        this.#kept++;
        have.set(pair, left - 1);
      }
      this.#wanted++;
    }
  }

  judge(): string | null {
    const share = this.#wanted === 0 ? 1 : this.#kept / this.#wanted;
    return share < leastRecall ? `It kept ${Math.round(share * 100)}% of the text in its order.` : null;
  }
}

function pairs(text: string): string[] {
  const words =
    text
      .normalize("NFKC")
      .replaceAll("<br>", " ")
      .match(/[\p{L}\p{N}]+/gu) ?? [];
  return words.slice(1).map((word, at) => `${words[at]} ${word}`);
}

const plain = (text: string) => text.normalize("NFKC").replace(/[^\p{L}\p{N}]/gu, "");

function judgeNotes(bytes: Buffer, markdown: string): string | null {
  const text = plain(markdown);
  for (const part of ["word/footnotes.xml", "word/endnotes.xml"]) {
    for (const [, note = ""] of readPart(bytes, part).matchAll(
      /<w:(?:foot|end)note\b([\s\S]*?)<\/w:(?:foot|end)note>/g,
    )) {
      const words = [...note.matchAll(/<w:t(?:\s[^>]*)?>([^<]*)<\/w:t>/g)].map(([, run]) => run).join("");
      if (!text.includes(plain(words.replace(/&(\w+|#\w+);/g, "")))) return "It dropped a note.";
    }
  }
  return null;
}

function judgeSheets(bytes: Buffer, markdown: string): string | null {
  if (bytes.includes("xl/comments")) return "It drops comments.";
  // An empty row inside a table: several tables were merged, one below the other.
  return /^\|[\s|]+\|\n(?=\|[^\n]*[^\s|])/m.test(markdown) ? "It took several tables for one." : null;
}
