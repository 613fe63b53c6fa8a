/**
 * The platform's endpoints that have no OpenAPI file of their own: GraphQL, realtime, health, the document.
 * Next hop: `src/graphql/endpoint.ts`, `src/realtime/`, `src/server/health.ts` answer them.
 */
import type { EffectiveConfig } from "../config/config.ts";
import type { JsonSchema } from "../kit/json-schema.ts";
import { answers, anyone, errors, inQuery, json, nobody, type Part, signedIn, text } from "../kit/parts.ts";
import { storagePaths } from "../storage/openapi.ts";

const socket = (operationId: string): Part => ({
  get: {
    operationId,
    tags: ["realtime"],
    summary: "The WebSocket that tells of changes",
    description: "An upgrade; its frames are in docs/reference/realtime.md. Without one this path does not exist.",
    security: anyone,
    parameters: [inQuery("ticket", text(), "Of /api/realtime/ticket.")],
    responses: { 101: { description: "Go on as a WebSocket." }, ...errors(401, 403, 404) },
  },
});

const grant: JsonSchema = {
  type: "object",
  properties: { token: text(), subscriptionKey: text(), policy: text(), expiresAt: text({ format: "date-time" }) },
  required: ["token", "subscriptionKey", "policy", "expiresAt"],
};

const realtimePaths: Record<string, Part> = {
  "/ws": socket("svc-realtime-socket"),
  "/api/realtime": socket("svc-realtime-socket-api"),
  "/api/realtime/ticket": {
    post: {
      operationId: "svc-realtime-ticket",
      tags: ["realtime"],
      summary: "A ticket that opens a socket, once, within 30 seconds",
      security: signedIn,
      responses: {
        200: answers("The ticket.", json({ type: "object", properties: { ticket: text() }, required: ["ticket"] })),
        ...errors(401, 403),
      },
    },
  },
  "/api/realtime/query/authorize": {
    post: {
      operationId: "svc-realtime-authorize",
      tags: ["realtime"],
      summary: "A grant to watch a query",
      security: anyone,
      requestBody: {
        required: true,
        content: json({ type: "object", properties: { query: text(), args: {} }, required: ["query"] }),
      },
      responses: { 200: answers("The grant.", json(grant)), ...errors(400, 401, 403, 404, 409, 413, 504) },
    },
  },
};

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

const reference = look("svc-reference", "This document, to be read", {
  200: answers("A page.", { "text/html": { schema: text() } }),
  ...errors(),
});

const graphqlErrors: JsonSchema = {
  type: "array",
  items: {
    type: "object",
    properties: { message: text(), path: { type: "array" }, extensions: { type: "object" } },
    required: ["message"],
  },
};

/** Errors have GraphQL's form, except where a request was refused before it was read. */
const graphqlError = json({
  anyOf: [
    { type: "object", properties: { errors: graphqlErrors }, required: ["errors"] },
    { $ref: "#/components/schemas/Error" },
  ],
});

const graphql: Part = {
  operationId: "svc-graphql",
  tags: ["graphql"],
  summary: "An operation of GraphQL",
  security: anyone,
  requestBody: {
    required: true,
    content: json({
      type: "object",
      properties: {
        query: text(),
        operationName: { type: ["string", "null"] },
        variables: { type: ["object", "null"] },
      },
      required: ["query"],
    }),
  },
  responses: {
    200: answers("What was carried out.", json({ type: "object", properties: { data: {}, errors: graphqlErrors } })),
    default: answers("Nothing was carried out.", graphqlError),
  },
};

const ruru: Part = {
  operationId: "svc-graphql-ruru",
  tags: ["graphql"],
  summary: "A page to write GraphQL in",
  security: nobody,
  responses: {
    200: answers("The page.", { "text/html": { schema: text() } }),
    default: answers("No page.", graphqlError),
  },
};

/** The endpoints that the configuration enables. */
export const builtInPaths = ({ openapi, graphql: { enabled, ruru: hasRuru } }: Switches): Record<string, Part> => ({
  ...(enabled && { "/api/graphql": { post: graphql, ...(hasRuru && { get: ruru }) } }),
  ...storagePaths,
  ...realtimePaths,
  ...servicePaths,
  ...(openapi.reference && { "/openapi": reference }),
});

type Switches = Pick<EffectiveConfig, "openapi" | "graphql">;
