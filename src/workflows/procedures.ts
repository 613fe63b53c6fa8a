/**
 * The built-in procedures `workflows.*` with which clients read and steer their runs. They exist if an application
 * registers workflows. Starting a run is left to the application's own mutations.
 *
 * A run belongs to the user who started it, but the one who decides may be somebody else: a payment service, a colleague.
 * So the definition of a workflow may restrict what clients do with their runs.
 * Next hop: `src/workflows/context.ts`.
 */
import { sql } from "drizzle-orm";
import type { Context } from "../contract/context.ts";
import { createSvcProcedureBuilders, type Procedure } from "../contract/procedure.ts";
import type { Workflows } from "../contract/workflow.ts";
import { workflowStatuses } from "../contract/workflow-runs.ts";
import { oneOf } from "../kit/options.ts";
import { SvcError } from "../kit/svc-error.ts";
import { isUuid } from "../kit/uuid.ts";
import { v } from "../kit/v.ts";
import { runNotFound } from "./context.ts";

const { query, mutation } = createSvcProcedureBuilders();
const id = v.string();

/** Keyed by the last part of their names, as the generated `api.ts` groups them. */
export const workflowProcedures = (workflows: Workflows) =>
  ({
    list: query
      .name("workflows.list")
      .follows() // runs tell their user of each change (subscription-topics.ts)
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
      .follows()
      .input(v.object({ id }))
      .handler(({ context, input }) => context.workflows.get(input.id)),
    signal: mutation
      .name("workflows.signal")
      .input(v.object({ id, event: v.string(), payload: v.any() }))
      .handler(async ({ context, input }) => {
        const clients = await restrictionsOf(workflows, context, input.id);
        if (clients && !clients.signal.includes(input.event)) throw refused(`signal: [${JSON.stringify(input.event)}]`);
        await context.workflows.signal(input.id, input.event, input.payload);
      }),
    cancel: mutation
      .name("workflows.cancel")
      .input(v.object({ id }))
      .handler(async ({ context, input }) => {
        const clients = await restrictionsOf(workflows, context, input.id);
        if (clients && !clients.cancel) throw refused("cancel: true");
        await context.workflows.cancel(input.id);
      }),
    retry: mutation
      .name("workflows.retry")
      .input(v.object({ id, fromStep: v.optional(v.string()) }))
      .handler(async ({ context, input }) => {
        const clients = await restrictionsOf(workflows, context, input.id);
        if (clients && !clients.retry) throw refused("retry: true");
        await context.workflows.retry(input.id, input.fromStep === undefined ? {} : { fromStep: input.fromStep });
      }),
  }) satisfies Record<string, Procedure>;

/** The procedures of `api.workflows`, for the generated `api.ts`. */
export type WorkflowProcedures = ReturnType<typeof workflowProcedures>;

/** For a workflow that only another version of the application has: its restrictions are not known here. */
const unregistered = { signal: [], cancel: true, retry: false };

/** Those of a run of the caller; of the newest version of its name where its own is not registered. */
async function restrictionsOf(workflows: Workflows, { db }: Context, id: string) {
  if (!isUuid(id)) throw runNotFound();
  // Without steps and events, which may be too large for one row: such a run can still be cancelled.
  const run = sql<{ name: string; version: number } | null>`run`;
  const [found] = await db.select({ run }).from(sql`svc_hidden.describe_run(${id}) as run`);
  if (!found?.run) throw runNotFound();
  const { name, version } = found.run;
  const versions = workflows.get(name);
  const definition = versions?.find((one) => one.version === version) ?? versions?.[0];
  return definition ? definition.clients : unregistered;
}

const refused = (option: string) =>
  new SvcError("FORBIDDEN", "Clients may not do this with the run.", {
    hint: `Authors: call ctx.workflows in a procedure that checks the caller, or allow it: workflow(…, { clients: { ${option} } }).`,
  });
