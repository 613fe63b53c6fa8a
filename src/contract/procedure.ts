/**
 * Procedures: typed operations that the SDK calls by name. An immutable builder collects their parts.
 * Next hop: `src/call/invoke.ts` runs a definition, `src/server/procedures.ts` serves it over HTTP.
 */
import type { StandardSchemaV1 } from "@standard-schema/spec";
import { is } from "drizzle-orm";
import { PgTable } from "drizzle-orm/pg-core";
import { DefinitionError } from "../kit/definition-error.ts";
import { kindOf } from "../kit/v.ts";
import {
  type BuilderState,
  noSteps,
  requireFunction,
  type StepState,
  withInput,
  withLayer,
  withOutput,
  withScope,
} from "./builder.ts";
import { compose } from "./compose.ts";
import type { Context } from "./context.ts";
import type { CrudDefinition, CrudStatement } from "./crud.ts";
import type { Schema } from "./database.ts";
import { type DefinedAt, definedAt } from "./defined-at.ts";
import { type Call, type Middleware, middlewareLayer } from "./middleware.ts";

/** Queries read, mutations write. Only the scheduler, crons, webhooks and workflows run internal procedures. */
export type ProcedureKind = "query" | "mutation" | "internal";

/** The types of a procedure. `input` is sent by the caller, `output` is returned to it. */
export interface ProcedureTypes {
  name: string;
  kind: ProcedureKind;
  input: unknown;
  output: unknown;
}

/** The definition of a procedure, for the runtime. */
export interface ProcedureDefinition extends StepState, Pick<BuilderState, "inputIsFirst"> {
  /** Empty until `defineApi` has named a procedure without `.name()`. */
  name: string;
  kind: ProcedureKind;
  /** Set if it is anonymous. */
  definedAt?: DefinedAt;
  /** Runs middleware, input validation and handler. */
  run: (call: Call) => Promise<unknown>;
  /** The identity of an internal procedure, if it is not that of the user who scheduled it. */
  runAs?: "system";
  /** Tables that a watched query follows as a whole, beside those that it is seen to read. Queries only. */
  follows?: readonly PgTable[];
  /** Its answer holds a secret, which is stored nowhere: a call with an `Idempotency-Key` is refused. */
  isSecret?: true;
  /** Generated CRUD: the one statement that answers the call, instead of `run`. */
  statement?: CrudStatement;
  /** Generated CRUD: the resource of this operation. */
  crud?: CrudDefinition;
}

/** A finished procedure, to be registered under `procedures` of `defineApi`. */
export interface Procedure<T extends ProcedureTypes = ProcedureTypes> {
  readonly "~svc": { readonly procedure: ProcedureDefinition; readonly types?: T };
}

/** The types collected by a builder: those on the wire and those of the handler. */
interface BuilderTypes extends ProcedureTypes {
  parsed: unknown;
  returns: unknown;
  adds: object;
}

interface Start<K extends ProcedureKind> extends BuilderTypes {
  name: string;
  kind: K;
  input: undefined;
  parsed: unknown;
  adds: object;
}

type With<T extends BuilderTypes, Change> = Omit<T, keyof Change> & Change extends infer R extends BuilderTypes
  ? R
  : never;

type State = BuilderState & Pick<ProcedureDefinition, "name" | "kind" | "runAs" | "follows">;

/**
 * Collects a procedure step by step; each call returns a new builder.
 *
 * @example
 * export const openCount = procedure.query.name("tasks.openCount")
 *   .output(z.object({ open: z.number() }))
 *   .handler(async ({ context }) => ({ open: await context.db.$count(tasks, eq(tasks.done, false)) }));
 */
export class ProcedureBuilder<S extends Schema, T extends BuilderTypes> {
  readonly "~state": State;

  constructor(state: State) {
    this["~state"] = state;
  }

  /**
   * The name on the wire, `<module>.<operation>`: letters, digits, `_` and dots. (Default: its place in `procedures` of
   * `defineApi`)
   */
  name<const N extends string>(name: N): ProcedureBuilder<S, With<T, { name: N }>> {
    checkName(name);
    return new ProcedureBuilder({ ...this["~state"], name });
  }

  /** Allows callers who are not signed in; internal procedures are never callable from outside. (Default: they get 401) */
  allowAnonymous(..._none: T["kind"] extends "internal" ? [never] : []): ProcedureBuilder<S, T> {
    const { kind, name } = this["~state"];
    if (kind === "internal") {
      throw new DefinitionError(`The internal procedure "${name}" cannot .allowAnonymous().`, {
        hint: 'Leave it out: it runs as the user who scheduled it, signed in or not. .runAs("system") bypasses row-level security.',
      });
    }
    return new ProcedureBuilder({ ...this["~state"], anonymous: true });
  }

