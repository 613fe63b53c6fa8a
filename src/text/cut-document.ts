/**
 * Cuts a document into sections by its headings, and each section into chunks of whole sentences. Some texts take it minutes:
 * `src/text/worker-thread.ts` runs it.
 * Next hop: `src/rag/store-document.ts` stores them.
 */
import { type Block, markdownBlocks, textBlocks } from "./blocks.ts";
import { sentences } from "./sentences.ts";

/** All places are in characters (Unicode code points), as PostgreSQL counts. */
export interface Chunk {
  text: string;
  /** Where each sentence begins in `text`, from 1. */
  sentenceStarts: number[];
  /** Where the chunk's blocks begin and end in the document, from 0, the end exclusive. */
  start: number;
  end: number;
  /** From 1. */
  pageStart: number;
  pageEnd: number;
  /** Of length 1, where one was supplied. */
  embedding?: number[];
}

export interface Section {
  /** Of its heading, 1 to 6; 0 before the first one. */
  level: number;
  title: string;
  /** Titles from the top down to this one. */
  path: string[];
  chunks: Chunk[];
}

/** Something below this many characters is put to the sentence before it; a chunk may be a sentence longer. */
const chunkCharacters = 1_000;

/**
 * @param document Markdown or plain text; form feeds part its pages
 * @returns its sections in order; one without a heading only where something stands before the first
 */
export function cutDocument(document: string, format: "markdown" | "text"): Section[] {
  // To Markdown a form feed is a letter like any other, and would hide the heading that follows it.
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

/** Fills chunks with sentences; a block is only parted when it does not fit. A page begins a new one: it will be cited. */
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

/** Looks offsets up instead of counting from the start for each of them. */
function placesOf(document: string): Places {
  const pairs = [...document.matchAll(/[\ud800-\udbff][\udc00-\udfff]/g)].map(({ index }) => index);
  const breaks = [...document.matchAll(/\f/g)].map(({ index }) => index);
  return {
    character: (offset) => offset - before(pairs, offset),
    page: (offset) => 1 + before(breaks, offset),
  };
}

/** How many of the sorted numbers are less than the limit. */
function before(numbers: number[], limit: number): number {
  let [low, high] = [0, numbers.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((numbers[middle] as number) < limit) low = middle + 1;
    else high = middle;
  }
  return low;
}
