/**
 * Durable workflows: handlers that continue after a crash, a deployment, or days of waiting.
 * Next hop: `src/workflows/replay.ts` is the `wf` that a handler gets, `src/workflows/context.ts` starts runs.
 */
import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { Logger } from "pino";
import { z } from "zod";
import { DefinitionError } from "../kit/definition-error.ts";
import { type Duration, milliseconds } from "../kit/duration.ts";
import { callable, checkOptions, converted, integer, type ShapeOf } from "../kit/options.ts";
import { kindOf, type SchemaOf, toSchema } from "../kit/v.ts";
import type { RequestDatabase, Schema } from "./database.ts";
import type { ConvertedDocument, ConvertStoredInput } from "./documents.ts";
import type { RagDocuments } from "./rag.ts";
import type { ContextStorage } from "./storage.ts";

/** A map of validators, or one schema. */
export type WorkflowArgs = StandardSchemaV1 | Readonly<Record<string, StandardSchemaV1>>;

/** Platform services for runs. */
export interface WorkflowServices {
  readonly document: {
    /** Converts a stored file to Markdown, once. It is a step by itself; do not call it inside another. */
    convert(input: ConvertStoredInput): Promise<ConvertedDocument>;
  };
}

/** The context of a workflow's handler. Outside steps, await only its methods: a replay must take the same path. */
export interface WorkflowContext<S extends Schema = Schema> {
  /**
   * Runs once: the result is stored, and a replay returns it. Writes through `wf.db` commit with the checkpoint,
   * exactly once. Other effects happen at least once, with a stable `wf.idempotencyKey`. An error is retried
   * (`retries`); the last one is thrown to the handler.
   *
   * @param name the label in the timeline; it must be the same at every replay
   * @returns the result of `run`; dates, bigints, sets and maps are preserved
   */
  step<T>(name: string, run: () => T | Promise<T>): Promise<T>;
  /**
   * Runs branches concurrently and returns their results in order. When one fails, finished branches stay finished. The
   * first failure is thrown after all have ended.
   */
  parallel<const B extends readonly (() => unknown)[]>(branches: B): Promise<ResultsOf<B>>;
  /**
   * Waits for `ctx.workflows.signal(id, name, payload)` without occupying a process. An event that came earlier counts.
   *
   * @param timeout after this it returns null. (Default: it waits for ever)
   */
  // biome-ignore lint/suspicious/noExplicitAny: payloads are what the signaller sends; authors may name their type
  waitForEvent<T = any>(name: string, timeout?: Duration): Promise<T | null>;
  /** Waits without occupying a process. */
  sleep(duration: Duration): Promise<void>;
  /** Inside a step: the database as the user who started the run, in one transaction with the checkpoint. */
  readonly db: RequestDatabase<S>;
  /** Inside a step: documents for grounded answers, in the same transaction. */
  readonly rag: RagDocuments;
  /** Inside a step: files of the user who started the run. What it stores commits with the checkpoint. */
  readonly storage: ContextStorage;
  /** Inside a step: the same at every attempt, and unique to the step. For services that accept idempotency keys. */
  readonly idempotencyKey: string;
  /** Long operations that only workflows may run. */
  readonly services: WorkflowServices;
  /** The run's id. */
  readonly runId: string;
  /** Has the run's id in every line. Outside steps, a replay logs again. */
  readonly log: Logger;
}

type ResultsOf<B extends readonly (() => unknown)[]> = { -readonly [K in keyof B]: Awaited<ReturnType<B[K]>> };

/** Retry options of steps. */
interface WorkflowRetries {
  /** Retries from each checkpoint, without the first attempt. (Default: 3) */
  limit?: number | undefined;
  /** Delay before the first retry; it doubles each time. (Default: "1 second") */
  delay?: Duration | undefined;
  /** (Default: "5 minutes") */
  maxDelay?: Duration | undefined;
}

/** What the user of a run may do with it through `api.workflows`; what is left out is refused. */
interface WorkflowClients {
  /** The events that may be sent. (Default: none) */
  signal?: readonly string[] | undefined;
  /** (Default: false) */
  cancel?: boolean | undefined;
  /** Whether a failed or cancelled run may be started again, also from an earlier step. (Default: false) */
  retry?: boolean | undefined;
}

export interface WorkflowOptions<A extends WorkflowArgs, R, S extends Schema = Schema> {
  /** A map of validators, v.object, or any Standard Schema. (Default: no arguments) */
  args?: A | undefined;
  handler: (wf: WorkflowContext<S>, args: StandardSchemaV1.InferOutput<SchemaOf<A>>) => R | Promise<R>;
  /**
   * The handler's version. When its steps change, raise it, and keep the old version registered until its runs have
   * ended. New runs use the highest. (Default: 1)
   */
  version?: number | undefined;
  /** A number is `limit`. (Default: 3) */
  retries?: number | WorkflowRetries | undefined;
  /** Counted from the start, waits included; then the run fails with TIMEOUT. (Default: none) */
  maxDuration?: Duration | undefined;
  /** How many runs of this name may run at once. Users take turns. Runs that wait or sleep do not count. (Default: any number) */
  concurrency?: number | undefined;
  /**
   * Restricts what clients may do with their own runs besides reading them. Handlers decide for themselves whether to
   * call `ctx.workflows`. (Default: everything)
   */
  clients?: WorkflowClients | undefined;
}

