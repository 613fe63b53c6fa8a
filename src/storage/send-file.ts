/**
 * Sends a file: conditional requests, one range, HEAD, and headers under which no upload can act as a page of this origin.
 * Source: RFC 9110, sections 8.8, 13 and 14; RFC 6266 for the name.
 */

import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { create as contentDisposition } from "content-disposition";
import type { Request, Response } from "express";
import type { Logger } from "pino";
import { SvcError } from "../errors/svc-error.ts";
import { exchangeOf } from "../http/exchange.ts";
import type { ByteRange } from "./drivers/driver.ts";
import type { Disposition } from "./read-grants.ts";

/** What is sent: bytes in memory, or from where they are opened. */
export interface FileAnswer {
  name: string;
  type: string;
  size: number;
  etag: string;
  bytes?: Buffer;
  open?(range?: ByteRange): Promise<Readable | null>;
}

/** What a browser may show. Everything else it saves: SVG and HTML would be pages, whatever else they claim to be. */
const shown = /^(image\/(png|jpeg|gif|webp|avif)|audio\/[a-z0-9.+-]+|video\/[a-z0-9.+-]+)$/;

/** For the case that something is shown after all: no scripts, no forms, an origin of its own. */
const policy = "default-src 'none'; style-src 'unsafe-inline'; media-src 'self'; img-src 'self'; sandbox";

/**
 * @param log hears of bytes that the store could not give
 * @throws SvcError NOT_FOUND when the bytes are gone
 */
export async function sendFile(
  request: Request,
  response: Response,
  file: FileAnswer,
  wanted: Disposition,
  log: Logger,
): Promise<void> {
  response.set({
    "content-type": file.type,
    "content-disposition": contentDisposition(file.name, { type: shown.test(file.type) ? wanted : "attachment" }),
    "content-security-policy": policy,
    // Shown by pages of other origins as an image is; scripts read it as CORS says.
    "cross-origin-resource-policy": "cross-origin",
    "accept-ranges": "bytes",
    etag: file.etag,
  });
  if (isKnown(request.headers["if-none-match"], file.etag)) return void response.status(304).end();

  const range = requestedRange(request, file);
  if (range === "unsatisfiable") {
    response.setHeader("content-range", `bytes */${file.size}`);
    return void response.status(416).end();
  }
  if (range) response.status(206).setHeader("content-range", `bytes ${range.start}-${range.end}/${file.size}`);
  const length = range ? range.end - range.start + 1 : file.size;
  response.setHeader("content-length", length);
  if (request.method === "HEAD") return void response.end();
  if (file.bytes) return void response.end(range ? file.bytes.subarray(range.start, range.end + 1) : file.bytes);

  const bytes = file.size === 0 ? null : await file.open?.(range ?? undefined);
  if (file.size === 0) return void response.end();
  if (!bytes) {
    for (const name of ["content-length", "content-range", "etag", "content-disposition"]) response.removeHeader(name);
    response.status(200);
    throw new SvcError("NOT_FOUND", "This file does not exist, or it is private.");
  }
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

/** Whether the client has this version. Express would send it again to who says no-cache, as fetch() does. */
function isKnown(condition: string | undefined, etag: string): boolean {
  const known = (condition ?? "").split(",").map((entry) => entry.trim().replace(/^W\//, ""));
  return known.includes(etag) || known.includes("*");
}

/** One range; several in one request are answered by everything, as are those of another version. */
function requestedRange(request: Request, { size, etag }: FileAnswer): ByteRange | "unsatisfiable" | null {
  const condition = request.headers["if-range"];
  if (request.headers.range === undefined || (condition !== undefined && condition !== etag)) return null;
  const ranges = request.range(size, { combine: true });
  if (ranges === -1) return "unsatisfiable";
  if (!Array.isArray(ranges) || ranges.type !== "bytes" || ranges.length !== 1 || !ranges[0]) return null;
  return { start: ranges[0].start, end: ranges[0].end };
}
