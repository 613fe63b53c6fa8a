/**
 * Input and output schemas of generated CRUD, from the table and the options of its `createCrud`.
 * Next hop: `columns.ts` for single values; `src/crud/crud-input.ts` and `crud-list.ts` are what checks them.
 */
import type { ColumnDescription, CrudDefinition, CrudOperation } from "../contract/crud.ts";
import { exactly, type JsonSchema, objectOf } from "../kit/json-schema.ts";
import type { Schemas } from "../kit/schemas.ts";
import { aggregateLimits } from "./aggregate.ts";
import { findColumn, visibleColumns, writableColumns } from "./crud-definition.ts";
import { deliveriesSchemas, retrySchemas } from "./crud-deliveries.ts";
import { historySchemas } from "./crud-history.ts";
import { maxRows } from "./crud-input.ts";
import { maxSearch } from "./crud-list.ts";
import { sortableColumns } from "./crud-resource.ts";
import { maxChanged } from "./many-arguments.ts";
import { idSchema, inputSchema, orNull, rowSchema } from "./openapi-columns.ts";
import { filters, getArguments, related } from "./openapi-related.ts";

/** A call in JSON Schema. */
export interface CallSchemas {
  args: JsonSchema;
  /** Whether `args` may be left out. */
  optional: boolean;
  result: JsonSchema;
  summary?: string;
}

/** Schemas by operation. Rows and filters become components, named after the prefix. */
export function crudSchemas(crud: CrudDefinition, schemas: Schemas): Record<CrudOperation, CallSchemas> {
  const shown = visibleColumns(crud);
  const row = schemas.add(`${crud.prefix}.Row`, object(shown, rowSchema, shown, { additionalProperties: false }));
  const writable = writableColumns(crud);
  const required = writable.filter(({ notNull, defaultSql, generate }) => notNull && defaultSql === null && !generate);
  const id = idSchema(crud.id);
  const changes = object(writable, inputSchema, []);
  const since = { type: "string", format: "date-time", description: "409 when the row has changed since." };
  const canCompare = findColumn(crud, "updatedAt") !== undefined;
  const call = (args: JsonSchema, result: JsonSchema, summary: string) => ({ args, result, summary, optional: false });
  const { table } = crud;
  const filtered = filters(crud, schemas);
  const { args: choices, row: shaped } = related(crud, schemas);
  const exact = filtered ?? { type: "object", maxProperties: 0 };
  const max = { type: "integer", minimum: 1, maximum: maxChanged };
  const count = { type: "integer" };
  const counted = objectOf({ count });
  const made = object(writable, inputSchema, required);
  return {
    list: {
      args: listArguments(crud, filtered, choices),
      optional: true,
      result: page(crud, shaped),
      summary: `A page of ${table}, as far as the caller may see them`,
    },
    get: call(getArguments(crud, choices), orNull(shaped), `One of ${table}, or null`),
    create: call(made, row, `Make one of ${table}`),
    update: call(
      {
        ...changes,
        properties: { ...(changes.properties as object), id, ...(canCompare && { ifUnmodifiedSince: since }) },
        required: ["id"],
      },
      row,
      `Change one of ${table}`,
    ),
    remove: call(objectOf({ id }), objectOf({ id: rowSchema(crud.id) }), `Remove one of ${table}`),
    upsert: call(
      objectOf({ by: { enum: crud.upsertBy.map((key) => (key.length === 1 ? key[0] : key)) }, row: made }),
      row,
      `Make one of ${table}, or change the one that has the same key`,
    ),
    createMany: call(
      objectOf({ rows: { type: "array", items: made, maxItems: maxRows } }),
      objectOf({ count, data: { type: "array", items: row } }),
      `Make several of ${table}, or none`,
    ),
    aggregate: call(
      aggregateArguments(crud, exact),
      objectOf({ data: { type: "array", items: group }, hasMore: { type: "boolean" } }),
      `Measures of ${table}, as far as the caller may see them, by groups`,
    ),
    history: call(...historySchemas(crud, id), `What changed in one of ${table}, newest first`),
    deliveries: call(...deliveriesSchemas(crud, id), `Deliveries of webhooks to one of ${table}, newest first`),
    retryDelivery: call(...retrySchemas(id), `Send a dead delivery to one of ${table} again`),
    updateMany: call(
      exactly({ filters: exact, set: changes, max }),
      counted,
      `Change those of ${table} that match, or none if they are more than max`,
    ),
    removeMany: call(
      exactly({ filters: exact, max }),
      counted,
      `Remove those of ${table} that match, or none if they are more than max`,
    ),
  };
}

/** The members of an aggregate's groups depend on the call. */
const group: JsonSchema = { type: "object", additionalProperties: { type: ["string", "number", "boolean", "null"] } };

function aggregateArguments(crud: CrudDefinition, filters: JsonSchema): JsonSchema {
  const { groups = {}, measures = {} } = crud.aggregate ?? {};
  const orderBy = {
    type: "object",
    description: "One of the groups or measures of the call.",
    additionalProperties: { enum: ["asc", "desc"] },
    minProperties: 1,
    maxProperties: 1,
  };
  const properties = {
    groupBy: { type: "array", items: { enum: Object.keys(groups) } },
    measures: { type: "array", minItems: 1, items: { enum: Object.keys(measures) } },
    filters,
    ...searchOf(crud),
    orderBy,
    limit: { type: "integer", minimum: 1, maximum: aggregateLimits.max, default: aggregateLimits.default },
    timeZone: { type: "string", default: "UTC", examples: ["Europe/Berlin"] },
  };
  return exactly(properties, { required: ["measures"] });
}

const searchOf = ({ searchFields }: CrudDefinition): Record<string, JsonSchema> =>
  searchFields.length === 0
    ? {}
    : { search: { type: "string", maxLength: maxSearch, description: `Looks in ${searchFields.join(", ")}.` } };

function object(
  columns: readonly ColumnDescription[],
  describe: (column: ColumnDescription) => JsonSchema,
  required: readonly ColumnDescription[],
  more: JsonSchema = {},
): JsonSchema {
  const names = required.map(({ property }) => property);
  return {
    type: "object",
    properties: Object.fromEntries(columns.map((column) => [column.property, describe(column)])),
    ...(names.length > 0 && { required: names }),
    ...more,
  };
}

function page({ count }: CrudDefinition, row: JsonSchema): JsonSchema {
  const total = { type: "integer", description: "All rows that the caller may see, on every page." };
  const nextCursor = {
    type: ["string", "null"],
    description: "Only when a cursor was given: where the next page begins.",
  };
  const properties = { data: { type: "array", items: row }, total: count === "none" ? { type: "null" } : total };
  return exactly({ ...properties, nextCursor }, { required: Object.keys(properties) });
}

function listArguments(
  crud: CrudDefinition,
  filters: JsonSchema | undefined,
  choices: Record<string, JsonSchema>,
): JsonSchema {
  const { maxLimit, defaultLimit } = crud;
  return {
    type: "object",
    properties: {
      page: { type: "integer", minimum: 1, default: 1 },
      limit: { type: "integer", minimum: 1, maximum: maxLimit, default: defaultLimit },
      orderBy: { type: "string", enum: sortableColumns(crud).map(({ property }) => property) },
      orderDir: { type: "string", enum: ["asc", "desc"], default: "desc" },
      cursor: { type: ["string", "null"], description: "null for the beginning, then each answer's nextCursor." },
      ...searchOf(crud),
      ...(filters && { filters }),
      ...choices,
    },
  };
}
