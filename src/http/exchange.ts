/**
 * What every exchange carries from its first middleware to its last: the id, when it began, what it turned out to be.
 * Written by `observe.ts`, filled in by the endpoints, read by the log, the metrics and error bodies.
 */
import type { ServerResponse } from "node:http";

export interface Exchange {
  requestId: string;
  /** What was called, from a bounded set of names: a procedure, a route's pattern, or a built-in path. */
  operation: string;
  /** What went wrong, for the log line. */
  error?: unknown;
}

const exchanges = new WeakMap<ServerResponse, Exchange>();

export function startExchange(response: ServerResponse, requestId: string): Exchange {
  const exchange: Exchange = { requestId, operation: "unknown" };
  exchanges.set(response, exchange);
  return exchange;
}

/** @throws Error when the request did not pass `observe` */
export function exchangeOf(response: ServerResponse): Exchange {
  const exchange = exchanges.get(response);
  if (!exchange) throw new Error("This response did not pass the observe middleware.");
  return exchange;
}

/** Headers of every answer: the id that leads to the log, and no guessing of content types. */
export const commonHeaders = ({ requestId }: Exchange) => ({
  "x-request-id": requestId,
  "x-content-type-options": "nosniff",
});

/** Sends a JSON body that is already text. Answers of the API are about one caller: nobody may store them. */
export function sendJson(response: ServerResponse, status: number, json: string, headers: Record<string, string> = {}) {
  response.writeHead(status, {
    ...commonHeaders(exchangeOf(response)),
    "content-type": "application/json; charset=utf-8",
    "content-length": Buffer.byteLength(json),
    "cache-control": "no-store",
    ...headers,
  });
  response.end(json);
}
