/** `createSvc`: all builders of an application in one call. */
import { isTable } from "drizzle-orm";
import { z } from "zod";
import { type ChannelBuilder, channel } from "../contract/channel.ts";
import type { Schema } from "../contract/database.ts";
import { createSvcHttpRouteBuilders, type HttpRouteBuilders } from "../contract/http-route.ts";
import { createSvcProcedureBuilders, type ProcedureBuilders } from "../contract/procedure.ts";
import { type WorkflowBuilder, workflow } from "../contract/workflow.ts";
import { createCrudFactory } from "../crud/crud.ts";
import { checkOptions } from "../kit/options.ts";

const options = z.strictObject({
  schema: z.custom<Schema>(
    (given) => typeof given === "object" && given !== null && !isTable(given),
    'must be all exports of schema.ts: import * as schema from "./schema.ts"',
  ),
});

export interface Svc<S extends Schema> {
  /** As `createSvcProcedureBuilders` makes it. */
  procedure: ProcedureBuilders<S>;
  /** As `createSvcHttpRouteBuilders` makes it. */
  httpRoute: HttpRouteBuilders<S>;
  /** As `createCrudFactory` makes it. */
  createCrud: ReturnType<typeof createCrudFactory<S>>;
  /** `channel`, with the schema's types in `context.db`. */
  channel: ChannelBuilder<S>;
  /** `workflow`, with the schema's types in `wf.db`: functions that take `db: Db` also take it. */
  workflow: WorkflowBuilder<S>;
}

/**
 * Creates the application's builders, typed by its schema. Call it once, in `runtime.ts`.
 *
 * @throws DefinitionError for other options, and a schema that is not an object of exports
 * @example
 * export const { procedure, httpRoute, createCrud, workflow, channel } = createSvc({ schema });
 */
export function createSvc<S extends Schema>(given: { schema: S }): Svc<S> {
  checkOptions("createSvc", options, given);
  const { schema } = given;
  const procedure = createSvcProcedureBuilders<S>();
  return {
    procedure,
    httpRoute: createSvcHttpRouteBuilders<S>(),
    createCrud: createCrudFactory(procedure, schema),
    channel: channel as ChannelBuilder<S>,
    workflow: workflow as WorkflowBuilder<S>,
  };
}
