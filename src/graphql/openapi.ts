/** Describes `/api/graphql` in the OpenAPI document. Next hop: `endpoint.ts` answers. */
import type { EffectiveConfig } from "../config/config.ts";
import { type JsonSchema, objectOf } from "../kit/json-schema.ts";
import { answers, anyone, json, nobody, operation, type Part, text } from "../kit/parts.ts";

/** The same body in the standard's own media type, and in the plain one. */
const inBoth = (schema: JsonSchema): Part => ({
  "application/graphql-response+json": { schema },
  "application/json": { schema },
});

const fieldErrors: JsonSchema = {
  type: "array",
  items: objectOf(
    {
      message: text(),
      path: { type: "array", items: { type: ["string", "integer"] } },
      extensions: { type: "object" },
    },
    { required: ["message"] },
  ),
};

/** Errors have GraphQL's form, except where a request was refused before it was read. */
const refused = answers(
  "Nothing was executed.",
  inBoth({ anyOf: [objectOf({ errors: fieldErrors }), { $ref: "#/components/schemas/Error" }] }),
);
const refusals: Part = { "4XX": refused, default: refused };

const post = operation("svc-graphql", "graphql", "An operation of GraphQL", anyone, {
  requestBody: {
    required: true,
    content: json(
      objectOf(
        {
          query: text(),
          operationName: { type: ["string", "null"] },
          variables: { type: ["object", "null"] },
          extensions: { type: ["object", "null"] },
        },
        { required: ["query"] },
      ),
    ),
  },
  responses: {
    200: answers(
      "The result. In application/json also the error that prevented execution.",
      inBoth({ type: "object", properties: { data: {}, errors: fieldErrors } }),
    ),
    ...refusals,
  },
});

const ruru = operation("svc-graphql-ruru", "graphql", "A GraphQL editor", nobody, {
  responses: { 200: answers("The page.", { "text/html": { schema: text() } }), ...refusals },
});

export const graphqlPaths = (settings: EffectiveConfig["graphql"]): Record<string, Part> =>
  settings.enabled ? { "/api/graphql": { post, ...(settings.ruru && { get: ruru }) } } : {};
