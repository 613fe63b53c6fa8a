/**
 * The state of an exchange: its id, operation and result. `observer` creates it; endpoints fill it in; error bodies
 * read it. At the end it becomes one log line and one metrics observation.
 */
import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { RequestHandler } from "express";
import type { Logger } from "pino";
import type { Caller } from "../contract/caller.ts";
import { ServerResponse as NodeResponse } from "../kit/node-http.ts";
import type { Session } from "../kit/session.ts";
import { SvcError } from "../kit/svc-error.ts";
import { databaseReason, WithoutStack } from "../telemetry/describe-error.ts";
import type { InFlight, Metrics } from "../telemetry/metrics.ts";
import { type Span, type Tracing, traceFields } from "../telemetry/span.ts";
import { countAnswer } from "./body-budget.ts";
import { leftSignal } from "./left-signal.ts";
import type { OriginPolicy } from "./origin-policy.ts";
import type { RequestLimits } from "./request-limits.ts";
import { endRequestSpan, startRequestSpan } from "./request-span.ts";

/** @returns the text for the answer's hint */
export type ShowCause = (cause: unknown, operation: string) => string;

export interface Exchange {
  requestId: string;
  /** The operation, from a bounded set of names: a procedure, a route's pattern, or a built-in path. */
  operation: string;
  /** Headers of the answer, set by any handler. */
  headers: Record<string, string>;
  /** The error, for the log line. */
  error?: unknown;
  /** Whether an answer of 5xx is part of normal operation, and no error. */
  isExpected?: boolean;
  /** Whether a balancer or Prometheus asked, as every few seconds: the line of a success is of level debug. */
  isProbe?: boolean;
  /** Of the signed-in caller. */
  session?: Session | null;
  /** Of an answer that may become a stream: whose, whether it is one, and whether the session has ended meanwhile. */
  begun?: { session: Session; isStream: boolean; hasEnded: boolean };
  /** Only under `svc dev`: shows the author the cause of an error, and returns it for the answer. */
  showCause?: ShowCause;
  /** Only while tracing is on. */
  span?: Span;
}

/**
 * Node keeps the first of several `Host` headers; a proxy may have checked another one. Source: RFC 9112, section 3.2.
 *
 * @throws SvcError BAD_REQUEST
 */
export function requireOneHost({ rawHeaders }: Pick<IncomingMessage, "rawHeaders">): void {
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? "";
    if (name.length === 4 && name.toLowerCase() === "host") hosts++;
  }
  if (hosts > 1) throw new SvcError("BAD_REQUEST", "The request has more than one Host header.");
}

/** A property, because a WeakMap of all responses would cost each garbage collection. */
const exchangeKey = Symbol("exchange");
type Observed = ServerResponse & { [exchangeKey]?: Exchange };

/** Prevents clickjacking, and embedding an API answer as an image or a script. */
const jsonHeaders = {
  "content-type": "application/json; charset=utf-8",
  "cache-control": "no-store",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  // For listed origins CORS decides; this header covers requests without CORS.
  "cross-origin-resource-policy": "same-origin",
};

/** In seconds: how long browsers require https, a year. Subdomains are not included: they may not be ours. */
const httpsFor = 31_536_000;

/** Headers of all answers of a service; created once. */
export function defaultHeaders({ own, all }: Pick<OriginPolicy, "own" | "all">): Record<string, string> {
  return {
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "content-security-policy": `frame-ancestors ${all.join(" ")}`,
    // Tells caches that CORS headers differ by origin.
    vary: "Origin",
    ...(own.startsWith("https:") && { "strict-transport-security": `max-age=${httpsFor}` }),
  };
}

/** @param defaults see `defaultHeaders` */
export function startExchange(
  response: ServerResponse,
  requestId: string,
  defaults: Readonly<Record<string, string>>,
): Exchange {
  const exchange: Exchange = { requestId, operation: "unknown", headers: { ...defaults, "x-request-id": requestId } };
  (response as Observed)[exchangeKey] = exchange;
  response.destroy = destroyInsideChunk; // one function for all responses: docs/adr/0004-calls-before-express.md
  return exchange;
}

