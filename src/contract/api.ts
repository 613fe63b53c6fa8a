/** The result of `defineApi` (src/app/api.ts). The server, the workers and the code generator read it. */
import type { ChannelBag, ChannelDefinition } from "./channel-definition.ts";
import type { Cron, CronDefinition } from "./cron.ts";
import type { CrudDefinition } from "./crud.ts";
import type { GroundingOptions } from "./grounding.ts";
import type { HttpRoute, RouteDefinition } from "./http-route.ts";
import type { Procedure, ProcedureDefinition } from "./procedure.ts";
import type { Webhook, WebhookDefinition } from "./webhook.ts";
import type { Workflow, Workflows } from "./workflow.ts";

/** Procedures by key, one level of nesting allowed. The keys name the procedures that have no `.name()`. */
export type ProcedureBag = Record<string, Procedure | Record<string, Procedure>>;

/** @typeParam P without a constraint: a wrong item is an error at its key, and the other procedures keep their types */
export interface ApiBags<P extends object, C extends ChannelBag = ChannelBag> {
  procedures?: [P] extends [ProcedureBag] ? P : ProcedureBag;
  channels?: C;
  httpRoutes?: Record<string, HttpRoute>;
  crons?: Record<string, Cron>;
  webhooks?: Record<string, Webhook>;
  /** Registered beside the built-in `rag.ingest`. Procedures that clients may call on runs: src/workflows/procedures.ts. */
  // biome-ignore lint/suspicious/noExplicitAny: of any arguments and result
  workflows?: Record<string, Workflow<any, any>>;
  /** Options of `ctx.grounding`. */
  grounding?: GroundingOptions;
  /** @deprecated Register what `createCrud` returns under `procedures`. */
  crud?: ProcedureBag;
}

/** An application's checked definitions. `types` and `channelTypes` exist only for the type system. */
export interface Api<P extends object = ProcedureBag, C extends ChannelBag = ChannelBag> {
  readonly "~svc": {
    readonly procedures: ReadonlyMap<string, ProcedureDefinition>;
    readonly routes: readonly RouteDefinition[];
    readonly crud: readonly CrudDefinition[];
    readonly crons: readonly CronDefinition[];
    readonly webhooks: readonly WebhookDefinition[];
    /** By name. */
    readonly channels: ReadonlyMap<string, ChannelDefinition>;
    /** The path of each procedure in the `procedures` object, and of each channel in `channels`, by name. The generated `api.ts` needs it. */
    readonly paths: ReadonlyMap<string, readonly string[]>;
    readonly workflows: Workflows;
    readonly grounding: GroundingOptions;
    readonly types?: P;
    readonly channelTypes?: C;
  };
}