/** The definition of a workflow, for the runtime. Times in milliseconds. */
export interface WorkflowDefinition {
  name: string;
  version: number;
  args: StandardSchemaV1;
  handler: (wf: WorkflowContext, args: never) => unknown;
  retries: { limit: number; delay: number; maxDelay: number };
  maxDuration: number | null;
  concurrency: number | null;
  /** Null where clients are not restricted. */
  clients: { signal: readonly string[]; cancel: boolean; retry: boolean } | null;
}

/** A workflow, to be registered under `workflows` of `defineApi`. */
export interface Workflow<Args = unknown, Result = unknown> {
  readonly "~svc": { readonly workflow: WorkflowDefinition; readonly types?: { args: Args; result: Result } };
}

const retriesSchema = z.strictObject({
  limit: integer(0).default(3),
  delay: converted<Duration, number>(milliseconds).prefault("1 second"),
  maxDelay: converted<Duration, number>(milliseconds).prefault("5 minutes"),
} satisfies ShapeOf<WorkflowRetries>);

const clientsSchema = z.strictObject({
  signal: z.array(z.string()).default([]),
  cancel: z.boolean().default(false),
  retry: z.boolean().default(false),
} satisfies ShapeOf<WorkflowClients>);

const orNull = <T>(value: T | undefined) => value ?? null;

const optionsSchema = z.strictObject({
  args: converted((args: WorkflowArgs): StandardSchemaV1 => toSchema(args)).prefault({}),
  handler: callable<WorkflowOptions<WorkflowArgs, unknown>["handler"]>(),
  version: integer(1).default(1),
  retries: z
    .custom<number | WorkflowRetries>()
    .transform((retries) => (typeof retries === "number" ? { limit: retries } : retries))
    .pipe(retriesSchema)
    .prefault({}),
  maxDuration: converted<Duration, number>(milliseconds).optional().transform(orNull),
  concurrency: integer(1).optional().transform(orNull),
  clients: clientsSchema.optional().transform(orNull),
} satisfies ShapeOf<WorkflowOptions<WorkflowArgs, unknown>>);

/**
 * Defines a workflow.
 *
 * @param name `<module>.<operation>`, like a procedure's
 * @throws DefinitionError for invalid options
 * @example
 * export const approve = workflow("expense.approve", {
 *   args: { amount: v.number() },
 *   handler: async (wf, args) => {
 *     const decision = await wf.waitForEvent("approval", "3 days");
 *     return { approved: decision?.approved === true };
 *   },
 * });
 */
export function workflow<A extends WorkflowArgs, R>(
  name: string,
  options: WorkflowOptions<A, R>,
): Workflow<StandardSchemaV1.InferInput<SchemaOf<A>>, R> {
  if (typeof name !== "string" || !/^[A-Za-z_][\w-]*(\.[A-Za-z_][\w-]*)*$/.test(name) || name.length > 128) {
    const given = typeof name === "string" ? JSON.stringify(name) : kindOf(name);
    throw new DefinitionError(`The name of a workflow comes first, and cannot be ${given}.`, {
      hint: 'Use words of letters from a to z, digits, _ and - joined by dots, such as "expense.approve".',
    });
  }
  return { "~svc": { workflow: { name, ...checkOptions(`The workflow "${name}"`, optionsSchema, options) } } };
}

/** `workflow` with the types of a schema in `wf.db`. */
export type WorkflowBuilder<S extends Schema> = <A extends WorkflowArgs, R>(
  name: string,
  options: WorkflowOptions<A, R, S>,
) => Workflow<StandardSchemaV1.InferInput<SchemaOf<A>>, R>;

/** The versions of each workflow, newest first, by name. */
export type Workflows = ReadonlyMap<string, readonly WorkflowDefinition[]>;

/** @throws DefinitionError for a value that is not a workflow, for a built-in name, and for two with the same name and version */
export function collectWorkflows(bag: Readonly<Record<string, unknown>>, builtIn: readonly Workflow[]): Workflows {
  const byName = new Map<string, WorkflowDefinition[]>();
  for (const { "~svc": own } of builtIn) byName.set(own.workflow.name, [own.workflow]);
  for (const [key, value] of Object.entries(bag)) {
    const definition = (value as Partial<Workflow> | undefined)?.["~svc"]?.workflow;
    if (!definition) {
      throw new DefinitionError(`workflows.${key} is not a workflow.`, {
        hint: 'Make it with workflow("module.operation", { args, handler }).',
      });
    }
    if (builtIn.some(({ "~svc": own }) => own.workflow.name === definition.name)) {
      throw new DefinitionError(`A workflow is named "${definition.name}", which is built in.`, {
        hint: `Give workflows.${key} another name.`,
      });
    }
    const versions = byName.get(definition.name) ?? [];
    if (versions.some(({ version }) => version === definition.version)) {
      throw new DefinitionError(`Two workflows are named "${definition.name}" with version ${definition.version}.`, {
        hint: `Give workflows.${key} another name, or the newer one a higher version.`,
      });
    }
    byName.set(
      definition.name,
      [...versions, definition].sort((a, b) => b.version - a.version),
    );
  }
  return byName;
}
