/**
 * Splits a document into sections by its headings, and each section into chunks of whole sentences. Some texts take
 * minutes: `src/text/worker-thread.ts` runs it.
 * Next hop: `src/rag/store-document.ts` stores them.
 */
import { type Block, markdownBlocks, textBlocks } from "./blocks.ts";
import { sentences } from "./sentences.ts";

/** All positions are in characters (Unicode code points), as PostgreSQL counts. */
interface Chunk {
  text: string;
  /** Start of each sentence in `text`, from 1. */
  sentenceStarts: number[];
  /** Range of the chunk's blocks in the document, from 0, end exclusive. */
  start: number;
  end: number;
  /** From 1. */
  pageStart: number;
  pageEnd: number;
  /** Of length 1, if supplied. */
  embedding?: number[];
}

export interface Section {
  /** Level of its heading, 1 to 6; 0 before the first heading. */
  level: number;
  title: string;
  /** Titles from the top level down to this one. */
  path: string[];
  chunks: Chunk[];
}

/** In characters. A sentence is appended while the chunk is shorter; a chunk may be a sentence longer. */
const chunkCharacters = 1_000;

/**
 * @param document Markdown or plain text, with form feeds between pages
 * @returns its sections in order; a section without a heading only if text precedes the first heading
 */
export function cutDocument(document: string, format: "markdown" | "text"): Section[] {
  // To Markdown a form feed is a letter, and would hide a heading after it.
  const readable = document.replaceAll("\f", "\n");
  const place = placesOf(document);
  const sections: Section[] = [];
  let current: Section = { level: 0, title: "", path: [], chunks: [] };
  let above: Section[] = [];
  let waiting: Block[] = [];
  const close = () => {
    current.chunks = chunksOf(waiting, place);
    if (current.level > 0 || current.chunks.length > 0) sections.push(current);
    waiting = [];
  };

  for (const block of format === "markdown" ? markdownBlocks(readable) : textBlocks(readable)) {
    const { level } = block;
    if (level === undefined) {
      waiting.push(block);
      continue;
    }
    close();
    above = [...above, current].filter((section) => section.level > 0 && section.level < level);
    current = { level, title: block.text, path: [...above.map(({ title }) => title), block.text], chunks: [] };
  }
  close();
  return sections;
}

/** Fills chunks with sentences. A block is split only if it does not fit. A page starts a new chunk, because it is cited. */
function chunksOf(blocks: Block[], place: Places): Chunk[] {
  const chunks: Chunk[] = [];
  let open: Chunk | undefined;
  for (const block of blocks) {
    let before = 0;
    for (const [index, { start, end }] of sentences(block.text).entries()) {
      const sentence = block.text.slice(start, end);
      const between = block.text.slice(before, start).includes("\n") ? "\n" : " ";
      before = end;
      const isNextPage = open !== undefined && index === 0 && place.page(block.start) > open.pageEnd;
      if (!open || isNextPage || open.text.length + sentence.length > chunkCharacters) {
        open = { text: "", sentenceStarts: [], start: place.character(block.start), end: 0, pageStart: 0, pageEnd: 0 };
        open.pageStart = place.page(block.start);
        chunks.push(open);
      }
      if (open.text !== "") open.text += index === 0 ? "\n\n" : between;
      open.sentenceStarts.push(characters(open.text) + 1);
      open.text += sentence;
      open.end = place.character(block.end);
      open.pageEnd = place.page(block.end);
    }
  }
  return chunks;
}

const characters = (text: string) => (/[\ud800-\udbff]/.test(text) ? [...text].length : text.length);

interface Places {
  /** The character at a UTF-16 offset. */
  character(offset: number): number;
  /** The page at a UTF-16 offset. */
  page(offset: number): number;
}

/** Finds offsets by lookup instead of counting from the start each time. */
function placesOf(document: string): Places {
  const pairs = [...document.matchAll(/[\ud800-\udbff][\udc00-\udfff]/g)].map(({ index }) => index);
  const breaks = [...document.matchAll(/\f/g)].map(({ index }) => index);
  return {
    character: (offset) => offset - before(pairs, offset),
    page: (offset) => 1 + before(breaks, offset),
  };
}

/** The number of sorted numbers below the limit. */
function before(numbers: number[], limit: number): number {
  let [low, high] = [0, numbers.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((numbers[middle] as number) < limit) low = middle + 1;
    else high = middle;
  }
  return low;
}
