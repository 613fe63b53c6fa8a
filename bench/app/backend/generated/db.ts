// Written by svc codegen. Do not edit.
import type { RequestDatabase } from "@svc/core";
import type * as schema from "../schema.ts";

/** The type of `context.db`, for functions that take it: `(db: Db) => db.select()…` */
export type Db = RequestDatabase<typeof schema>;

/** The types of `api.workflows`, for the client's `api.ts`. */
export type { WorkflowProcedures } from "@svc/core";
