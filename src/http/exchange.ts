/**
 * What every exchange carries from its first middleware to its last: the id, when it began, what it turned out to be.
 * Written by `observe.ts`, filled in by the endpoints, read by the log, the metrics and error bodies.
 */
import type { ServerResponse } from "node:http";

export interface Exchange {
  requestId: string;
  /** What was called, from a bounded set of names: a procedure, a route's pattern, or a built-in path. */
  operation: string;
  /** Headers that the answer gets, whoever writes it. */
  headers: Record<string, string>;
  /** What went wrong, for the log line. */
  error?: unknown;
}

const exchanges = new WeakMap<ServerResponse, Exchange>();

/** The id that leads to the log, no guessing of content types, and the warning to caches that CORS headers differ. */
export function startExchange(response: ServerResponse, requestId: string): Exchange {
  const headers = { "x-request-id": requestId, "x-content-type-options": "nosniff", vary: "Origin" };
  const exchange: Exchange = { requestId, operation: "unknown", headers };
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
    "content-type": "application/json; charset=utf-8",
    "content-length": Buffer.byteLength(json),
    "cache-control": "no-store",
    ...headers,
  });
  response.end(json);
}
