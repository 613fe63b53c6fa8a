/** Filters of the filter table as callers usually send them. */
import { fc } from "../support/properties.ts";
import { columns, rows } from "./filter-table.ts";

const comparable = Object.entries(columns).filter(([, { kind, array }]) => !array && kind !== "json");
const usual = fc
  .tuple(
    fc.constantFrom(...comparable.map(([property]) => property)),
    fc.constantFrom("eq", "ne", "gt", "gte", "lt", "lte", "in", "nin", "like", "ilike"),
  )
  .chain(([key, name]) => {
    const values = rows.map((row) => row[key]).filter((one) => one !== undefined);
    const known = fc.constantFrom<unknown>(...values);
    const own = name === "eq" || name === "ne" ? fc.oneof(known, known, fc.constant(null)) : known;
    const input = name === "in" || name === "nin" ? fc.array(own, { maxLength: 3 }) : own;
    return fc.tuple(fc.constant(key), name === "eq" ? own : input.map((given) => ({ op: name, value: given })));
  });
/** Conditions that are often valid, so that a prepared statement answers them. */
export const usualTree = fc
  .tuple(fc.array(usual, { maxLength: 2 }), fc.array(fc.array(usual, { minLength: 1, maxLength: 2 }), { maxLength: 2 }))
  .map(([all, members]) => {
    const groups = members.map((entries) => Object.fromEntries(entries));
    return { ...Object.fromEntries(all), ...(groups.length > 0 && { [groups.length > 1 ? "OR" : "AND"]: groups }) };
  });
