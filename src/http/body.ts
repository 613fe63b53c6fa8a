/**
 * Reads request bodies: with limits, once, and only on demand.
 * Next hop: `body-budget.ts` counts the held bytes and refuses slow bodies, `form.ts` reads forms.
 */
import { isUtf8 } from "node:buffer";
import type { IncomingMessage, ServerResponse } from "node:http";
import { SvcError } from "../kit/svc-error.ts";
import { accountOf, clockOf, closeConnection, type TimedBody, uncounted } from "./body-budget.ts";
import { ChunkList } from "./chunk-list.ts";

export interface BodyLimits {
  /** Largest JSON or text body, in bytes. */
  jsonBytes: number;
  /** Largest multipart or binary body, in bytes. */
  multipartBytes: number;
}

/** The media type without parameters, in lower case; "" if there is none. */
export function mediaType(request: IncomingMessage): string {
  return (request.headers["content-type"] ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
}

/** Requests whose client waits for "100 Continue" before it sends the body. */
const waiting = new WeakMap<IncomingMessage, ServerResponse>();

/**
 * Delays "100 Continue" until the body is read: a request that is refused earlier is answered without its body. Source:
 * RFC 9110, section 10.1.1.
 */
export function delayContinue(request: IncomingMessage, response: ServerResponse): void {
  waiting.set(request, response);
}

/** Must be called before a body is read. */
export function sendContinue(request: IncomingMessage): void {
  const response = waiting.get(request);
  waiting.delete(request);
  if (response && !response.headersSent) response.writeContinue();
}

/**
 * Passes the body on, chunk by chunk. After a refusal the rest is read and discarded, so that the client reads the answer.
 *
 * @param limit in bytes
 * @param take  gets each chunk; the next chunk waits for its promise; an error refuses the body
 * @throws SvcError PAYLOAD_TOO_LARGE as soon as the limit is passed; REQUEST_TIMEOUT for a body that arrives too
 *   slowly; BAD_REQUEST when the client disconnects
 */
export function takeBody(
  request: IncomingMessage,
  limit: number,
  take: (chunk: Buffer) => void | Promise<void>,
): Promise<void> {
  const clock = clockOf(request);
  return new Promise((resolve, reject) => {
    if (Number(request.headers["content-length"]) > limit) {
      request.resume();
      return reject(tooLarge(limit));
    }
    // Its events have passed: no further event would come.
    if (request.destroyed && !request.readableEnded) return reject(cutShort());
    sendContinue(request);

    let size = 0;
    const settle = (error?: unknown) => {
      clock.end(timed);
      request.off("data", onData);
      request.resume();
      if (error === undefined) resolve();
      else reject(error);
    };
    const timed: TimedBody = {
      received: 0,
      refuse(error) {
        closeConnection(request);
        settle(error);
      },
    };
    clock.begin(timed);
    let isEnded = false;
    const finish = () => {
      isEnded = true;
      if (!timed.isBusy) settle();
    };
    const onData = (chunk: Buffer) => {
      size += chunk.length;
      timed.received += chunk.length;
      if (size > limit) return settle(tooLarge(limit));
      let taken: void | Promise<void>;
      try {
        taken = take(chunk);
      } catch (error) {
        return settle(error);
      }
      if (!taken) return;
      timed.isBusy = timed.wasBusy = true;
      request.pause();
      taken.then(() => {
        timed.isBusy = false;
        if (isEnded) settle();
        else request.resume();
      }, settle);
    };
    request.on("data", onData);
    request.on("end", finish);
    request.on("error", (cause) => settle(cutShort(cause)));
    request.on("close", () => {
      if (!isEnded) settle(cutShort());
    });
  });
}

export const tooLarge = (limit: number) =>
  new SvcError("PAYLOAD_TOO_LARGE", undefined, { hint: `At most ${limit} bytes are accepted here.` });

const cutShort = (cause?: unknown) => new SvcError("BAD_REQUEST", "The request was cut short.", { cause });

/**
 * Reads the whole body into memory. It counts as held until the response has closed.
 *
 * @param limit   in bytes
 * @param onLarge called once with the first bytes, before more than 16 KiB are held; an error refuses the body
 * @throws SvcError as `takeBody`; RATE_LIMITED and UNAVAILABLE when the memory for bodies is used up
 */
export async function readBody(
  request: IncomingMessage,
  limit: number,
  onLarge?: (start: Buffer) => void,
): Promise<Buffer> {
  const length = Number(request.headers["content-length"]);
  if (length > 0 && length <= Math.min(limit, uncounted)) return readSmall(request, length);
  const account = accountOf(request);
  const chunks = new ChunkList();
  try {
    await takeBody(request, limit, (chunk) => {
      const before = chunks.size;
      chunks.add(chunk);
      const { size } = chunks;
      if (size <= uncounted) return;
      if (before <= uncounted) onLarge?.(chunks.whole().subarray(0, uncounted));
      account.take("memory", before <= uncounted ? size : chunk.length);
    });
  } catch (error) {
    account.give("memory", chunks.size);
    throw error;
  }
  return chunks.whole();
}

/** Reads a body of a known length that is too small to be counted: nearly all bodies. */
function readSmall(request: IncomingMessage, length: number): Promise<Buffer> {
  const clock = clockOf(request);
  return new Promise((resolve, reject) => {
    if (request.destroyed && !request.readableEnded) return reject(cutShort());
    sendContinue(request);
    let body: Buffer | undefined;
    let size = 0;
    const timed: TimedBody = {
      received: 0,
      refuse(error) {
        closeConnection(request);
        clock.end(timed);
        reject(error);
      },
    };
    clock.begin(timed);
    request.on("data", (chunk: Buffer) => {
      timed.received += chunk.length;
      size += chunk.length;
      // Node ends the request at its length, so a chunk of that length is the body.
      if (chunk.length === length) body = chunk;
      else {
        body ??= Buffer.allocUnsafeSlow(length);
        chunk.copy(body, size - chunk.length);
      }
      if (size < length || !body) return;
      clock.end(timed);
      resolve(body);
    });
    request.on("close", () => {
      if (size === length) return;
      clock.end(timed);
      reject(cutShort());
    });
  });
}

/** @throws SvcError INVALID_JSON, also for text that is not UTF-8; BAD_REQUEST for text that is nested too deeply */
export function parseJson(body: Buffer): unknown {
  if (!isUtf8(body)) throw invalidJson("It is not UTF-8.");
  requireShallowJson(body);
  try {
    const text = body.toString("utf8");
    // A byte order mark may be ignored (RFC 8259, section 8.1), and some editors write one.
    return JSON.parse(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text);
  } catch (cause) {
    throw invalidJson(body.length === 0 ? "The body is empty." : placeIn(String(cause)), cause);
  }
}

const invalidJson = (hint: string, cause?: unknown) => new SvcError("INVALID_JSON", undefined, { hint, cause });

/** Where the engine stopped. Its message also quotes the body, which may hold secrets. */
function placeIn(message: string): string {
  if (message.includes("Unexpected end")) return "It ends too early: a bracket or a quote is missing.";
  const [, line, column] = /\(line (\d+) column (\d+)\)/.exec(message) ?? [];
  return line ? `It is wrong at line ${line}, column ${column}.` : "Write it by JSON.stringify().";
}

/** Levels of objects and lists. Arguments of procedures have a lower limit: `wireLimits.depth`. */
export const maxJsonDepth = 200;

const quote = 0x22;
const backslash = 0x5c;

/**
 * Refuses JSON that is nested too deeply, before anything reads it: readers are recursive, from schemas to PostgreSQL, and
 * each ends with an exhausted stack at another depth. Every door that takes JSON calls this.
 *
 * @throws SvcError BAD_REQUEST
 */
export function requireShallowJson(json: Buffer | string): void {
  // Shorter than that many brackets and their ends.
  if (json.length < 2 * maxJsonDepth) return;
  const bytes = typeof json === "string" ? Buffer.from(json) : json;
  let depth = 0;
  let isText = false;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] as number;
    if (isText) {
      if (byte === quote) isText = false;
      else if (byte === backslash) at++;
    } else if (byte === quote) isText = true;
    // "[" and "{", then "]" and "}": they differ in one bit.
    else if ((byte | 0x20) === 0x7b) {
      if (++depth > maxJsonDepth) throw tooDeep();
    } else if ((byte | 0x20) === 0x7d) depth--;
  }
}

