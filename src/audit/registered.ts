/**
 * Handlers that a loaded application lets anybody call, and its tables. The audit compares them with the source to find
 * gaps.
 */
import { is } from "drizzle-orm";
import { getTableConfig, PgTable } from "drizzle-orm/pg-core";
import type { LoadedApp } from "../contract/loaded-app.ts";
import type { TableName } from "./tables.ts";

export interface Registered {
  /** `name` of procedures, `get /path` of routes, `createCrud(prefix)` of generated CRUD. */
  handlers: string[];
  /** Every table that the schema files export or generated CRUD serves. */
  tables: TableName[];
}

export function registeredIn({ api, schema }: Pick<LoadedApp, "api" | "schema">): Registered {
  const { procedures, routes, crud } = api["~svc"];
  const anonymous = new Set([...procedures.values()].filter((one) => one.anonymous));
  const served = crud.filter(({ prefix, methods }) =>
    methods.some((method) => procedures.get(`${prefix}.${method}`)?.anonymous),
  );
  const exported = Object.values(schema).filter((value) => is(value, PgTable));
  return {
    handlers: [
      ...[...anonymous].filter(({ statement }) => !statement).map(({ name }) => name),
      ...routes.filter((route) => route.anonymous).map(({ verb, path }) => `${verb} ${path}`),
      ...served.map(({ prefix }) => `createCrud(${prefix})`),
    ],
    tables: [
      ...exported.map((table) => getTableConfig(table)).map(({ schema: folder, name }) => ({ schema: folder, name })),
      ...crud.map(({ schema: folder, table }) => ({ schema: folder, name: table })),
    ],
  };
}
