/**
 * The description of a table that a generated list function passes to `svc.find_rows()`, as JSON text with one member a
 * line: names, types, and the columns that callers may filter, search and sort by.
 * Next hop: `sql/crud/find_rows.sql` describes the members.
 */
import type { ColumnDescription, CrudDefinition, CrudRelation } from "../contract/crud.ts";
import { quote } from "../postgres/schema-names.ts";
import { findColumn, visibleColumns } from "./crud-definition.ts";
import { item, notDeleted, qualified, toWire } from "./crud-text.ts";

/** False for arrays, and for types that travel as text and have no equality. */
export const comparable = ({ isArray, kind, type }: ColumnDescription) =>
  !isArray && !(kind === "text" && /^(point|line|lseg|box|path|polygon|circle|xml|jsonpath)\b/.test(type));

/** Whether pages can be sorted by the column. hstore has no operator `<` for cursors. */
const sortable = (column: ColumnDescription) =>
  comparable(column) && !["json", "bytes", "vector"].includes(column.kind) && !/^hstore\b/.test(column.type);

const defaultOrder = (crud: CrudDefinition) => findColumn(crud, "createdAt")?.property ?? "id";

/** The columns that `orderBy` may name. */
export function sortableColumns(crud: CrudDefinition): ColumnDescription[] {
  const orderBy = defaultOrder(crud);
  return crud.columns.filter(
    (column) => sortable(column) && (crud.visible.has(column.property) || column.property === orderBy),
  );
}

/** The column that a list is sorted by: one that `orderBy` may not name falls back to the resource's own. */
export function orderColumn(crud: CrudDefinition, orderBy: unknown): ColumnDescription | undefined {
  const columns = sortableColumns(crud);
  return findColumn({ columns }, orderBy) ?? findColumn({ columns }, defaultOrder(crud));
}

export function resourceJson(crud: CrudDefinition): string {
  const named = (properties: readonly string[]) => crud.columns.filter(({ property }) => properties.includes(property));
  const orderBy = defaultOrder(crud);
  const columns = sortableColumns(crud);
  // The columns that a page is sorted by and made of. Not t.*: a role may lack access to a hidden column.
  const row = crud.columns.filter(
    (column) => crud.visible.has(column.property) || [orderBy, "id"].includes(column.property),
  );
  const visible = notDeleted(crud, "");
  return oneMemberALine({
    name: crud.prefix,
    table: qualified(crud),
    row: row.map(({ name }) => `t.${quote(name)}`).join(", "),
    item: item(crud),
    ...(visible && { visible }),
    orderBy,
    count: crud.count,
    columns: toObject(columns, ({ name, castType, notNull }) => ({ name, type: castType, notNull })),
    filters: toObject(named(crud.allowedFilters), ({ name, castType, kind, isArray, dimensions, values = null }) => ({
      name,
      type: castType + "[]".repeat(Math.max(dimensions - 1, 0)),
      kind,
      array: isArray,
      values,
    })),
    search: named(crud.searchFields).map(({ name }) => name),
    fields: visibleColumns(crud).map((column) => [column.property, column.name, toWire(column)]),
    limits: [crud.defaultLimit, crud.maxLimit],
    keys: toObject(named(["id", ...crud.getBy.flat()]), ({ name, castType }) => ({ name, type: castType })),
    ...(crud.aggregate && { aggregate: crud.aggregate }),
    relations: Object.fromEntries([...crud.relations].map(([name, relation]) => [name, relationJson(relation)])),
  });
}

/** Both sides of a relation, as svc_hidden.related_rows() reads them. */
function relationJson({ target, many, local, foreign, through }: CrudRelation): object {
  return {
    to: target.prefix,
    many,
    local,
    foreign,
    ...(through && {
      through: {
        table: qualified(through),
        local: through.local,
        foreign: through.foreign,
        ...(through.softDelete && { visible: notDeleted(through, "") }),
      },
    }),
  };
}

/** JSON text with one member a line, to a depth of two; deeper values are on the line of their member. */
function oneMemberALine(object: object, indent = ""): string {
  const members = Object.entries(object).map(([name, value]) => {
    const isNested = indent === "" && Object(value) === value && !Array.isArray(value) && Object.keys(value).length > 0;
    return `${indent}  ${JSON.stringify(name)}: ${isNested ? oneMemberALine(value, `${indent}  `) : JSON.stringify(value)}`;
  });
  return `{\n${members.join(",\n")}\n${indent}}`;
}

const toObject = <T>(columns: ColumnDescription[], describe: (column: ColumnDescription) => T) =>
  Object.fromEntries(columns.map((column) => [column.property, describe(column)]));
