/**
 * Cross-origin resource sharing (https://fetch.spec.whatwg.org/#http-cors-protocol): listed origins may read every
 * answer, with credentials; others may read nothing. Runs before every handler but the checks of the host.
 * Next hop: `origin-policy.ts`.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Logger } from "pino";
import { sendError } from "./errors.ts";
import { exchangeOf } from "./exchange.ts";
import { foreignOrigin, type OriginPolicy } from "./origin-policy.ts";

/** Answer headers that scripts may read, besides the CORS-safelisted ones. */
const exposed = [
  "x-request-id, svc-position, idempotent-replayed, retry-after, etag, location, content-range, accept-ranges, content-disposition",
  "tus-resumable, tus-version, tus-extension, tus-max-size, upload-offset, upload-length, upload-expires, upload-metadata",
].join(", ");

/** In seconds: how long a browser caches a preflight. Chromium's maximum. */
const preflightLifetime = 7200;

/** For a request with an origin: adds the CORS headers if it is listed. @returns true if the request was a preflight */
export type Cors = (request: IncomingMessage, response: ServerResponse) => boolean;

/** @param log logs unlisted origins, in development. (Default: no log) */
export function createCors(policy: OriginPolicy, log?: Logger): Cors {
  const announce = log ? announcer(log) : () => {};
  return (request, response) => {
    const { origin = "" } = request.headers;
    const isPreflight = request.method === "OPTIONS" && "access-control-request-method" in request.headers;
    const exchange = exchangeOf(response);
    if (policy.allows(origin)) {
      exchange.headers["access-control-allow-origin"] = origin;
      exchange.headers["access-control-allow-credentials"] = "true";
      exchange.headers["access-control-expose-headers"] = exposed;
      if (isPreflight) answerPreflight(request, response);
    } else {
      announce(origin);
      if (isPreflight) {
        exchange.operation = "preflight";
        sendError(response, foreignOrigin(origin));
      }
    }
    return isPreflight;
  };
}

/** How many origins are logged, and how much of each, in UTF-16 units. */
const maxAnnounced = 20;
const maxLength = 200;

/** Logs each new origin once: the browser's console does not show the hint in the answer. */
function announcer(log: Logger): (origin: string) => void {
  const announced = new Set<string>();
  return (given) => {
    const origin = given.slice(0, maxLength);
    if (announced.has(origin) || announced.size >= maxAnnounced) return;
    announced.add(origin);
    log.warn({ origin }, "a page of an origin that is not listed asks; if it is yours, add it to frontendOrigins");
  };
}

function answerPreflight(request: IncomingMessage, response: ServerResponse): void {
  const exchange = exchangeOf(response);
  exchange.operation = "preflight";
  response.writeHead(204, {
    ...exchange.headers,
    "access-control-allow-methods": "GET, HEAD, POST, PUT, PATCH, DELETE",
    // Allow the requested headers: the origin is listed, and headers are checked where they are read.
    "access-control-allow-headers": request.headers["access-control-request-headers"] ?? "",
    "access-control-max-age": String(preflightLifetime),
  });
  response.end();
}
