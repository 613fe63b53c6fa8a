/**
 * `/openapi.json`, and `/openapi`, its HTML page. Loaded and generated on first request, then kept.
 * Next hop: `src/openapi/document.ts`, `src/openapi/page.ts`.
 */
import { createHash } from "node:crypto";
import { Router } from "express";
import { isKnown } from "../http/conditions.ts";
import { exchangeOf, sendJson } from "../http/exchange.ts";
import type { OpenApiDocument } from "../openapi/document.ts";

export interface OpenApiEndpoints {
  /** Whether to serve the HTML page too. */
  reference: boolean;
  document(): Promise<OpenApiDocument>;
}

/** @param endpoints null: neither path exists */
export function openApiEndpoints(endpoints: OpenApiEndpoints | null): Router {
  const router = Router({ caseSensitive: true, strict: true });
  if (!endpoints) return router;
  let kept: { text: string; etag: string } | undefined;
  let page: string | undefined; // that of 300 tables has 6 MB and takes most of a second
  const document = async () => {
    if (!kept) {
      const text = JSON.stringify(await endpoints.document());
      kept = { text, etag: `"${createHash("sha256").update(text).digest("hex").slice(0, 32)}"` };
    }
    return kept;
  };
  router.get("/openapi.json", async (request, response) => {
    const exchange = exchangeOf(response);
    exchange.operation = "/openapi.json";
    const { text, etag } = await document();
    // The document changes with the application, so clients must revalidate their copy.
    const caching = { etag, "cache-control": "no-cache" };
    if (isKnown(request.headers["if-none-match"], etag)) {
      response.writeHead(304, { ...exchange.headers, ...caching }).end();
    } else sendJson(response, 200, text, caching);
  });
  if (!endpoints.reference) return router;
  router.get("/openapi", async (_request, response) => {
    const exchange = exchangeOf(response);
    exchange.operation = "/openapi";
    const { openApiPage, pagePolicy } = await import("../openapi/page.ts");
    page ??= openApiPage(await endpoints.document());
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
