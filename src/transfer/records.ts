/**
 * Cuts a stream of bytes into the records of a file: its lines, or those of CSV, which may hold line breaks in quotes.
 * UTF-8 never has the bytes of a quote or a line break inside another character, so bytes are compared.
 */
import { isUtf8 } from "node:buffer";
import { SvcError } from "../kit/svc-error.ts";

export interface FileRecord {
  /** Without its line end; null when it is not UTF-8. */
  text: string | null;
  /** Where it begins, from 1. */
  line: number;
  /** The line of a quote that is not closed by the end of the file; null: every quote is. */
  openQuote: number | null;
}

/** A place between two records. */
export interface FilePlace {
  /** In bytes. */
  offset: number;
  /** Of the next record, from 1. */
  line: number;
}

/** In bytes. */
const maxRecord = 1_048_576;

const newline = 0x0a;
const carriageReturn = 0x0d;
const quote = 0x22;

/**
 * Calls `each` with every record. Nothing else is made for one, since files have millions: no promise and no buffer.
 *
 * @param bytes those from `place` on
 * @param place moves behind each record before the call
 * @param quoted whether line breaks in quotes belong to the record
 * @param each   returns whether to read on
 * @throws SvcError PAYLOAD_TOO_LARGE for a record above 1 MiB
 */
export async function readRecords(
  bytes: AsyncIterable<Uint8Array>,
  place: FilePlace,
  quoted: boolean,
  each: (record: FileRecord) => boolean,
): Promise<void> {
  const quotes = new Quotes();
  /** What earlier chunks have of the next record. */
  let begun: Uint8Array[] = [];
  let size = 0;
  let line = place.line;
  const take = (length: number, text: string | null): boolean => {
    if (size + length > maxRecord) throw tooLarge(place.line, quotes.openLine);
    const record = { text, line: place.line, openQuote: quotes.openLine };
    place.offset += size + length;
    place.line = line;
    begun = [];
    size = 0;
    return each(record);
  };
  for await (const piece of bytes) {
    const chunk = Buffer.from(piece.buffer, piece.byteOffset, piece.length);
    const isText = isUtf8(chunk.subarray(chunk.indexOf(newline) + 1, chunk.lastIndexOf(newline) + 1));
    let start = 0; // of the record
    for (let lineStart = 0, end = 0; lineStart < chunk.length; lineStart = end) {
      const lineBreak = chunk.indexOf(newline, lineStart);
      end = lineBreak < 0 ? chunk.length : lineBreak + 1;
      if (quoted) quotes.read(chunk, lineStart, end, line);
      if (lineBreak < 0) break;
      line++;
      if (quotes.openLine !== null) continue; // the line break belongs to a cell
      const isWhole = isText && size === 0 && start > 0;
      const text = isWhole
        ? lineText(chunk, start, end)
        : decode(Buffer.concat([...begun, chunk.subarray(start, end)]));
      if (!take(end - start, text)) return;
      start = end;
    }
    if (start === chunk.length) continue;
    begun.push(Uint8Array.from(chunk.subarray(start)));
    size += chunk.length - start;
    if (size > maxRecord) throw tooLarge(place.line, quotes.openLine);
  }
  line++;
  if (size > 0) take(0, decode(Buffer.concat(begun)));
}

/** Follows the quotes of a CSV file. */
class Quotes {
  /** The line of the quote that is open now; null: none is. */
  openLine: number | null = null;
  #opened = 0;
  #isAfterQuote = false;

  /** Reads on, inside of one line. */
  read(bytes: Uint8Array, from: number, to: number, line: number): void {
    for (let at = from; at < to; at++) {
      const isQuote = bytes[at] === quote;
      if (isQuote) this.#turn(line);
      this.#isAfterQuote = isQuote;
    }
  }

  #turn(line: number): void {
    if (this.openLine !== null) {
      this.openLine = null;
      return;
    }
    // Two quotes beside each other stand for one in the cell, which opened earlier.
    if (!this.#isAfterQuote) this.#opened = line;
    this.openLine = this.#opened;
  }
}

function tooLarge(line: number, openQuote: number | null): SvcError {
  const said = openQuote === null ? "" : ` The quote that opens at line ${openQuote} is not closed.`;
  return new SvcError("PAYLOAD_TOO_LARGE", `The record at line ${line} is larger than 1 MiB.${said}`, {
    hint: "A record is one line; in CSV, line breaks inside quotes belong to it.",
  });
}

const decoder = new TextDecoder("utf-8", { fatal: true }); // removes a byte order mark

function decode(bytes: Uint8Array): string | null {
  try {
    return decoder.decode(bytes).replace(/\r?\n$/, "");
  } catch {
    return null;
  }
}

/** The record from `start` to behind its line break, of which the bytes are known to be UTF-8. */
function lineText(chunk: Buffer, start: number, end: number): string {
  const text = chunk.toString("utf8", start, chunk[end - 2] === carriageReturn ? end - 2 : end - 1);
  return text.startsWith("\uFEFF") ? text.slice(1) : text; // as the decoder does
}
