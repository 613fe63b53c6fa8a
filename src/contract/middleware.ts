/**
 * Middleware as authors write it, and the layers it becomes. Procedures and routes share all of this.
 *
 * The rules (spec, "Middleware rules"): declared order is onion order; `next({ context, input })` overrides what the
 * inner steps see; a schema is a step at the place where it was declared; invalid input ends the call with 400.
 * Next hop: `compose.ts`.
 */
import type { StandardSchemaV1 } from "@standard-schema/spec";
import { isJson } from "../kit/media-type.ts";
import { runSchema } from "../kit/run-schema.ts";
import { type Issue, mostIssues, SvcError } from "../kit/svc-error.ts";
import type { Layer } from "./compose.ts";
import type { Context } from "./context.ts";
import type { SvcRequest } from "./request.ts";

/** The arguments of a middleware. `Adds` is the type that it adds to the context of the inner steps. */
export interface MiddlewareCall<Adds extends object = object> {
  context: Context;
  /** The input at this point of the chain: raw before `.input()`, validated after it. */
  input: unknown;
  /** The HTTP request; only in routes. */
  request?: SvcRequest;
  /** Runs the inner steps once and returns their result: a procedure's output, or a route's `{ status, headers, body }`. */
  next(change?: { context?: Partial<Context> & Adds; input?: unknown }): Promise<unknown>;
}

/**
 * A step around the handler. Its return value is the result of the call. If it does not call `next`, the handler does
 * not run.
 *
 * @example
 * const timed: Middleware = async ({ context, next }) => {
 *   const started = performance.now();
 *   const result = await next();
 *   context.log.info({ ms: performance.now() - started }, "timed");
 *   return result;
 * };
 */
export type Middleware<Adds extends object = object> = (call: MiddlewareCall<Adds>) => unknown;

/** The state that passes through the chain. A failed `.input()` sets `refusal`, which alone decides the outcome. */
export interface Call {
  context: Context;
  input: unknown;
  request?: SvcRequest;
  outcome: { refusal?: SvcError };
}

/** The 400 that a middleware before `.input()` gets as the result of `next()`. It can read it but not replace it. */
export interface InputRefusal {
  status: 400;
  headers: Record<string, string>;
  body: { error: string; code: string; issues: Issue[] };
}

/** Converts a middleware to a layer. */
export function middlewareLayer(middleware: Middleware<never>): Layer<Call, unknown> {
  return async (call, next) =>
    middleware({
      context: call.context,
      input: call.input,
      ...(call.request && { request: call.request }),
      next: (change?: { context?: object; input?: unknown }) =>
        next({
          ...(change && "input" in change && { input: change.input }),
          ...(change?.context && { context: extend(call.context, change.context) }),
        }),
    });
}

/** Converts an input schema to a layer: the inner layers get validated input; invalid input ends the call. */
export function inputLayer(schema: StandardSchemaV1): Layer<Call, unknown> {
  return async (call, next) => {
    const checked = await validate(schema, call.input);
    if (!checked.issues) return next({ input: checked.value });

    const hint = call.input === undefined && call.request ? unreadBody(call.request) : undefined;
    const refusal = new SvcError("VALIDATION_FAILED", undefined, { issues: checked.issues, hint });
    call.outcome.refusal = refusal;
    const { message: error, code } = refusal;
    return { status: 400, headers: {}, body: { error, code, issues: checked.issues } } satisfies InputRefusal;
  };
}

/** Bodies with another media type than JSON, such as curl's forms, are left to the raw readers. */
function unreadBody({ headers }: SvcRequest): string | undefined {
  const type = headers["content-type"];
  return type === undefined || isJson(type.split(";", 1)[0]?.trim().toLowerCase() ?? "")
    ? undefined
    : "The body was not read, since its content-type is not JSON. Send content-type: application/json.";
}

/** Validates with a Standard Schema; returns the value, or issues with plain paths. */
export async function validate(
  schema: StandardSchemaV1,
  value: unknown,
): Promise<{ value: unknown; issues?: undefined } | { issues: Issue[] }> {
  // Await only promises: nearly all schemas are synchronous and need no microtask.
  const run = runSchema(schema, value);
  return readResult(run instanceof Promise ? await run : run);
}

/** A schema's result, with plain paths. */
export function readResult(
  result: StandardSchemaV1.Result<unknown>,
): { value: unknown; issues?: undefined } | { issues: Issue[] } {
  if (!result.issues) return { value: result.value };
  return {
    issues: result.issues.slice(0, mostIssues).map(({ path, message }) => ({
      path: (path ?? []).map((part) => plainKey(typeof part === "object" ? part.key : part)),
      message,
    })),
  };
}

const plainKey = (key: PropertyKey): string | number => (typeof key === "symbol" ? String(key) : key);

/**
 * The old context with parts replaced. Lazy members stay lazy: they are getters of the prototype, and descriptors do not trigger
 * getters. The old context is not the prototype itself: V8 keeps what belongs to such an object until its next full collection.
 */
export function extend<C extends object>(context: C, change: object): C {
  const extended = Object.create(Object.getPrototypeOf(context), Object.getOwnPropertyDescriptors(context));
  return Object.defineProperties(extended, Object.getOwnPropertyDescriptors({ ...change }));
}
