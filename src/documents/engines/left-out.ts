/**
 * Which text of an Office package a result lacks. Parsers drop what they do not know in silence; so every paragraph of the
 * package is looked for in the result, and the result names what is missing.
 * Next hop: `run.ts` adds the sentences to the warnings, `quality.ts` tries another parser for lost text of the body.
 */
import type { DocumentKind } from "../../contract/documents.ts";
import { comparable } from "../../text/composed.ts";
import { listZip, readZip } from "../zip.ts";

interface Part {
  name: RegExp;
  /** A paragraph, or a cell. */
  block: RegExp;
  /** A run of text in a block. */
  run: RegExp;
  /** What the part is, in a sentence; null: the body. */
  what: string | null;
}

const word = { block: /<w:p[ >][\s\S]*?<\/w:p>/g, run: /<w:t(?:\s[^>]*)?>([^<]*)<\/w:t>/g };
const drawing = { block: /<a:p[ >][\s\S]*?<\/a:p>/g, run: /<a:t(?:\s[^>]*)?>([^<]*)<\/a:t>/g };
const cell = { block: /<si[ >][\s\S]*?<\/si>/g, run: /<t(?:\s[^>]*)?>([^<]*)<\/t>/g };

const parts: Partial<Record<DocumentKind, Part[]>> = {
  docx: [
    { name: /^word\/document\d*\.xml$/, ...word, what: null },
    { name: /^word\/(foot|end)notes\.xml$/, ...word, what: "Notes" },
    { name: /^word\/(header|footer)\d*\.xml$/, ...word, what: "Headers and footers" },
    { name: /^word\/comments\.xml$/, ...word, what: "Comments" },
    { name: /^word\/(charts|diagrams)\/[^/]+\.xml$/, ...drawing, what: "Text of charts and drawings" },
  ],
  xlsx: [
    { name: /^xl\/sharedStrings\.xml$/, ...cell, what: null },
    { name: /^xl\/worksheets\/[^/]+\.xml$/, ...cell, block: /<is>[\s\S]*?<\/is>/g, what: null },
    {
      name: /^xl\/(comments\d*|comments\/[^/]+)\.xml$/,
      ...cell,
      block: /<comment[ >][\s\S]*?<\/comment>/g,
      what: "Comments",
    },
    { name: /^xl\/(charts|drawings|diagrams)\/[^/]+\.xml$/, ...drawing, what: "Text of charts and drawings" },
  ],
  hwpx: [
    {
      name: /^Contents\/section\d+\.xml$/,
      block: /<hp:t(?:\s[^>]*)?>[\s\S]*?<\/hp:t>/g,
      run: />([^<]+)</g,
      what: null,
    },
  ],
};

/** Text that is hidden, or there a second time for older programs. */
const unseen = [
  /<mc:Fallback>[\s\S]*?<\/mc:Fallback>/g,
  /<w:r[ >](?:(?!<\/w:r>)[\s\S])*?<w:vanish\/>[\s\S]*?<\/w:r>/g,
  /<rPh[ >][\s\S]*?<\/rPh>/g,
  /\[Threaded comment\][\s\S]*?\bComment:/g, // a notice for older programs
  /\ue002[^\ue003]*\ue003/g, // a label of a list, see `docx-marks.ts`
];

export interface LeftOut {
  /** Paragraphs of the body. */
  body: string[];
  /** Other parts, such as Comments. */
  parts: string[];
}

export function leftOut(bytes: Buffer, kind: DocumentKind, markdown: string): LeftOut {
  const found: LeftOut = { body: [], parts: [] };
  const known = parts[kind];
  if (!known) return found;
  const result = new Words(markdown);
  for (const entry of listZip(bytes)) {
    const part = known.find(({ name }) => name.test(entry.name));
    if (!part) continue;
    const xml = unseen.reduce((text, gone) => text.replace(gone, ""), readZip(bytes, entry).toString("utf8"));
    const missing = blocksOf(xml, part).filter((text) => !result.has(text));
    if (part.what === null) found.body.push(...missing);
    else if (missing.length > 0 && !found.parts.includes(part.what)) found.parts.push(part.what);
  }
  return found;
}

/** For the caller, in sentences. */
export function told({ body, parts }: LeftOut): string[] {
  const [first, ...others] = body;
  const more = others.length > 0 ? ` and ${others.length} more` : "";
  return [
    ...(first === undefined ? [] : [`Text was left out: ${JSON.stringify(first.slice(0, 80))}${more}.`]),
    ...parts.map((what) => `${what} were left out.`),
  ];
}

const blocksOf = (xml: string, { block, run }: Part): string[] =>
  [...xml.matchAll(block)].map(([text]) => decoded([...text.matchAll(run)].map(([, run = ""]) => run).join("")).trim());

const named: Record<string, string> = { lt: "<", gt: ">", amp: "&", quot: '"', apos: "'", nbsp: " " };

const decoded = (text: string) =>
  text.replace(/&(?:#(\d+)|#x([0-9a-f]+)|(\w+));/gi, (all, ten?: string, sixteen?: string, name = "") => {
    const code = ten ? Number(ten) : Number.parseInt(sixteen ?? "", 16);
    return Number.isNaN(code) ? (named[name] ?? all) : String.fromCodePoint(Math.min(code, 0x10_ffff));
  });

/** The words of a result, which of them follow each other, and its letters. */
class Words {
  readonly #letters: string;
  readonly #words: Set<string>;
  readonly #pairs: Set<string>;

  constructor(markdown: string) {
    const words = wordsOf(decoded(markdown));
    this.#letters = words.join("");
    this.#words = new Set(words);
    this.#pairs = new Set(pairsOf(words));
  }

  /** Marks of notes and links stand between words of a result, so that half of the pairs is enough. */
  has(text: string): boolean {
    const words = wordsOf(text);
    if (words.length === 1 && this.#words.has(words[0] as string)) return true;
    const kept = pairsOf(words).filter((pair) => this.#pairs.has(pair)).length;
    if (words.length > 1 && kept >= (words.length - 1) / 2) return true;
    // Letters that were spaced out, or a word within a longer one.
    return this.#letters.includes(words.join(""));
  }
}

export const wordsOf = (text: string) =>
  comparable(text)
    .replaceAll("<br>", " ")
    .match(/[\p{L}\p{N}]+/gu) ?? [];

/** Neighbours. */
export const pairsOf = (words: readonly string[]) => words.slice(1).map((word, at) => `${words[at]} ${word}`);
