/**
 * The platform's own endpoints in the document, but for authentication: stored files, uploads, realtime, health.
 * Next hop: `src/storage/route.ts`, `src/storage/upload-route.ts`, `src/realtime/`, `src/http/health.ts` answer them.
 */
import type { EffectiveConfig } from "../define/config.ts";
import type { JsonSchema } from "../define/json-schema.ts";
import { fits, formats } from "../storage/transform-options.ts";
import { answers, anyone, errors, json, nobody, type Part, signedIn } from "./parts.ts";

const text = (more: JsonSchema = {}): JsonSchema => ({ type: "string", ...more });
const whole = (maximum: number): JsonSchema => ({ type: "integer", minimum: 1, maximum });
const inQuery = (name: string, schema: JsonSchema, description?: string): Part => ({
  name,
  in: "query",
  schema,
  ...(description && { description }),
});
const header = (name: string, schema: JsonSchema, required = true): Part => ({ name, in: "header", required, schema });
const id: Part = { name: "id", in: "path", required: true, schema: text({ format: "uuid" }) };
const headersOf = (...names: string[]): Part => Object.fromEntries(names.map((name) => [name, { schema: text() }]));
const bytes: Part = { "*/*": {} };
const anyBytes = { "application/octet-stream": {} };

/** A stored file: the bytes, and what HEAD says of them. */
function file(head: boolean): Part {
  const content = head ? undefined : bytes;
  const described = headersOf("etag", "cache-control", "content-disposition", "accept-ranges");
  return {
    operationId: head ? "svc-storage-head" : "svc-storage-get",
    tags: ["storage"],
    summary: head ? "What a stored file is" : "The bytes of a stored file",
    security: nobody,
    parameters: [
      id,
      inQuery("grant", text(), "Leave to read a private file."),
      inQuery("w", whole(4096), "Of images: width in pixels."),
      inQuery("h", whole(4096), "Of images: height in pixels."),
      inQuery("f", text({ enum: [...formats] }), "Of images: the format."),
      inQuery("q", whole(100), "Of images: the quality."),
      inQuery("fit", text({ enum: [...fits] }), "Of images: how width and height are filled."),
      header("range", text(), false),
      header("if-none-match", text(), false),
    ],
    responses: {
      200: answers("The file.", content, described),
      ...(!head && { 206: answers("A part of it.", content, { ...described, ...headersOf("content-range") }) }),
      304: answers("It has not changed.", undefined, described),
      416: answers("The range is not in it.", undefined, headersOf("content-range")),
      ...errors(400, 403, 404),
    },
  };
}

const version = header("tus-resumable", { const: "1.0.0" });
const progress = headersOf("upload-offset", "upload-length", "upload-expires", "tus-resumable");

const upload = (operationId: string, summary: string, status: number, description: string, more: Part): Part => ({
  operationId,
  tags: ["storage"],
  summary,
  security: signedIn,
  ...more,
  responses: {
    [status]: answers(description, undefined, progress),
    ...errors(...((more.errors as number[] | undefined) ?? []), 400, 401, 403, 404, 412, 413, 415),
  },
});

const storagePaths: Record<string, Part> = {
  "/api/storage/{id}": { get: file(false), head: file(true) },
  "/api/storage/uploads": {
    post: {
      ...upload("svc-uploads-create", "Begin an upload in parts (tus 1.0.0)", 201, "It may begin.", {}),
      parameters: [
        version,
        header("upload-length", { type: "integer", minimum: 0 }),
        header("upload-metadata", text({ description: "filename, filetype, visibility; each in base64." }), false),
      ],
      responses: {
        201: answers("It may begin, at `Location`.", undefined, { ...progress, ...headersOf("location") }),
        ...errors(400, 401, 403, 404, 412, 413),
      },
    },
    options: {
      operationId: "svc-uploads-describe",
      tags: ["storage"],
      summary: "What the uploads support",
      security: nobody,
      responses: {
        204: answers(
          "Said in headers.",
          undefined,
          headersOf("tus-version", "tus-extension", "tus-checksum-algorithm", "tus-max-size"),
        ),
        ...errors(403),
      },
    },
  },
  "/api/storage/uploads/{id}": {
    parameters: [id],
    head: upload("svc-uploads-show", "How far an upload has come", 200, "That far.", { parameters: [version] }),
    patch: {
      ...upload("svc-uploads-append", "Go on with an upload", 204, "It has been taken.", {}),
      parameters: [
        version,
        header("upload-offset", { type: "integer", minimum: 0 }),
        header("upload-checksum", text({ description: "sha1 or sha256, a space, and the digest in base64." }), false),
      ],
      requestBody: { required: true, content: { "application/offset+octet-stream": {} } },
      responses: {
        204: answers("It has been taken.", undefined, progress),
        ...errors(400, 401, 403, 404, 409, 412, 413, 415, 460),
      },
    },
    delete: upload("svc-uploads-remove", "Give an upload up", 204, "It is gone.", { parameters: [version] }),
    put: {
      operationId: "svc-uploads-receive",
      tags: ["storage"],
      summary: "Send a whole file to a signed URL",
      security: nobody,
      parameters: [inQuery("token", text(), "Of the signed URL.")],
      requestBody: { required: true, content: anyBytes },
      responses: {
        200: answers("It is stored.", json({ type: "object", properties: { id: text() }, required: ["id"] })),
        ...errors(400, 403, 404, 409, 413),
      },
    },
  },
};

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

/** Errors have GraphQL's form, but where a request was turned away before it was read. */
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

/** What is there as configured. */
export const builtInPaths = ({ openapi, graphql: { enabled, ruru: hasRuru } }: Switches): Record<string, Part> => ({
  ...(enabled && { "/api/graphql": { post: graphql, ...(hasRuru && { get: ruru }) } }),
  ...storagePaths,
  ...realtimePaths,
  ...servicePaths,
  ...(openapi.reference && { "/openapi": reference }),
});

type Switches = Pick<EffectiveConfig, "openapi" | "graphql">;