/** Whether a value of JSON has more levels of objects and lists. It recurses to that level at most, and makes no lists of members. */
export const isNestedDeeper = (value: unknown, levels: number): boolean =>
  typeof value === "object" && value !== null && isDeeper(value, levels);

function isDeeper(value: object, levels: number): boolean {
  if (levels <= 0) return true;
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length; at++) if (isNestedDeeper(value[at], levels - 1)) return true;
    return false;
  }
  for (const key in value) if (isNestedDeeper((value as Record<string, unknown>)[key], levels - 1)) return true;
  return false;
}

/** The same for a value that another reader has parsed. @throws SvcError BAD_REQUEST */
export function requireShallow(value: unknown): void {
  if (isNestedDeeper(value, maxJsonDepth)) throw tooDeep();
}

const tooDeep = () =>
  new SvcError("BAD_REQUEST", `The JSON is nested deeper than ${maxJsonDepth} levels.`, {
    hint: "Send a flatter value, or a text that holds this JSON.",
  });

/**
 * Refuses content codings, and other transfer codings than "chunked": the encoded bytes would be read as plain ones (RFC 9110,
 * section 8.4; RFC 9112, section 6.1).
 *
 * @throws SvcError UNSUPPORTED_MEDIA_TYPE
 */
export function refuseEncodedBody({ headers }: Pick<IncomingMessage, "headers">): void {
  const encoding = headers["content-encoding"];
  const transfer = headers["transfer-encoding"];
  const isPlain = encoding === undefined || /^(?:\s*|identity)$/i.test(encoding);
  if (isPlain && (transfer === undefined || /^chunked$/i.test(transfer))) return;
  throw new SvcError("UNSUPPORTED_MEDIA_TYPE", "Compressed bodies are not accepted.", {
    hint: isPlain ? "The only transfer-encoding is chunked." : "Send the body without content-encoding.",
  });
}
