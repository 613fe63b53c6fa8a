/**
 * Orders by columns that may be null. Conditions that PostGraphile makes of cursors take nulls to be at the other end of the
 * list, so that pages skipped and repeated rows. Here such an order is two: whether the column is null, and the column.
 * PostgreSQL's places of nulls stay: at the end, and in descending order at the beginning.
 */
import { type PgCodec, type PgSelectQueryBuilder, TYPES } from "@dataplan/pg";
import { sql } from "pg-sql2";
import type { ExposedTable } from "./exposed.ts";

type Direction = "ASC" | "DESC";

/** @returns what a value of the table's `orderBy` does; undefined for one of a column that is never null */
export function nullableOrder(
  name: string,
  { inflection }: Pick<GraphileBuild.Build, "inflection">,
  codec: PgCodec,
  { columns }: ExposedTable,
) {
  for (const attributeName of columns.keys()) {
    if (codec.attributes?.[attributeName]?.notNull) continue;
    for (const direction of ["ASC", "DESC"] as const) {
      const variant = direction === "ASC" ? "asc" : "desc";
      const details = { codec: codec as never, attributeName, variant } as const;
      if (inflection.orderByAttributeEnum(details) === name) return apply(attributeName, direction);
    }
  }
  return undefined;
}

/** Not unique, even if the column is: nulls are equal in an order. */
const apply = (attribute: string, direction: Direction) => (query: PgSelectQueryBuilder) => {
  query.orderBy({ attribute, direction, callback: (column) => [sql`(${column} is null)`, TYPES.boolean, false] });
  query.orderBy({ attribute, direction });
};
