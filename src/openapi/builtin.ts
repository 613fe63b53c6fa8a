/**
 * The endpoints that the platform answers by itself. Features describe theirs; health, metrics and the document are here.
 * Next hop: `src/server/health.ts` and `src/server/openapi.ts` answer.
 */
import type { EffectiveConfig } from "../config/config.ts";
import { graphqlPaths } from "../graphql/openapi.ts";
import { objectOf } from "../kit/json-schema.ts";
import { answers, errors, json, nobody, operation, type Part, text } from "../kit/parts.ts";
import { realtimePaths } from "../realtime/openapi.ts";
import { storagePaths } from "../storage/openapi.ts";

const look = (operationId: string, summary: string, ok: Part, more: Part = {}): Part => ({
  get: operation(operationId, "service", summary, nobody, { responses: { ...errors(), 200: ok, ...more } }),
});

const health = json(objectOf({ status: text() }));

const servicePaths: Record<string, Part> = {
  "/healthz": look("svc-health", "Whether the process runs", answers("It runs.", health)),
  "/readyz": look("svc-ready", "Whether it can serve", answers("It can.", health), {
    503: answers("It cannot.", health),
  }),
  "/metrics": look("svc-metrics", "Metrics for Prometheus", answers("As text.", { "text/plain": { schema: text() } })),
  "/openapi.json": look("svc-openapi", "This document", answers("This document.", json({ type: "object" }))),
};

const page = answers("A page.", { "text/html": { schema: text() } });
const reference = look("svc-reference", "This document as a page", page);

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
