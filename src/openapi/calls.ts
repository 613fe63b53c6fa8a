/**
 * Procedures in the document: a path for each that clients may call, and the two paths that call any of them by name.
 * Internal procedures are omitted.
 * Next hop: `src/crud/openapi.ts` for generated ones, `src/kit/json-schema.ts` for the others.
 */
import type { Api } from "../contract/api.ts";
import type { ProcedureDefinition } from "../contract/procedure.ts";
import { type CallSchemas, crudSchemas } from "../crud/openapi.ts";
import { wireLimits } from "../http/wire.ts";
import { type JsonSchema, jsonSchemaOf, takesNothing } from "../kit/json-schema.ts";
import { answers, anyone, errors, json, type Part, security, text } from "../kit/parts.ts";
import type { Schemas } from "../kit/schemas.ts";

/** All possible errors of a call. */
const callErrors = () => errors(400, 401, 402, 403, 404, 409, 413, 415, 504);

export function callPaths(api: Api["~svc"], schemas: Schemas): Record<string, Part> {
  const generated = new Map<string, CallSchemas>();
  for (const crud of api.crud) {
    const made = crudSchemas(crud, schemas);
    for (const method of crud.methods) generated.set(`${crud.prefix}.${method}`, made[method]);
  }
  const open = [...api.procedures.values()].filter(({ kind }) => kind !== "internal");
  const paths: Record<string, Part> = {};
  for (const procedure of open.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const call = (procedure.statement && generated.get(procedure.name)) ?? declared(procedure, schemas);
    paths[`/api/${procedure.kind}/${procedure.name}`] = { post: operation(procedure, call) };
  }
  // Last, because readers look for the procedures.
  return {
    ...paths,
    "/api/query": anyCall("query", open),
    "/api/mutation": anyCall("mutation", open),
    "/api/batch": batch(open),
  };
}

/**
 * The position up to which the caller has seen changes, where standbys answer queries
 * (docs/adr/0012-standbys-answer-those-who-say-what-they-have-seen.md).
 */
const position: Part = {
  name: "svc-position",
  in: "header",
  schema: text(),
  description: "Where standbys answer: the position of the caller's last answer, `new` at first.",
};
const positionSaid: Part = { "svc-position": { description: "Where standbys answer.", schema: text() } };

function declared({ name, input, output }: ProcedureDefinition, schemas: Schemas): CallSchemas {
  const args = input && jsonSchemaOf(input, "input");
  const result = output && jsonSchemaOf(output, "output");
  return {
    args: args ? schemas.inline(`${name}.Input`, args) : untold(input, "input"),
    optional: !input || takesNothing(input),
    result: result ? schemas.inline(`${name}.Output`, result) : untold(output, "result"),
  };
}

/** An open schema, with a note that none was declared. */
const untold = (declared: unknown, what: string): JsonSchema => ({
  description: declared ? `Checked, by rules that have no JSON Schema here.` : `The procedure declares no ${what}.`,
});

function operation(
  { name, kind, anonymous }: ProcedureDefinition,
  { args, optional, result, summary }: CallSchemas,
): Part {
  const isUpload = hasFile(args);
  const body = bodySchema(args, optional, kind === "query");
  return {
    operationId: name,
    tags: [name.includes(".") ? name.slice(0, name.indexOf(".")) : "procedures"],
    summary: summary ?? name,
    security: security(anonymous),
    parameters: [position],
    requestBody: {
      required: true,
      content: isUpload ? { "multipart/form-data": { schema: multipartSchema(body) } } : json(body),
    },
    responses: {
      200: answers("What the procedure returns.", json(answerSchema(result, kind === "query")), positionSaid),
      ...callErrors(),
    },
  };
}

function bodySchema(args: JsonSchema, optional: boolean, isQuery: boolean): JsonSchema {
  return {
    type: "object",
    properties: { args, ...(isQuery && { watch }) },
    ...(!optional && { required: ["args"] }),
  };
}

const watch = {
  type: "boolean",
  default: false,
  description: "Whether the answer says under which snapshot it was read.",
};

/** Files are not JSON: `data` gives each one's place in the arguments. */
const multipartSchema = (call: JsonSchema): JsonSchema => ({
  type: "object",
  properties: {
    data: {
      type: "string",
      contentMediaType: "application/json",
      contentSchema: {
        type: "object",
        properties: { json: call, meta: metaSchema, maps: { type: "array", items: list } },
        required: ["json"],
      },
      description:
        'For example {"json": {"args": {"file": null}}, "maps": [["args", "file"]]}; files are parts 0, 1, …',
    },
  },
  required: ["data"],
  additionalProperties: { type: "string", format: "binary" },
});

const list = { type: "array", items: {} };

const metaSchema = {
  type: "array",
  items: list,
  description: "Which values are dates, bigints and the like.",
};

function answerSchema(result: JsonSchema, isQuery: boolean): JsonSchema {
  const snapshot = { type: ["string", "null"], description: "Where `watch` asked for it: pg_snapshot as text." };
  return {
    type: "object",
    properties: { json: result, meta: metaSchema, ...(isQuery && { snapshot }) },
    required: ["json"],
  };
}

/** A call that names its procedure. */
function namedCall(kind: "query" | "mutation", open: readonly ProcedureDefinition[]): Part {
  const names = open.filter((procedure) => procedure.kind === kind).map(({ name }) => name);
  const name = names.length > 0 ? { type: "string", enum: names.sort() } : { type: "string" };
  const args = { description: "Plain JSON, or exactly { json, meta }." };
  const { properties } = bodySchema(args, true, kind === "query");
  return { type: "object", properties: { name, ...(properties as object) }, required: ["name"] };
}

/** The path that calls several mutations in one transaction. */
function batch(open: readonly ProcedureDefinition[]): Part {
  const calls = { type: "array", minItems: 1, maxItems: wireLimits.calls, items: namedCall("mutation", open) };
  const results = { type: "array", items: answerSchema({}, false) };
  return {
    post: {
      operationId: "svc-batch",
      tags: ["calls by name"],
      summary: "Call several mutations in one transaction",
      description: "They run in this order. If one fails, none is saved, and the error names its `index`.",
      security: anyone,
      parameters: [position],
      requestBody: { required: true, content: json({ type: "object", properties: { calls }, required: ["calls"] }) },
      responses: {
        200: answers(
          "What the procedures return, in the same order.",
          json({ type: "object", properties: { results }, required: ["results"] }),
          positionSaid,
        ),
        ...callErrors(),
      },
    },
  };
}

/** The path that calls any procedure of a kind by name. */
function anyCall(kind: "query" | "mutation", open: readonly ProcedureDefinition[]): Part {
  const body = namedCall(kind, open);
  return {
    post: {
      operationId: `svc-${kind}`,
      tags: ["calls by name"],
      summary: `Call any ${kind} by its name`,
      security: anyone,
      parameters: [position],
      requestBody: {
        required: true,
        content: {
          ...json(body),
          ...(kind === "mutation" && { "multipart/form-data": { schema: multipartSchema(body) } }),
        },
      },
      responses: {
        200: answers("What the procedure returns.", json(answerSchema({}, kind === "query")), positionSaid),
        ...callErrors(),
      },
    },
  };
}

/** Whether the schema contains a file, which is sent as its own part. */
const hasFile = (schema: JsonSchema): boolean => JSON.stringify(schema).includes('"format":"binary"');
