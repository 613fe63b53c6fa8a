/**
 * `/openapi.json`, and `/openapi`, the same to be read: made when somebody first asks, then kept.
 * Next hop: `src/openapi/document.ts`, `src/openapi/page.ts`.
 */
import { createHash } from "node:crypto";
import { Router } from "express";
import { isKnown } from "../http/conditions.ts";
import { exchangeOf, sendJson } from "../http/exchange.ts";
import type { OpenApiDocument } from "../openapi/document.ts";
import { openApiPage, pagePolicy } from "../openapi/page.ts";

export interface OpenApiEndpoints {
  /** Whether the page is served too. */
  reference: boolean;
  document(): OpenApiDocument;
}

/** @param endpoints null: neither is there */
export function openApiEndpoints(endpoints: OpenApiEndpoints | null): Router {
  const router = Router({ caseSensitive: true, strict: true });
  if (!endpoints) return router;
  let kept: { text: string; etag: string } | undefined;
  const document = () => {
    if (!kept) {
      const text = JSON.stringify(endpoints.document());
      kept = { text, etag: `"${createHash("sha256").update(text).digest("hex").slice(0, 32)}"` };
    }
    return kept;
  };
  router.get("/openapi.json", (request, response) => {
    const exchange = exchangeOf(response);
    exchange.operation = "/openapi.json";
    const { text, etag } = document();
    // It changes with the application: whoever has a copy asks whether it still is the one.
    const caching = { etag, "cache-control": "no-cache" };
    if (isKnown(request.headers["if-none-match"], etag)) {
      response.writeHead(304, { ...exchange.headers, ...caching }).end();
    } else sendJson(response, 200, text, caching);
  });
  if (!endpoints.reference) return router;
  router.get("/openapi", (_request, response) => {
    const exchange = exchangeOf(response);
    exchange.operation = "/openapi";
    // For one person at a desk, now and then: not worth keeping.
    const page = openApiPage(endpoints.document());
    response.writeHead(200, {
      ...exchange.headers,
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": pagePolicy,
      "cross-origin-opener-policy": "same-origin",
      "cache-control": "no-store",
    });
    response.end(page);
  });
  return router;
}