/**
 * Lets an answer of unknown length that is destroyed end inside of a chunk. WebKit on Linux takes a connection that ends
 * between two chunks for the end of the answer, although the last chunk is missing.
 */
function destroyInsideChunk(this: ServerResponse, error?: Error): ServerResponse {
  const { req, socket, headersSent, writableEnded, chunkedEncoding } = this;
  if (socket?.writable && headersSent && !writableEnded && chunkedEncoding && req.method !== "HEAD") {
    socket.write("1\r\n");
    socket.uncork(); // Node holds what was written in this tick until its end
  }
  return NodeResponse.prototype.destroy.call(this, error) as ServerResponse;
}

/** @throws Error when the request did not pass `observe` */
export function exchangeOf(response: ServerResponse): Exchange {
  const exchange = (response as Observed)[exchangeKey];
  if (!exchange) throw new Error("This response did not pass the observe middleware.");
  return exchange;
}

/** @param requests tells the holder of the connection share, and the client's address */
export function callerOf(
  request: IncomingMessage,
  response: ServerResponse,
  session: Session | null,
  requests: Pick<RequestLimits, "holderOf" | "addressOf">,
): Caller {
  const { requestId } = exchangeOf(response);
  const client = () => ({
    address: requests.addressOf(request),
    userAgent: request.headers["user-agent"] ?? "",
    left: leftSignal(response),
  });
  return { session, requestId, holder: requests.holderOf(request, session), client };
}

/** Sends a JSON text as the body. API answers are for one caller: caches must not store them. */
export function sendJson(response: ServerResponse, status: number, json: string, headers: Record<string, string> = {}) {
  const length = Buffer.byteLength(json);
  response.writeHead(status, { ...exchangeOf(response).headers, ...jsonHeaders, "content-length": length, ...headers });
  response.end(json);
  countAnswer(response, length);
}

const acceptableId = /^[\w.:-]{1,128}$/;

/** Starts the exchange, and registers the work for its end. */
export type Observe = (request: IncomingMessage, response: ServerResponse) => Exchange;

/** @param tracing undefined: tracing is off @param showCause undefined: causes are only logged */
export function observer(
  log: Logger,
  metrics: Metrics,
  defaults: Readonly<Record<string, string>>,
  tracing?: Tracing,
  showCause?: ShowCause,
): Observe {
  // These lines have only our own fields, none of them secret: redaction would double their cost.
  const lines = log.child({}, { redact: [], formatters: { log: (line) => line } });
  return (request, response) => {
    const started = performance.now();
    const given = request.headers["x-request-id"];
    const requestId = typeof given === "string" && acceptableId.test(given) ? given : randomUUID();
    const exchange = startExchange(response, requestId, defaults);
    if (showCause) exchange.showCause = showCause;
    const span = tracing && startRequestSpan(tracing, request, requestId);
    if (span) exchange.span = span;

    const waited = answerWait(request, response, started);
    metrics.inFlight.add(response);
    response.on("close", () => {
      metrics.inFlight.delete(response);
      const ms = performance.now() - started;
      const { operation, error, session } = exchange;
      // If the client disconnected before the answer, log 499, as proxies do.
      const status = response.writableFinished ? response.statusCode : 499;
      const code = error instanceof SvcError ? error.code : undefined;
      metrics.observe(operation, request.method ?? "", status, ms / 1000, waited() / 1000, code);

      if (span) endRequestSpan(span, request, exchange, status);

      logEnd(lines, exchange, {
        requestId,
        ...(session && { userId: session.user.id, ...(session.visit && { visit: session.visit }) }),
        ...(session?.key && { keyId: session.key.id }),
        method: request.method,
        operation,
        status,
        ms: Math.round(ms * 100) / 100,
        ...(span && traceFields(span)),
      });
    });
    return exchange;
  };
}

