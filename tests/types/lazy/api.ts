// Written by `svc codegen` from the backend's definitions. Do not edit: changes will be lost.
import { type MutationOf, mutation, type QueryOf, query } from "@svc/client";
import type { WorkflowProcedures as Workflows } from "./generated/db.ts";
import type * as handlersModule from "./handlers.ts";

// Interfaces: the compiler names them in its messages, and infers the types of the members that are used.
interface StonesOperations {
  readonly count: QueryOf<typeof handlersModule.count>;
  readonly last: QueryOf<typeof handlersModule.last>;
  readonly lastRun: QueryOf<typeof handlersModule.lastRun>;
}
interface WorkflowsOperations {
  readonly list: QueryOf<Workflows["list"]>;
  readonly get: QueryOf<Workflows["get"]>;
  readonly signal: MutationOf<Workflows["signal"]>;
  readonly cancel: MutationOf<Workflows["cancel"]>;
  readonly retry: MutationOf<Workflows["retry"]>;
}
export interface Api {
  readonly stones: StonesOperations;
  readonly workflows: WorkflowsOperations;
}

export const api: Api = {
  stones: {
    count: query("stones.count"),
    last: query("stones.last"),
    lastRun: query("stones.lastRun"),
  },
  workflows: {
    list: query("workflows.list"),
    get: query("workflows.get"),
    signal: mutation("workflows.signal"),
    cancel: mutation("workflows.cancel"),
    retry: mutation("workflows.retry"),
  },
} as never;
