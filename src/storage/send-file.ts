/**
 * Sends a file: conditional requests, one range, HEAD, and headers that prevent an upload from acting as a page here.
 * Source: RFC 9110, sections 8.8, 13 and 14; RFC 6266 for the name.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { create as contentDisposition } from "content-disposition";
import type { Logger } from "pino";
import type { Disposition } from "../contract/storage.ts";
import { isKnown } from "../http/conditions.ts";
import { diskFailure } from "../http/errors.ts";
import { exchangeOf } from "../http/exchange.ts";
import { SvcError } from "../kit/svc-error.ts";
import { requestedRange } from "./byte-ranges.ts";
import type { ByteRange } from "./drivers/driver.ts";

/** The file to send: bytes in memory, or a function that opens them. */
export interface FileAnswer {
  name: string;
  type: string;
  size: number;
  etag: string;
  /** Whether a browser shows or saves it, if its type may be shown. */
  disposition: Disposition;
  /** Further headers. */
  headers: Record<string, string>;
  /** Its own headers, if they were made before: `headersOf`. */
  made?: Readonly<Record<string, string>>;
  bytes?: Buffer;
  open?(range?: ByteRange): Promise<Readable | null>;
}

/** Types that a browser may show. It saves all others: SVG, HTML and any XML could act as pages, whatever type they claim. */
const shown = /^(image\/(png|jpeg|gif|webp|avif)|(audio|video)\/(?!.*\+xml$)[a-z0-9.+-]+)$/;

/** A second defence for shown files: no scripts, no forms, an opaque origin. */
const policy = "default-src 'none'; style-src 'unsafe-inline'; media-src 'self'; img-src 'self'; sandbox";

/**
 * @param log receives errors of the store while it reads
 * @throws SvcError NOT_FOUND when the bytes are gone, UNAVAILABLE when the disk fails
 */
export async function sendFile(
  request: IncomingMessage,
  response: ServerResponse,
  file: FileAnswer,
  log: Logger,
): Promise<void> {
  const headers: Record<string, string> = { ...exchangeOf(response).headers, ...(file.made ?? headersOf(file)) };
  if (isKnown(request.headers["if-none-match"], file.etag)) return void response.writeHead(304, headers).end();

  // RFC 9110 defines ranges for GET only.
  const range = request.method === "GET" ? requestedRange(request.headers, file) : null;
  if (range === "unsatisfiable") {
    return void response.writeHead(416, { ...headers, "content-range": `bytes */${file.size}` }).end();
  }
  const length = range ? range.end - range.start + 1 : file.size;
  headers["content-length"] = String(length);
  if (range) headers["content-range"] = `bytes ${range.start}-${range.end}/${file.size}`;
  const status = range ? 206 : 200;
  if (request.method === "HEAD" || length === 0) return void response.writeHead(status, headers).end();
  if (file.bytes) {
    const part = range ? file.bytes.subarray(range.start, range.end + 1) : file.bytes;
    return void response.writeHead(status, headers).end(part);
  }
  const bytes = await file.open?.(range ?? undefined).catch((error) => {
    throw diskFailure(error);
  });
  if (!bytes) throw fileNotFound();
  response.writeHead(status, headers);
  await stream(bytes, length, request, response, log);
}

/** The same error for private and for missing files. */
export const fileNotFound = () => new SvcError("NOT_FOUND", "This file does not exist, or it is private.");

/** The headers of a file that is sent whole, without those of every answer. */
export function headersOf({ name, type, etag, disposition, headers }: FileAnswer): Record<string, string> {
  return {
    "content-type": type,
    "content-disposition": contentDisposition(name, { type: shown.test(type) ? disposition : "attachment" }),
    "content-security-policy": policy,
    // Pages of other origins may show it as an image; CORS decides whether their scripts may read it.
    "cross-origin-resource-policy": "cross-origin",
    "accept-ranges": "bytes",
    etag,
    ...headers,
  };
}

async function stream(
  bytes: Readable,
  length: number,
  request: IncomingMessage,
  response: ServerResponse,
  log: Logger,
): Promise<void> {
  let sent = 0;
  bytes.on("data", (chunk: Buffer) => {
    sent += chunk.length;
  });
  try {
    await pipeline(bytes, response, { end: false });
    if (sent !== length) throw new Error(`The store has ${sent} bytes where the row says ${length}.`);
    response.end();
  } catch (error) {
    // The client knows the full length. A reused connection would let it take the next answer for the rest.
    if (!response.destroyed) log.error({ err: error, requestId: exchangeOf(response).requestId }, "a file broke off");
    request.socket.destroy();
    bytes.destroy(); // pipeline does not close a source if the client left before it began
  }
}
