/**
 * What every exchange carries from its first middleware to its last: the id, when it began, what it turned out to be.
 * Written by `observe.ts`, filled in by the endpoints, read by the log, the metrics and error bodies.
 */
import type { ServerResponse } from "node:http";
import type { Span } from "../telemetry/span.ts";
import type { OriginPolicy } from "./origin-policy.ts";

export interface Exchange {
  requestId: string;
  /** What was called, from a bounded set of names: a procedure, a route's pattern, or a built-in path. */
  operation: string;
  /** Headers that the answer gets, whoever writes it. */
  headers: Record<string, string>;
  /** What went wrong, for the log line. */
  error?: unknown;
  /** Who called, when they had signed in. */
  userId?: string;
  /** While tracing is on. */
  span?: Span;
}

const exchanges = new WeakMap<ServerResponse, Exchange>();

/** Whoever frames an answer of the API, or pulls it into a page as an image or a script, is up to no good. */
const jsonHeaders = {
  "content-type": "application/json; charset=utf-8",
  "cache-control": "no-store",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  // For scripts of listed origins CORS decides; this is about requests that ask nobody.
  "cross-origin-resource-policy": "same-origin",
};

/** In seconds: how long browsers insist on https, a year. Whether for subdomains too, is not ours to say. */
const httpsFor = 31_536_000;

/** What all answers of a service carry: made once. */
export function defaultHeaders({ own, all }: Pick<OriginPolicy, "own" | "all">): Record<string, string> {
  return {
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "content-security-policy": `frame-ancestors ${all.join(" ")}`,
    // The warning to caches that CORS headers differ.
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
  exchanges.set(response, exchange);
  return exchange;
}

/** @throws Error when the request did not pass `observe` */
export function exchangeOf(response: ServerResponse): Exchange {
  const exchange = exchanges.get(response);
  if (!exchange) throw new Error("This response did not pass the observe middleware.");
  return exchange;
}

/** Sends a JSON body that is already text. Answers of the API are about one caller: nobody may store them. */
export function sendJson(response: ServerResponse, status: number, json: string, headers: Record<string, string> = {}) {
  response.writeHead(status, {
    ...exchangeOf(response).headers,
    ...jsonHeaders,
    "content-length": Buffer.byteLength(json),
    ...headers,
  });
  response.end(json);
}
