/**
 * Cross-origin resource sharing (https://fetch.spec.whatwg.org/#http-cors-protocol): listed origins may read every
 * answer, with credentials; others read nothing. Runs before anything else answers.
 * Next hop: `origin-policy.ts`.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { sendError } from "./errors.ts";
import { exchangeOf } from "./exchange.ts";
import { foreignOrigin, type OriginPolicy } from "./origin-policy.ts";

/** What scripts may read of an answer, besides what every script may. */
const exposed = "x-request-id, retry-after, etag, location, content-range, accept-ranges, content-disposition";

/** In seconds: how long a browser remembers a preflight. Chromium caps it there. */
const preflightLifetime = 7200;

/** Adds what a listed origin needs to the headers of this exchange. @returns true when the request was a preflight */
export type Cors = (request: IncomingMessage, response: ServerResponse) => boolean;

export function createCors(policy: OriginPolicy): Cors {
  return (request, response) => {
    const { origin } = request.headers;
    if (origin === undefined) return false;
    const isPreflight = request.method === "OPTIONS" && "access-control-request-method" in request.headers;
    const exchange = exchangeOf(response);
    if (policy.allows(origin)) {
      exchange.headers["access-control-allow-origin"] = origin;
      exchange.headers["access-control-allow-credentials"] = "true";
      exchange.headers["access-control-expose-headers"] = exposed;
      if (isPreflight) answerPreflight(request, response);
    } else if (isPreflight) {
      exchange.operation = "preflight";
      sendError(response, foreignOrigin());
    }
    return isPreflight;
  };
}

function answerPreflight(request: IncomingMessage, response: ServerResponse): void {
  const exchange = exchangeOf(response);
  exchange.operation = "preflight";
  response.writeHead(204, {
    ...exchange.headers,
    "access-control-allow-methods": "GET, HEAD, POST, PUT, PATCH, DELETE",
    // What the page asks for: it is on the list, and which headers matter is decided where they are read.
    "access-control-allow-headers": request.headers["access-control-request-headers"] ?? "",
    "access-control-max-age": String(preflightLifetime),
  });
  response.end();
}
