/** A model of who may see and change which rows, without SQL, for tenants.test.ts. */

import type { CrudDefinition } from "../../src/contract/crud.ts";
import { resourceJson } from "../../src/crud/crud-resource.ts";
import { matching } from "../crud/reference-filter.ts";

export type Row = Record<string, unknown>;
/** The model: every row in wire form, and below the rules for seeing and changing them. */
const names = ["notes", "flags", "articles", "boards", "memberships", "codes"];
const model: Record<string, Row[]> = Object.fromEntries(names.map((name) => [name, []]));
export const rowsOf = (table: string) => model[table] as Row[];
/** The column whose text names the row's owner or team. */
// biome-ignore format: a table
export const textOf: Record<string, string> = { notes: "title", flags: "label", articles: "title", boards: "name", codes: "note" };
export const owners: string[] = [];

export const teamsOf = (id: string | null) =>
  rowsOf("memberships").flatMap((row) => (row.userId === id ? [row.teamId] : []));
export const owns = (table: string, row: Row, id: string | null) =>
  id !== null && (table === "boards" ? teamsOf(id).includes(row.teamId) : row.userId === id);
export const sees = (table: string, row: Row, id: string | null) => table === "articles" || owns(table, row, id);
export const isGone = ({ softDelete }: CrudDefinition, row: Row) => Boolean(softDelete && row[softDelete.property]);

export function orderOf({ columns }: CrudDefinition, { orderBy, orderDir }: Row): (a: Row, b: Row) => number {
  const has = (property: unknown) => columns.some((one) => one.property === property);
  const property = has(orderBy) ? (orderBy as string) : has("createdAt") ? "createdAt" : "id";
  const by = (name: string) => (a: Row, b: Row) => {
    const [x, y] = [a[name] as string, b[name] as string]; // ISO times of one zone sort as text
    if (x === y) return 0;
    if (x === null || y === null) return x === null ? 1 : -1; // last in both directions
    return x < y === (orderDir === "asc") ? -1 : 1;
  };
  return (a, b) => by(property)(a, b) || by("id")(a, b);
}

export function found(resource: CrudDefinition, id: string | null, { filters, search = "" }: Row): Row[] {
  const { table, searchFields } = resource;
  const visible = rowsOf(table).filter((row) => sees(table, row, id) && !isGone(resource, row));
  const ids: unknown[] = matching(JSON.parse(resourceJson(resource)).filters, filters, visible as never);
  const has = (value: unknown) => String(value).toLowerCase().includes(String(search).toLowerCase());
  const isFound = (row: Row) => searchFields.length === 0 || searchFields.some((field) => has(row[field]));
  return visible.filter((row) => ids.includes(row.id) && isFound(row));
}
