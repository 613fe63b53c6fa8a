/**
 * Procedures in the document: a path for each that clients may call, and the two paths that call any of them by name.
 * Internal procedures are omitted.
 * Next hop: `src/crud/openapi.ts` for generated ones, `src/kit/json-schema.ts` for the others.
 */
import type { Api } from "../contract/api.ts";
import type { ProcedureDefinition, ProcedureKind } from "../contract/procedure.ts";
import { type CallSchemas, crudSchemas } from "../crud/openapi.ts";
import { wireLimits } from "../http/wire.ts";
import { type JsonSchema, objectOf, takesNothing } from "../kit/json-schema.ts";
import { answers, anyone, errors, json, operation, type Part, security, text } from "../kit/parts.ts";
import type { Schemas } from "../kit/schemas.ts";

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
    const own = (procedure.statement && generated.get(procedure.name)) ?? declared(procedure, schemas);
    paths[`/api/${procedure.kind}/${procedure.name}`] = { post: callOf(procedure, own) };
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
/** Of mutations, for callers with a session. */
const idempotencyKey: Part = {
  name: "idempotency-key",
  in: "header",
  schema: { type: "string", pattern: "^[!#-\\[\\]-~]{1,128}$" },
  description: "Chosen by the caller, for a call that may be sent again: it runs once, and is answered alike.",
};
const positionHeader: Part = { "svc-position": { description: "Where standbys answer.", schema: text() } };
const replayedHeader: Part = {
  "idempotent-replayed": { description: "`true` if an earlier request with the same key ran.", schema: text() },
};

function declared({ name, input, output }: ProcedureDefinition, schemas: Schemas): CallSchemas {
  return {
    args: schemas.describe(name, input, "input") ?? undescribed(input, "input"),
    optional: !input || takesNothing(input),
    result: schemas.describe(name, output, "output") ?? undescribed(output, "result"),
  };
}

/** An open schema, with a note that none was declared. */
const undescribed = (declared: unknown, what: string): JsonSchema => ({
  description: declared ? `Checked, by rules that have no JSON Schema here.` : `The procedure declares no ${what}.`,
});

function callOf(
  { name, kind, anonymous }: ProcedureDefinition,
  { args, optional, result, summary }: CallSchemas,
): Part {
  const body = bodySchema(args, optional, kind === "query");
  const tag = name.includes(".") ? name.slice(0, name.indexOf(".")) : "procedures";
  return call(
    kind,
    operation(name, tag, summary ?? name, security(anonymous)),
    hasFile(args) ? multipart(body, filesOf(args)) : json(body),
    answerSchema(result, kind === "query"),
  );
}

/** An operation that calls procedures. @param content of the request @param result schema of the answer */
function call(
  kind: ProcedureKind,
  rest: Part,
  content: Part,
  result: JsonSchema,
  description = "What the procedure returns.",
): Part {
  const isKeyed = kind === "mutation";
  const headers = isKeyed ? { ...positionHeader, ...replayedHeader } : positionHeader;
  return {
    ...rest,
    parameters: isKeyed ? [position, idempotencyKey] : [position],
    requestBody: { required: true, content },
    responses: { 200: answers(description, json(result), headers), ...callErrors() },
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

/** @param files arguments that are files, or lists of files */
const multipart = (call: JsonSchema, files: Record<string, JsonSchema> = {}): Part => ({
  "multipart/form-data": { schema: multipartSchema(call, files) },
});

const binary = text({ format: "binary" });
const isFile = (schema: JsonSchema | undefined) => schema?.format === "binary";

/** Members of the arguments that a part of their name gives. */
function filesOf({ properties = {} }: JsonSchema): Record<string, JsonSchema> {
  const parts = Object.entries(properties as Record<string, JsonSchema>).flatMap(
    ([name, schema]): [string, JsonSchema][] => {
      if (name === "data" || /^\d+$/.test(name)) return [];
      if (isFile(schema)) return [[name, binary]];
      return isFile(schema.items as JsonSchema) ? [[name, { type: "array", items: binary }]] : [];
    },
  );
  return Object.fromEntries(parts);
}

/** Files are not JSON: they are parts with the names of arguments, or `data` gives each one's place. */
function multipartSchema(call: JsonSchema, files: Record<string, JsonSchema>): JsonSchema {
  const content = { json: call, meta: metaSchema, maps: { type: "array", items: list } };
  const data = text({
    contentMediaType: "application/json",
    contentSchema: objectOf(content, { required: ["json"] }),
    description:
      'JSON: {"json": {"args": {…}}}, in which a list of files is []. Files are parts with the names of arguments. Files ' +
      'elsewhere are parts 0, 1, …, each with its path: {"json": {"args": {"file": null}}, "maps": [["args", "file"]]}.',
  });
  return objectOf({ data, ...files }, { required: ["data"], additionalProperties: binary });
}

const list = { type: "array", items: {} };

const metaSchema = { type: "array", items: list, description: "Which values are dates, bigints and the like." };

function answerSchema(result: JsonSchema, isQuery: boolean): JsonSchema {
  const snapshot = { type: ["string", "null"], description: "Where `watch` asked for it: pg_snapshot as text." };
  return objectOf({ json: result, meta: metaSchema, ...(isQuery && { snapshot }) }, { required: ["json"] });
}

function namedCall(kind: "query" | "mutation", open: readonly ProcedureDefinition[]): Part {
  const names = open.filter((procedure) => procedure.kind === kind).map(({ name }) => name);
  const name = names.length > 0 ? { type: "string", enum: names.sort() } : { type: "string" };
  const args = { description: "Plain JSON, or exactly { json, meta }." };
  const { properties } = bodySchema(args, true, kind === "query");
  return objectOf({ name, ...(properties as object) }, { required: ["name"] });
}

/** The path that calls several mutations in one transaction. */
function batch(open: readonly ProcedureDefinition[]): Part {
  const calls = { type: "array", minItems: 1, maxItems: wireLimits.calls, items: namedCall("mutation", open) };
  const results = { type: "array", items: answerSchema({}, false) };
  return {
    post: call(
      "mutation",
      operation("svc-batch", "calls by name", "Call several mutations in one transaction", anyone, {
        description: "They run in this order. If one fails, none is saved, and the error names its `index`.",
      }),
      json(objectOf({ calls })),
      objectOf({ results }),
      "What the procedures return, in the same order.",
    ),
  };
}

/** The path that calls any procedure of a kind by name. */
function anyCall(kind: "query" | "mutation", open: readonly ProcedureDefinition[]): Part {
  const body = namedCall(kind, open);
  return {
    post: call(
      kind,
      operation(`svc-${kind}`, "calls by name", `Call any ${kind} by its name`, anyone),
      { ...json(body), ...(kind === "mutation" && multipart(body)) },
      answerSchema({}, kind === "query"),
    ),
  };
}

/** Whether the schema contains a file, which is sent as its own part. */
const hasFile = (schema: JsonSchema): boolean => JSON.stringify(schema).includes('"format":"binary"');
