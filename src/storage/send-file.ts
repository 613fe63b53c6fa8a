/**
 * Sends a file: conditional requests, one range, HEAD, and headers under which no upload can act as a page of this origin.
 * Source: RFC 9110, sections 8.8, 13 and 14; RFC 6266 for the name.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { create as contentDisposition } from "content-disposition";
import type { Logger } from "pino";
import type { Disposition } from "../contract/storage.ts";
import { isKnown } from "../http/conditions.ts";
import { exchangeOf } from "../http/exchange.ts";
import { SvcError } from "../kit/svc-error.ts";
import { requestedRange } from "./byte-ranges.ts";
import type { ByteRange } from "./drivers/driver.ts";

/** What is sent: bytes in memory, or from where they are opened. */
export interface FileAnswer {
  name: string;
  type: string;
  size: number;
  etag: string;
  /** Whether a browser shows or saves it, where it is of a type that may be shown. */
  disposition: Disposition;
  /** Further headers. */
  headers: Record<string, string>;
  bytes?: Buffer;
  open?(range?: ByteRange): Promise<Readable | null>;
}

/** What a browser may show. Everything else it saves: SVG, HTML and any XML would be pages, whatever else they claim to be. */
const shown = /^(image\/(png|jpeg|gif|webp|avif)|(audio|video)\/(?!.*\+xml$)[a-z0-9.+-]+)$/;

/** For the case that something is shown after all: no scripts, no forms, an origin of its own. */
const policy = "default-src 'none'; style-src 'unsafe-inline'; media-src 'self'; img-src 'self'; sandbox";

/**
 * @param log hears of bytes that the store could not give
 * @throws SvcError NOT_FOUND when the bytes are gone
 */
export async function sendFile(
  request: IncomingMessage,
  response: ServerResponse,
  file: FileAnswer,
  log: Logger,
): Promise<void> {
  const headers = { ...exchangeOf(response).headers, ...headersOf(file) };
  if (isKnown(request.headers["if-none-match"], file.etag)) return void response.writeHead(304, headers).end();

  // RFC 9110 knows ranges of GET alone.
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
  const bytes = await file.open?.(range ?? undefined);
  if (!bytes) throw new SvcError("NOT_FOUND", "This file does not exist, or it is private.");
  response.writeHead(status, headers);
  await stream(bytes, length, request, response, log);
}

function headersOf({ name, type, etag, disposition, headers }: FileAnswer): Record<string, string> {
  return {
    "content-type": type,
    "content-disposition": contentDisposition(name, { type: shown.test(type) ? disposition : "attachment" }),
    "content-security-policy": policy,
    // Shown by pages of other origins as an image is; scripts read it as CORS says.
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
    // The client was told a length: ended short of it, it would take the next answer on this connection for the rest.
    if (!response.destroyed) log.error({ err: error, requestId: exchangeOf(response).requestId }, "a file broke off");
    request.socket.destroy();
    bytes.destroy(); // pipeline leaves a source alone whose client had gone before it began
  }
}