  /**
   * Lets API keys with this scope call it: one of `apiKeys.scopes` of `defineAuth`. The handler then acts as the user, and
   * the policies of each table decide by the key's scopes. (Default: only keys with `"*"` may call it)
   */
  scope(scope: T["kind"] extends "internal" ? never : string): ProcedureBuilder<S, T> {
    const { kind } = this["~state"];
    if (kind === "internal") {
      throw new DefinitionError(`${this.#whose} cannot have a .scope(): no key can call it.`, {
        hint: "Leave it out.",
      });
    }
    return new ProcedureBuilder(withScope(this["~state"], this.#whose, scope));
  }

  /**
   * Runs an internal procedure as the system: `context.db` bypasses row-level security, and there is no session.
   * (Default: it runs as the user who scheduled it; crons always run as the system)
   */
  runAs(who: T["kind"] extends "internal" ? "system" : never): ProcedureBuilder<S, T> {
    const { kind, name } = this["~state"];
    if (kind !== "internal" || who !== "system") {
      throw new DefinitionError(`The ${kind} "${name}" cannot .runAs(${JSON.stringify(who)}).`, {
        hint: 'Only procedure.internal can, and only "system". For audited access of others there is context.unsafeDb.',
      });
    }
    return new ProcedureBuilder({ ...this["~state"], runAs: "system" });
  }

  /**
   * For those who watch the query: tables that decide its result besides the ones that `context.db` reads, such as what
   * `unsafeDb` reads. Every change of them reaches every watcher, also of rows that they may not see. Without tables it
   * says that nothing else decides the result. (Default: what `context.db` reads, of rows with owners the caller's own)
   */
  follows(...tables: T["kind"] extends "query" ? PgTable[] : [never]): ProcedureBuilder<S, T> {
    if (this["~state"].kind !== "query") {
      throw new DefinitionError(`${this.#whose} cannot .follows(…): only queries are watched.`, {
        hint: "Leave it out.",
      });
    }
    for (const table of tables) {
      if (is(table, PgTable)) continue;
      throw new DefinitionError(`${this.#whose}: .follows() takes tables, and got ${kindOf(table)}.`, {
        hint: "Name tables of the schema, such as .follows(schema.notes); for a view, the tables beneath it.",
      });
    }
    return new ProcedureBuilder({ ...this["~state"], follows: tables });
  }

  /** Adds a middleware around everything that is declared after it. */
  use<Adds extends object = object>(
    middleware: Middleware<Adds>,
  ): ProcedureBuilder<S, With<T, { adds: T["adds"] & Adds }>> {
    requireFunction(this.#whose, "use", middleware);
    return new ProcedureBuilder(withLayer(this["~state"], middlewareLayer(middleware)));
  }

  /** Validates the input at this point of the chain, with any Standard Schema. Once per procedure. */
  input<I extends StandardSchemaV1>(
    schema: I,
  ): ProcedureBuilder<S, With<T, { input: StandardSchemaV1.InferInput<I>; parsed: StandardSchemaV1.InferOutput<I> }>> {
    return new ProcedureBuilder(withInput(this["~state"], this.#whose, schema));
  }

  /** Validates the final result. An invalid result is a server error (500) and rolls the mutation back. */
  output<O extends StandardSchemaV1>(
    schema: O,
  ): ProcedureBuilder<
    S,
    With<T, { returns: StandardSchemaV1.InferInput<O>; output: StandardSchemaV1.InferOutput<O> }>
  > {
    return new ProcedureBuilder(withOutput(this["~state"], this.#whose, schema));
  }

  /**
   * Finishes the procedure.
   *
   * @param handler gets `{ context, input }`; its return value (or the promise's) is the caller's result
   */
  handler<R extends T["returns"]>(
    handler: (call: { context: Context<S> & T["adds"]; input: T["parsed"] }) => R | Promise<R>,
  ): Procedure<{
    name: T["name"];
    kind: T["kind"];
    input: T["input"];
    output: unknown extends T["output"] ? R : T["output"];
  }> {
    const { name, kind, anonymous, scope, input, inputIsFirst, output, layers, runAs, follows } = this["~state"];
    requireFunction(this.#whose, "handler", handler);
    const run = compose(layers, async (call) => handler(call as never));
    const optional = { inputIsFirst, scope, runAs, follows, ...definedAt(anonymous, name, this.handler) };
    return { "~svc": { procedure: { name, kind, anonymous, input, output, run, ...optional } } };
  }

  get #whose(): string {
    const { name, kind } = this["~state"];
    return name ? `The procedure "${name}"` : `A ${kind}`;
  }
}

/** @throws DefinitionError */
function checkName(name: string): void {
  if (typeof name === "string" && /^[A-Za-z_]\w*(\.[A-Za-z_]\w*)*$/.test(name) && name.length <= 128) return;
  throw new DefinitionError(`"${name}" cannot be the name of a procedure.`, {
    hint: 'Use words of letters from a to z, digits and _ joined by dots, such as "tasks.openCount"; at most 128 characters.',
  });
}

/**
 * Names a procedure that has no `.name()`, for good.
 *
 * @param place in `procedures` of `defineApi`
 * @throws DefinitionError
 */
export function nameByPlace(procedure: ProcedureDefinition, place: string): void {
  if (procedure.name) return;
  checkName(place);
  procedure.name = place;
  if (procedure.definedAt) procedure.definedAt.handler = place;
}

/** The three builders of procedures, typed by the application's schema. */
export interface ProcedureBuilders<S extends Schema> {
  /** Reads: a read-only snapshot; may be retried and watched. */
  readonly query: ProcedureBuilder<S, Start<"query">>;
  /** Writes: commits when the handler returns, rolls back when it throws. */
  readonly mutation: ProcedureBuilder<S, Start<"mutation">>;
  /** Not callable from outside: for the scheduler, crons and workflows. */
  readonly internal: ProcedureBuilder<S, Start<"internal">>;
}

/**
 * Creates the application's procedure builders. Called once, in its `runtime.ts`.
 *
 * @example
 * export const procedure = createSvcProcedureBuilders<typeof schema>();
 */
export function createSvcProcedureBuilders<S extends Schema = Schema>(): ProcedureBuilders<S> {
  const start = <K extends ProcedureKind>(kind: K) => new ProcedureBuilder<S, Start<K>>({ ...noSteps, name: "", kind });
  return { query: start("query"), mutation: start("mutation"), internal: start("internal") };
}
