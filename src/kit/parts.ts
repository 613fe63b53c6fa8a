/**
 * The shared parts of the document's operations: errors and their codes, headers, security.
 * Next hop: `src/openapi/document.ts` puts them into `components`.
 */
import { errorCodes } from "./error-codes.ts";
import { exactly, type JsonSchema, objectOf } from "./json-schema.ts";

/** A part of the document; the OpenAPI specification defines each. */
export type Part = Record<string, unknown>;

export type Security = Record<string, string[]>[];

/** A JWT, a session token or the cookie. */
export const signedIn: Security = [{ bearer: [] }, { cookie: [] }];
/** Signed in or anonymous. */
export const anyone: Security = [{}, ...signedIn];
export const nobody: Security = [];

export const security = (anonymous: boolean): Security => (anonymous ? anyone : signedIn);

/** An operation. @param rest its parameters, body and answers */
export const operation = (
  operationId: string,
  tag: string,
  summary: string,
  security: Security,
  rest: Part = {},
): Part => ({
  operationId,
  tags: [tag],
  summary,
  security,
  ...rest,
});

/** @param cookie the cookie's name, which depends on https */
export const securitySchemes = (cookie: string): Part => ({
  bearer: { type: "http", scheme: "bearer", description: "The JWT (`token`) or the `sessionToken` of a sign-in." },
  cookie: {
    type: "apiKey",
    in: "cookie",
    name: cookie,
    description: "The cookie of a sign-in in cookie style. Requests that change data need a listed `Origin`.",
  },
});

export const headers: Part = {
  RequestId: {
    description: "The request's id, also in the log; the caller's own id if it sent a valid one.",
    schema: { type: "string" },
  },
  RetryAfter: { description: "Retry after this many seconds.", schema: { type: "integer", minimum: 0 } },
};

const requestId = { "x-request-id": { $ref: "#/components/headers/RequestId" } };

/** A string schema with further keywords. */
export const text = (more: JsonSchema = {}): JsonSchema => ({ type: "string", ...more });

/** An optional parameter of the query. */
export const inQuery = (name: string, schema: JsonSchema, description?: string): Part => ({
  name,
  in: "query",
  schema,
  ...(description && { description }),
});

/** Those of a path such as "/notes/:id". */
export const pathParameters = (path: string): Part[] =>
  [...path.matchAll(/:(\w+)/g)].map(([, name]) => ({ name, in: "path", required: true, schema: text() }));

export const json = (schema: JsonSchema): Part => ({ "application/json": { schema } });

/** A successful answer. */
export const answers = (description: string, content?: Part, more: Part = {}): Part => ({
  description,
  headers: { ...requestId, ...more },
  ...(content && { content }),
});

export const errorSchema = exactly(
  {
    error: text({ description: "One sentence for a person; it may change between versions." }),
    code: text({ enum: Object.keys(errorCodes) }),
    hint: text({ description: "What a person can do about it." }),
    issues: {
      type: "array",
      description: "Where the input is wrong, and how.",
      items: objectOf({ path: { type: "array", items: { type: ["string", "number"] } }, message: text() }),
    },
    index: { type: "integer", minimum: 0, description: "The place of the failed call in a batch." },
    requestId: text(),
  },
  { required: ["error", "code", "requestId"] },
);

const statuses = [...new Set(Object.values(errorCodes).map(({ status }) => status))].sort((a, b) => a - b);

/** Statuses with `Retry-After`. */
const retried = new Set([429, 503]);

/** `components.responses`: one per status, with its codes. */
export const errorResponses: Part = Object.fromEntries([
  ...statuses.map((status) => {
    const codes = Object.entries(errorCodes).filter(([, entry]) => entry.status === status);
    return [
      `Error${status}`,
      errorResponse(codes.map(([code, { message }]) => `${code}: ${message}`).join("\n\n"), status),
    ];
  }),
  ["Error", errorResponse("Any other error; `code` says which.")],
]);

function errorResponse(description: string, status = 0): Part {
  const retryAfter = { "retry-after": { $ref: "#/components/headers/RetryAfter" } };
  const content = json({ $ref: "#/components/schemas/Error" });
  return answers(description, content, retried.has(status) ? retryAfter : {});
}

/** The errors of an operation by status; the rest under `default`. */
export function errors(...which: (keyof typeof errorsOfAll | number)[]): Part {
  const list = [...which, ...Object.keys(errorsOfAll)].map(Number).sort((a, b) => a - b);
  const entries = list.map((status) => [String(status), { $ref: `#/components/responses/Error${status}` }]);
  return { ...Object.fromEntries(entries), default: { $ref: "#/components/responses/Error" } };
}

/** Errors of every operation. */
const errorsOfAll = { 429: "too many requests", 500: "our fault", 503: "no connection" } as const;
