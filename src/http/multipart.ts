/**
 * Reads multipart/form-data as it arrives. Dicer, the parser of @fastify/busboy, finds the boundaries and headers
 * (docs/adr/0017-forms-are-streamed-to-disk.md); this file interprets them as browsers write them.
 * Next hop: `form.ts` keeps fields and files. Source: RFC 7578;
 * https://html.spec.whatwg.org/multipage/form-control-infrastructure.html#multipart-form-data
 */
import { isUtf8 } from "node:buffer";
import type { Dicer } from "@fastify/busboy";
import { onDemand } from "../kit/on-demand.ts";
import { SvcError } from "../kit/svc-error.ts";

const library = onDemand<typeof import("@fastify/busboy")>("@fastify/busboy");

export interface PartHead {
  name: string;
  /** undefined for a field. */
  filename: string | undefined;
  /** The media type of a file. */
  type: string;
}

/** The events of a piece of the body, in order. A part has one head and one end, with chunks between them. */
export type FormEvent = { head: PartHead } | { chunk: Buffer } | { end: true };

/** Maximum bytes of one part's headers. */
const maxHeader = 16 * 1024;

/** In bytes: the step in which a part's headers are counted. */
const step = 4 * 1024;

/** The bytes of a part's headers so far; null outside headers. */
type HeaderBytes = number | null;

export class MultipartReader {
  readonly #dicer: Dicer;
  readonly #maxParts: number;
  #events: FormEvent[] = [];
  #failure: SvcError | undefined;
  #parts = 0;
  #isFinished = false;
  #headerBytes: HeaderBytes = null;
  #piece: Buffer = Buffer.alloc(0);

  /** @throws SvcError BAD_REQUEST without a valid boundary */
  constructor(contentType: string, maxParts: number) {
    this.#maxParts = maxParts;
    // Larger headers refuse the form, so headers that Dicer truncates are never used.
    this.#dicer = new (library().Dicer)({ boundary: boundaryOf(contentType), maxHeaderSize: 4 * maxHeader } as never);
    this.#dicer.on("part", (part) => this.#begin(part as unknown as Part));
    this.#dicer.on("finish", () => {
      this.#isFinished = true;
    });
  }

  /**
   * Reads the next piece. Its events follow at once; only a possible start of a boundary is kept.
   *
   * @throws SvcError BAD_REQUEST for a malformed form, PAYLOAD_TOO_LARGE beyond a limit
   */
  read(chunk: Buffer): FormEvent[] {
    this.#events = [];
    for (let at = 0; at < chunk.length && !this.#isFinished; at += step) {
      const piece = chunk.subarray(at, at + step);
      const before = this.#headerBytes;
      this.#piece = piece;
      this.#dicer.write(piece);
      if (this.#failure) throw this.#failure;
      if (this.#headerBytes === null || before === null) continue;
      this.#headerBytes += piece.length;
      if (this.#headerBytes >= maxHeader) {
        throw new SvcError("PAYLOAD_TOO_LARGE", `The headers of a form's part have at most ${maxHeader} bytes.`);
      }
    }
    return this.#events;
  }

  /** Must be called after the last piece. @throws SvcError BAD_REQUEST for a form without its closing boundary */
  end(): void {
    if (!this.#isFinished) throw malformed("The closing boundary is missing.");
  }

  #begin(part: Part): void {
    if (++this.#parts > this.#maxParts) {
      this.#failure ??= new SvcError("PAYLOAD_TOO_LARGE", `A form has at most ${this.#maxParts} parts.`);
    }
    this.#headerBytes = 0;
    let hasHead = false;
    part.on("error", () => {});
    part.on("header", (header) => {
      this.#headerBytes = null;
      hasHead = true;
      try {
        this.#events.push({ head: headOf(header) });
      } catch (error) {
        this.#failure ??= error as SvcError;
      }
    });
    // Handles the chunk synchronously. Through the part's stream it would come later, and a part that is not read would
    // stop the form.
    part.push = (chunk) => {
      // The parser keeps a possible boundary in a buffer that it reuses, so copy that chunk.
      if (chunk) this.#events.push({ chunk: chunk.buffer === this.#piece.buffer ? chunk : Buffer.from(chunk) });
      else {
        this.#headerBytes = null;
        if (hasHead) this.#events.push({ end: true });
        else this.#failure ??= malformed("A part has no headers.");
        part.emit("end");
      }
      return true;
    };
  }
}

/** A part's stream; Dicer calls its `push`. */
interface Part {
  push(chunk: Buffer | null): boolean;
  emit(event: "end"): void;
  on(event: "header", listener: (header: Record<string, string[]>) => void): void;
  on(event: "error", listener: () => void): void;
}

/** Source: RFC 2046, section 5.1.1, for its characters. */
function boundaryOf(contentType: string): string {
  const boundary = parameters(contentType).find(([name]) => name === "boundary")?.[1] ?? "";
  if (!/^[0-9A-Za-z'()+_,./:=? -]{0,69}[0-9A-Za-z'()+_,./:=?-]$/.test(boundary)) {
    throw malformed("The content-type has no valid boundary.");
  }
  return boundary;
}

/** @throws SvcError BAD_REQUEST */
function headOf(header: Record<string, string[]>): PartHead {
  const [disposition = "", ...others] = (header["content-disposition"] ?? []).map(utf8);
  const given = new Map(parameters(disposition).reverse()); // of repeated parameters, the first counts
  const name = given.get("name");
  if (!/^\s*form-data\s*(?:;|$)/i.test(disposition) || others.length > 0 || name === undefined) {
    throw malformed('Each part needs one header such as content-disposition: form-data; name="file".');
  }
  const [encoding = ""] = header["content-transfer-encoding"] ?? [];
  if (!/^(?:\s*|7bit|8bit|binary)$/i.test(encoding)) {
    throw malformed("Parts must not be encoded: leave content-transfer-encoding out (RFC 7578, section 4.7).");
  }
  const [type = "text/plain"] = header["content-type"] ?? [];
  return { name: unescaped(name), filename: filenameOf(given), type: /^[\x20-\x7e]*$/.test(type) ? type.trim() : "" };
}

function filenameOf(given: ReadonlyMap<string, string>): string | undefined {
  const [, encoded] = /^utf-8'[^']*'(.*)$/i.exec(given.get("filename*") ?? "") ?? [];
  if (encoded !== undefined) {
    try {
      return decodeURIComponent(encoded);
    } catch {
      // Use the plain name instead.
    }
  }
  const plain = given.get("filename");
  return plain === undefined ? undefined : unescaped(plain);
}

