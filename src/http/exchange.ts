/**
 * The state of an exchange: its id, start time, operation and result. `observe.ts` creates it, the endpoints fill it
 * in, and the log, the metrics and error bodies read it.
 */
import type { ServerResponse } from "node:http";
import type { Span } from "../telemetry/span.ts";
import type { OriginPolicy } from "./origin-policy.ts";

/** @returns the text for the answer's hint */
export type ShowCause = (cause: unknown) => string;

export interface Exchange {
  requestId: string;
  /** The operation, from a bounded set of names: a procedure, a route's pattern, or a built-in path. */
  operation: string;
  /** Headers of the answer, set by any handler. */
  headers: Record<string, string>;
  /** The error, for the log line. */
  error?: unknown;
  /** The signed-in caller. */
  userId?: string;
  /** Only under `svc dev`: shows the author the cause of an error, and returns it for the answer. */
  showCause?: ShowCause;
  /** Only while tracing is on. */
  span?: Span;
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

/** @param standing see `defaultHeaders` */
export function startExchange(
  response: ServerResponse,
  requestId: string,
  standing: Readonly<Record<string, string>>,
): Exchange {
  const exchange: Exchange = { requestId, operation: "unknown", headers: { ...standing, "x-request-id": requestId } };
  (response as Observed)[exchangeKey] = exchange;
  return exchange;
}

/** @throws Error when the request did not pass `observe` */
export function exchangeOf(response: ServerResponse): Exchange {
  const exchange = (response as Observed)[exchangeKey];
  if (!exchange) throw new Error("This response did not pass the observe middleware.");
  return exchange;
}

/** Sends a JSON text as the body. API answers are for one caller: caches must not store them. */
export function sendJson(response: ServerResponse, status: number, json: string, headers: Record<string, string> = {}) {
  response.writeHead(status, {
    ...exchangeOf(response).headers,
    ...jsonHeaders,
    "content-length": Buffer.byteLength(json),
    ...headers,
  });
  response.end(json);
}
