/**
 * Cuts a stream of bytes into the records of a file: its lines, or those of CSV, which may hold line breaks in quotes.
 * UTF-8 never has the bytes of a quote or a line break inside another character, so bytes are compared.
 */
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
const quote = 0x22;

/**
 * @param bytes those from `place` on
 * @param place moves behind each record before the record is returned
 * @param quoted whether line breaks in quotes belong to the record
 * @throws SvcError PAYLOAD_TOO_LARGE for a record above 1 MiB
 */
export async function* readRecords(
  bytes: AsyncIterable<Uint8Array>,
  place: FilePlace,
  quoted: boolean,
): AsyncGenerator<FileRecord, void, undefined> {
  let pieces: Uint8Array[] = [];
  let size = 0;
  let breaks = 0;
  let isInside = false;
  let quoteLine = 0;
  let previous: number | undefined;
  const openQuote = () => (isInside ? quoteLine : null);
  const take = (end: Uint8Array): FileRecord => {
    if (size + end.length > maxRecord) throw tooLarge(place.line, openQuote());
    const record = { text: decode(Buffer.concat([...pieces, end])), line: place.line, openQuote: openQuote() };
    place.offset += size + end.length;
    place.line += breaks + 1;
    pieces = [];
    size = 0;
    breaks = 0;
    return record;
  };
  for await (const chunk of bytes) {
    let start = 0;
    for (let at = 0; at < chunk.length; at++) {
      if (quoted && chunk[at] === quote) {
        isInside = !isInside;
        // Two quotes beside each other stand for one in the cell, which opened earlier.
        if (isInside && previous !== quote) quoteLine = place.line + breaks;
      }
      previous = chunk[at];
      if (chunk[at] !== newline) continue;
      if (isInside) {
        breaks++;
        continue;
      }
      yield take(chunk.subarray(start, at + 1));
      start = at + 1;
    }
    if (start === chunk.length) continue;
    pieces.push(Uint8Array.from(chunk.subarray(start)));
    size += chunk.length - start;
    if (size > maxRecord) throw tooLarge(place.line, openQuote());
  }
  if (size > 0) yield take(new Uint8Array());
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