const parameter = /;\s*([!#$%&'*+.^`|~\w-]+)\s*=\s*(?:"((?:[^"\\]|\\[\s\S])*)"|([^\s;"]*))/g;

/** The parameters after the first semicolon. A quoted value is read as a whole, including semicolons. */
const parameters = (value: string): [name: string, value: string][] =>
  [...value.matchAll(parameter)].map(([, name = "", quoted, bare = ""]) => [
    name.toLowerCase(),
    // Browsers write a backslash unchanged, other programs escape quotes with it.
    quoted?.replace(/\\(["\\])/g, "$1") ?? bare,
  ]);

/** Headers arrive as one character per byte. */
const utf8 = (text: string) => inUtf8(Buffer.from(text, "latin1")).toString("utf8");

/** @throws SvcError BAD_REQUEST for another encoding: its letters would be stored as question marks */
export function inUtf8(bytes: Buffer): Buffer {
  if (!isUtf8(bytes)) throw notUtf8();
  return bytes;
}

export const notUtf8 = () =>
  new SvcError("BAD_REQUEST", "The fields of this form are not UTF-8.", {
    hint: "Serve the page in UTF-8, and leave accept-charset out of the form.",
  });

const escapes: Record<string, string> = { "%0a": "\n", "%0d": "\r", "%22": '"' };

/** The three characters that browsers encode in names. */
const unescaped = (text: string) => text.replace(/%(?:0a|0d|22)/gi, (code) => escapes[code.toLowerCase()] ?? code);

export const malformed = (hint: string, cause?: unknown) =>
  new SvcError("BAD_REQUEST", "The multipart body is malformed.", { hint, cause });
