/** The builders, made once and typed by the schema. */
import { createCrudFactory, createSvcProcedureBuilders } from "@svc/core";
import type * as schema from "./schema.ts";

export const procedure = createSvcProcedureBuilders<typeof schema>();
export const createCrud = createCrudFactory(procedure);
