/** The expected answers to the calls of tenants-calls.ts, from the model of access alone. */
import { expect } from "vitest";
import type { Database } from "../support/database.ts";
import { type Call, past } from "./tenants-calls.ts";
import { found, isGone, orderOf, owns, type Row, rowsOf, sees, teamsOf, textOf } from "./tenants-model.ts";
import { at, type Caller } from "./tenants-world.ts";

/** A list that can be continued: the next call, and the last row of the previous page. */
export interface Walk {
  call: Call;
  last: Row;
}
/** The expected answer, and the effect of the call on the model. */
export interface Expected {
  status: number;
  json?: unknown;
  change?: (answered: Row, sql: Database["sql"]) => unknown;
}

const selected = (row: Row, { select }: Row) =>
  select ? Object.fromEntries((select as string[]).map((name) => [name, row[name]])) : row;

/** @param walk the list that the call continues */
export function expected({ caller: { id }, resource, operation, args }: Call, walk?: Walk): Expected {
  const { prefix, table, softDelete } = resource;
  if (id === null && !(prefix === "articles" && ["list", "get"].includes(operation))) return { status: 401 };
  if (operation === "list") {
    if (walk && walk.call.caller.id !== id) return { status: 400 }; // another user's cursor
    const all = found(resource, id, args).sort(orderOf(resource, args));
    const rest = walk ? all.filter((row) => orderOf(resource, args)(row, walk.last) > 0) : all;
    const limit = Math.min(Math.max((args.limit as number) ?? 20, 1), 100);
    const start = "cursor" in args ? 0 : (Math.max((args.page as number) ?? 1, 1) - 1) * limit;
    const next = "cursor" in args && { nextCursor: rest.length > limit ? expect.any(String) : null };
    const data = rest.slice(start, start + limit).map((row) => selected(row, args));
    return { status: 200, json: { data, total: all.length, ...next } };
  }
  if (operation === "createMany") {
    const rows = args.rows as Row[];
    const each = rows.map((row) => expected({ caller: { id } as Caller, resource, operation: "create", args: row }));
    const refused = each.find(({ status }) => status !== 200);
    if (refused) return refused;
    const codes = rows.flatMap(({ code }) => (table === "codes" ? [code] : []));
    if (new Set(codes).size < codes.length) return { status: 409 };
    const change = (answered: Row) => rowsOf(table).push(...(answered.data as Row[]));
    return { status: 200, json: { count: rows.length, data: each.map(({ json }) => json) }, change };
  }
  if (operation === "aggregate") {
    if ("nonsense" in (args.filters as Row)) return { status: 400 };
    return { status: 200, json: { data: [{ count: found(resource, id, args).length }], hasMore: false } };
  }
  if (operation === "updateMany" || operation === "removeMany") {
    const { filters, max, set } = args as { filters: Row; max: number; set: Row };
    const changed = found(resource, id, { filters }).filter((row) => owns(table, row, id));
    if ("nonsense" in filters) return { status: 400 };
    if (set?.teamId && changed.length > 0 && !teamsOf(id).includes(set.teamId)) return { status: 403 };
    if (changed.length > max) return { status: 400 };
    const each = changed.map((row) =>
      operation === "updateMany"
        ? () => Object.assign(row, set)
        : expected({ caller: { id } as Caller, resource, operation: "remove", args: row }).change,
    );
    const change: Expected["change"] = async (_, sql) => {
      for (const one of each) await one?.({}, sql);
      if (operation !== "updateMany" || changed.length === 0 || !("updatedAt" in (changed[0] as Row))) return;
      // Sets the time of the call, which the model does not know, to a known one.
      const ids = changed.map((row) => row.id);
      await sql(`update ${table} set updated_at = $2 where id = any ($1)`, [ids, at(4)]);
      for (const row of changed) row.updatedAt = at(4);
    };
    return { status: 200, json: { count: changed.length }, change };
  }
  if (operation === "upsert") {
    const given = args.row as Row;
    const row = rowsOf(table).find(({ code }) => code === given.code);
    const another = { caller: { id } as Caller, resource, args: given };
    if (!row) return expected({ ...another, operation: "create" });
    if (!owns(table, row, id)) return { status: 403 };
    return expected({ ...another, operation: "update", args: { ...given, id: row.id } });
  }
  const { id: rowId, teamId, priority, [textOf[table] ?? ""]: text } = args;
  const values = JSON.parse(JSON.stringify({ teamId, priority, [textOf[table] ?? ""]: text }));
  const isMember = table !== "boards" || teamsOf(id).includes(teamId);
  if (operation === "create") {
    if (!isMember) return { status: 403 };
    // A unique constraint holds for rows that the caller does not see, too.
    if (table === "codes" && rowsOf(table).some(({ code }) => code === args.code)) return { status: 409 };
    const deleted = softDelete && { [softDelete.property]: softDelete.kind === "boolean" ? false : null };
    const json = expect.objectContaining({ ...values, ...(table !== "boards" && { userId: id }), ...deleted });
    return { status: 200, json, change: (row) => rowsOf(table).push(row) };
  }
  const isAsked = (one: Row) => (operation === "get" && "code" in args ? one.code === args.code : one.id === rowId);
  const row = rowsOf(table).find((one) => isAsked(one) && sees(table, one, id) && !isGone(resource, one));
  if (operation === "get") return { status: 200, json: row ? selected(row, args) : null };
  if (!row || !owns(table, row, id)) return { status: 404 };
  if (operation === "update") {
    if (args.ifUnmodifiedSince === past && "updatedAt" in row) return { status: 409 };
    if (!isMember) return { status: 403 };
    const json = { ...row, ...values, ...("updatedAt" in row && { updatedAt: expect.any(String) }) };
    return { status: 200, json, change: (answered) => Object.assign(row, answered) };
  }
  const change: Expected["change"] = async (_, sql) => {
    if (!softDelete) return rowsOf(table).splice(rowsOf(table).indexOf(row), 1);
    row[softDelete.property] = softDelete.kind === "boolean" ? true : at(3);
    if (table !== "articles") return;
    // Sets the time of the call, which the model does not know, to a known one.
    await sql("update articles set deleted_at = $2 where id = $1 and deleted_at is not null", [rowId, at(3)]);
  };
  return { status: 200, json: { id: rowId }, change };
}
