/**
 * JSON Schemas of `select`, `include` and filters through relations, and of the rows that these shape. Related resources
 * are named by reference, so that relations may lead in a circle.
 */
import type { CrudDefinition, CrudRelation } from "../contract/crud.ts";
import { type JsonSchema, someOf } from "../kit/json-schema.ts";
import type { Schemas } from "../kit/schemas.ts";
import { visibleColumns } from "./crud-definition.ts";
import { sortableColumns } from "./crud-resource.ts";
import { filterSchema, idSchema, orNull, rowSchema } from "./openapi-columns.ts";

const named = (name: string): JsonSchema => ({ $ref: `#/components/schemas/${name}` });
const map = <T>(crud: CrudDefinition, describe: (relation: CrudRelation) => T) =>
  Object.fromEntries([...crud.relations].map(([name, relation]) => [name, describe(relation)]));

/**
 * A row as a list or get gives it: each property may be missing, so whole rows fit too. A union with the whole row would
 * allow no more, and generated clients could read no relation of it.
 */
const shaped = ({ prefix }: CrudDefinition): JsonSchema => named(`${prefix}.Shaped`);

/** The arguments `select` and `include`, and the row that lists and gets give for them. */
export function related(crud: CrudDefinition, schemas: Schemas): { args: Record<string, JsonSchema>; row: JsonSchema } {
  const shown = visibleColumns(crud);
  const properties = {
    ...Object.fromEntries(shown.map((column) => [column.property, rowSchema(column)])),
    ...map(crud, ({ target, many }) => {
      const row = shaped(target);
      return many ? { type: "array", items: row } : orNull(row);
    }),
    ...counts(crud, () => ({ type: "integer", minimum: 0 }), "Numbers of related rows."),
  };
  const description = "The selected properties, by default all, and the included rows.";
  schemas.add(`${crud.prefix}.Shaped`, someOf(properties, { description }));
  return { args: choices(crud, schemas), row: shaped(crud) };
}

function choices(crud: CrudDefinition, schemas: Schemas): Record<string, JsonSchema> {
  const select = selectOf(crud);
  if (crud.relations.size === 0) return { select };
  const filtered = (target: CrudDefinition) => someOf({ filters: filtersOf(target) });
  const properties = {
    ...map(crud, (relation) => ({ anyOf: [{ type: "boolean" }, optionsOf(relation)] })),
    ...counts(crud, ({ target }) => ({ anyOf: [{ type: "boolean" }, filtered(target)] }), "Relations to count."),
  };
  const description = "Related rows, at most 3 levels below each other.";
  return { select, include: schemas.add(`${crud.prefix}.Include`, someOf(properties, { description })) };
}

/** The member `_count`, with the relations to many rows. */
function counts(
  crud: CrudDefinition,
  describe: (relation: CrudRelation) => JsonSchema,
  description: string,
): Record<string, JsonSchema> {
  const countable = [...crud.relations].filter(([, { many }]) => many);
  if (countable.length === 0) return {};
  const properties = Object.fromEntries(countable.map(([name, relation]) => [name, describe(relation)]));
  return { _count: someOf(properties, { description }) };
}

const selectOf = ({ visible }: CrudDefinition): JsonSchema => ({
  type: "array",
  items: { type: "string", enum: [...visible] },
  description: "The properties of each row. Without it all.",
});

function optionsOf({ target, many }: CrudRelation): JsonSchema {
  const sorted = sortableColumns(target).map(({ property }) => property);
  const direction = { type: "string", enum: ["asc", "desc"] };
  const one = { minProperties: 1, maxProperties: 1 };
  return someOf({
    select: selectOf(target),
    ...(target.relations.size > 0 && { include: named(`${target.prefix}.Include`) }),
    ...(many && {
      // In a component openapi-typescript makes a property with `default` required.
      limit: {
        type: "integer",
        minimum: 1,
        maximum: target.maxLimit,
        description: `(Default: ${target.defaultLimit})`,
      },
      orderBy: someOf(Object.fromEntries(sorted.map((property) => [property, direction])), one),
      filters: filtersOf(target),
    }),
  });
}

/** Whether the resource has something to filter by. */
const canFilter = ({ allowedFilters, relations }: CrudDefinition) => allowedFilters.length > 0 || relations.size > 0;
const nothing: JsonSchema = { type: "object", maxProperties: 0 };
const filtersOf = (crud: CrudDefinition) => (canFilter(crud) ? named(`${crud.prefix}.Filters`) : nothing);

/** @returns undefined where there is nothing to filter by */
export function filters(crud: CrudDefinition, schemas: Schemas): JsonSchema | undefined {
  if (!canFilter(crud)) return undefined;
  const columns = crud.columns.filter(({ property }) => crud.allowedFilters.includes(property));
  const group = { type: "array", items: named(`${crud.prefix}.Filters`) };
  return schemas.add(`${crud.prefix}.Filters`, {
    type: "object",
    description: "Conditions, all of which must hold. Invalid ones are ignored.",
    properties: {
      ...Object.fromEntries(columns.map((column) => [column.property, filterSchema(column)])),
      ...map(crud, ({ target, many }) => {
        const inner = filtersOf(target);
        return many ? { type: "object", properties: { some: inner, none: inner, every: inner } } : inner;
      }),
      OR: group,
      AND: group,
    },
  });
}

/** The argument of `get`: the id or another key, with `select` and `include`. */
export function getArguments(crud: CrudDefinition, args: Record<string, JsonSchema>): JsonSchema {
  const [byId, ...others] = [["id"], ...crud.getBy].map((key): JsonSchema => {
    const columns = crud.columns.filter(({ property }) => key.includes(property));
    const values = Object.fromEntries(columns.map((column) => [column.property, idSchema(column)]));
    return { type: "object", properties: { ...values, ...args }, required: [...key] };
  });
  return others.length > 0 ? { anyOf: [byId, ...others] } : (byId as JsonSchema);
}