const place = Symbol("place");
type Placed = ServerResponse & { [place]?: number | undefined };

/**
 * Not a `Set`: that makes a new table after some deletions, and the old table refers to the new one. As soon as V8's collections
 * of young objects take one table for old, they keep all later ones and what was in them, which is every request, until a
 * full collection: docs/adr/0004-calls-before-express.md.
 */
export class AnswersUnderWay implements InFlight {
  readonly #members: Placed[] = [];

  get size(): number {
    return this.#members.length;
  }

  add(response: Placed): void {
    response[place] ??= this.#members.push(response) - 1;
  }

  delete(response: Placed): void {
    const at = response[place];
    const last = this.#members.at(-1);
    if (at === undefined || !last) return;
    this.#members[at] = last;
    last[place] = at;
    this.#members.pop();
    response[place] = undefined;
  }

  /** Of those that are under way now. */
  [Symbol.iterator](): Iterator<ServerResponse> {
    return this.#members.slice().values();
  }
}

/**
 * How long a client waits for the service alone: from the last byte of its request to the first of the answer. The time in which
 * a client sends an upload, or reads a stream, depends on the client and its network.
 *
 * @param started by `performance.now()`
 * @returns what to call when the response has closed; the wait in milliseconds. It is 0 if the answer began before the request had
 *   ended, as for an upload that is refused, and lasts until the close if there was no answer.
 */
export function answerWait(request: IncomingMessage, response: ServerResponse, started: number): () => number {
  const { headers } = request;
  const hasBody = headers["transfer-encoding"] !== undefined || (headers["content-length"] ?? "0") !== "0";
  const { writeHead } = response;
  const wait: Wait = { received: hasBody ? Number.POSITIVE_INFINITY : started, answered: undefined, writeHead };
  if (hasBody) {
    request.once("end", () => {
      wait.received = performance.now();
    });
  }
  (response as Waited)[waitKey] = wait;
  response.writeHead = writeHeadInTime as typeof writeHead;
  return () => Math.max(0, (wait.answered ?? performance.now()) - wait.received);
}

/** When the request had arrived and the answer began, by `performance.now()`. */
interface Wait {
  received: number;
  answered: number | undefined;
  readonly writeHead: ServerResponse["writeHead"];
}

const waitKey = Symbol("wait");
type Waited = ServerResponse & { [waitKey]?: Wait };

function writeHeadInTime(this: Waited, ...args: Parameters<ServerResponse["writeHead"]>): ServerResponse {
  const wait = this[waitKey] as Wait;
  wait.answered ??= performance.now();
  return wait.writeHead.apply(this, args);
}

/** One line: done, refused, or failed with its cause. GraphQL answers partial errors with 200. */
function logEnd(
  log: Logger,
  { error, isExpected, isProbe }: Exchange,
  line: Record<string, unknown> & { status: number },
): void {
  const known = error instanceof SvcError ? error : undefined;
  if ((line.status >= 500 && !isExpected) || (known && known.status >= 500)) {
    const cause = known?.cause ?? error;
    // While the database is away, every request fails like this.
    log.error({ ...line, err: known?.code === "UNAVAILABLE" ? new WithoutStack(cause) : cause }, "failed");
  } else if (known) {
    // The cause of a limit is its name. The caller is not told whether it is that of an account or of an address.
    const isLimit = known.code === "RATE_LIMITED" && typeof known.cause === "string";
    const reason = isLimit ? String(known.cause) : databaseReason(known.cause);
    log.info({ ...line, code: known.code, ...(reason && { reason }) }, "refused");
  } else if (isProbe && line.status < 400) log.debug(line, "done");
  else log.info(line, "done");
}

/** For answers that other code writes: authentication routes, the application's routes, static files. */
export const setCommonHeaders: RequestHandler = (_request, response, next) => {
  for (const [name, value] of Object.entries(exchangeOf(response).headers)) response.setHeader(name, value);
  next();
};
