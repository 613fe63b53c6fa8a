/**
 * The built-in procedures `workflows.*` with which clients read and steer their runs. They exist if an application
 * registers workflows. Starting a run is left to the application's own mutations.
 * Next hop: `src/workflows/context.ts`.
 */
import { createSvcProcedureBuilders, type Procedure } from "../contract/procedure.ts";
import { workflowStatuses } from "../contract/workflow-runs.ts";
import { oneOf } from "../kit/options.ts";
import { v } from "../kit/v.ts";

const { query, mutation } = createSvcProcedureBuilders();
const id = v.string();

/** Keyed by the last part of their names, as the generated `api.ts` groups them. */
export const workflowProcedures = {
  list: query
    .name("workflows.list")
    .input(
      v.optional(
        v.object({
          status: v.optional(oneOf(workflowStatuses)),
          name: v.optional(v.string()),
          limit: v.optional(v.number()),
          cursor: v.optional(v.string()),
        }),
      ),
    )
    .handler(({ context, input }) => context.workflows.list(input)),
  get: query
    .name("workflows.get")
    .input(v.object({ id }))
    .handler(({ context, input }) => context.workflows.get(input.id)),
  signal: mutation
    .name("workflows.signal")
    .input(v.object({ id, event: v.string(), payload: v.any() }))
    .handler(({ context, input }) => context.workflows.signal(input.id, input.event, input.payload)),
  cancel: mutation
    .name("workflows.cancel")
    .input(v.object({ id }))
    .handler(({ context, input }) => context.workflows.cancel(input.id)),
  retry: mutation
    .name("workflows.retry")
    .input(v.object({ id, fromStep: v.optional(v.string()) }))
    .handler(({ context, input }) =>
      context.workflows.retry(input.id, input.fromStep === undefined ? {} : { fromStep: input.fromStep }),
    ),
} satisfies Record<string, Procedure>;

/** For the generated `api.ts`. */
export type WorkflowProcedures = typeof workflowProcedures;
