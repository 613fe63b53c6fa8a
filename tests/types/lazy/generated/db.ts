// Written by svc codegen. Do not edit.
import type { RequestDatabase } from "@svc/core";

/** The type of `context.db`, for functions that take it: `(db: Db) => db.select()…` */
export type Db = RequestDatabase;

/** The types of `api.workflows`, for the client's `api.ts`. */
export type { WorkflowProcedures } from "@svc/core";
