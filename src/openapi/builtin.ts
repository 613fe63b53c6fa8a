/**
 * The endpoints that the platform answers by itself. Features describe theirs; health, metrics and the document are
 * here.
 * Next hop: `src/server/health.ts` and `src/server/openapi.ts` answer.
 */
import type { EffectiveConfig } from "../config/config.ts";
import { graphqlPaths } from "../graphql/openapi.ts";
import { answers, errors, json, nobody, type Part, text } from "../kit/parts.ts";
import { realtimePaths } from "../realtime/openapi.ts";
import { storagePaths } from "../storage/openapi.ts";

const look = (operationId: string, summary: string, responses: Part): Part => ({
  get: { operationId, tags: ["service"], summary, security: nobody, responses },
});

const health = json({ type: "object", properties: { status: text() }, required: ["status"] });

const servicePaths: Record<string, Part> = {
  "/healthz": look("svc-health", "Whether the process runs", { 200: answers("It runs.", health), ...errors() }),
  "/readyz": look("svc-ready", "Whether it can serve", {
    ...errors(),
    200: answers("It can.", health),
    503: answers("It cannot.", health),
  }),
  "/metrics": look("svc-metrics", "Metrics for Prometheus", {
    200: answers("As text.", { "text/plain": { schema: text() } }),
    ...errors(),
  }),
  "/openapi.json": look("svc-openapi", "This document", {
    200: answers("This document.", json({ type: "object" })),
    ...errors(),
  }),
};

const reference = look("svc-reference", "This document as a page", {
  200: answers("A page.", { "text/html": { schema: text() } }),
  ...errors(),
});

/** The endpoints that the configuration enables. */
export const builtInPaths = ({
  openapi,
  graphql,
}: Pick<EffectiveConfig, "openapi" | "graphql">): Record<string, Part> => ({
  ...graphqlPaths(graphql),
  ...storagePaths,
  ...realtimePaths,
  ...servicePaths,
  ...(openapi.reference && { "/openapi": reference }),
});
