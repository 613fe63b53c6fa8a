// backend/runtime.ts — created once
import { createCrudFactory, createSvcHttpRouteBuilders, createSvcProcedureBuilders } from "@svc/core";
import type * as schema from "./schema.ts";
export const procedure = createSvcProcedureBuilders<typeof schema>();
export const httpRoute = createSvcHttpRouteBuilders<typeof schema>();
export const createCrud = createCrudFactory(procedure);
