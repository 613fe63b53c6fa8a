/** What `defineApi` (src/app/api.ts) returns and what the server, the workers and the code generator read of it. */
import type { Cron, CronDefinition } from "./cron.ts";
import type { CrudDefinition } from "./crud.ts";
import type { HttpRoute, RouteDefinition } from "./http-route.ts";
import type { Procedure, ProcedureDefinition } from "./procedure.ts";
import type { Workflow, Workflows } from "./workflow.ts";

/** Procedures by key, one level of nesting allowed. The keys only register; the procedures' names are the API. */
export type ProcedureBag = Record<string, Procedure | Record<string, Procedure>>;

export interface ApiBags<P extends ProcedureBag> {
  procedures?: P;
  httpRoutes?: Record<string, HttpRoute>;
  crons?: Record<string, Cron>;
  /** Beside the built-in `rag.ingest`. What clients may do with runs: src/workflows/procedures.ts. */
  // biome-ignore lint/suspicious/noExplicitAny: of any arguments and result
  workflows?: Record<string, Workflow<any, any>>;
  /** @deprecated Register what `createCrud` returns under `procedures`. */
  crud?: ProcedureBag;
}

/** What an application offers, checked. `types` exists for the type system alone. */
export interface Api<P extends ProcedureBag = ProcedureBag, W = unknown> {
  readonly "~svc": {
    readonly procedures: ReadonlyMap<string, ProcedureDefinition>;
    readonly routes: readonly RouteDefinition[];
    readonly crud: readonly CrudDefinition[];
    readonly crons: readonly CronDefinition[];
    /** Where in the `procedures` bag each procedure stands, by its name: for the generated `api.ts`. */
    readonly paths: ReadonlyMap<string, readonly string[]>;
    readonly workflows: Workflows;
    readonly types?: P;
    /** Of the built-in procedures about workflows. */
    readonly workflowTypes?: W;
  };
}
