// As `svc codegen` writes it, without the type of `context.db`, which nobody takes here.

/** The types of `api.workflows`, for the client's `api.ts`. */
export type { WorkflowProcedures } from "@svc/core";
