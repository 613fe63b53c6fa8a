/**
 * The steps that the builders of procedures and routes share. They are checked when they are declared: otherwise each
 * call would fail, or a guarding middleware would be missing.
 * Next hop: `procedure.ts` and `http-route.ts` call these, `middleware.ts` has the layers.
 */
import type { StandardSchemaV1 } from "@standard-schema/spec";
import { DefinitionError } from "../kit/definition-error.ts";
import { isSchema, kindOf } from "../kit/v.ts";
import type { Layer } from "./compose.ts";
import { type Call, inputLayer } from "./middleware.ts";

/** What both builders collect, and the definition of a procedure or route keeps. */
export interface StepState {
  anonymous: boolean;
  /** The scope with which an API key may call it. */
  scope?: string | undefined;
  /** The schema of `.input()`, only for the API description; `run` already validates. */
  input?: StandardSchemaV1 | undefined;
  output: StandardSchemaV1 | undefined;
}

export interface BuilderState extends StepState {
  layers: readonly Layer<Call, unknown>[];
  /** Whether `.input()` comes before all middleware. Then its input is known before the call. */
  inputIsFirst?: boolean;
}

export const noSteps: BuilderState = { anonymous: false, layers: [], input: undefined, output: undefined };

/** @param whose such as `The procedure "tasks.add"` @throws DefinitionError */
export function requireFunction(whose: string, step: string, value: unknown): void {
  if (typeof value === "function") return;
  throw new DefinitionError(`${whose}: .${step}() takes a function, and got ${kindOf(value)}.`, {
    hint: "Look for a circular import: a value imported in a circle is undefined here.",
  });
}

function requireSchema(whose: string, step: string, value: unknown): void {
  if (isSchema(value)) return;
  throw new DefinitionError(`${whose}: .${step}() takes a Standard Schema, and got ${kindOf(value)}.`, {
    hint: "Write v.object({ … }), or a schema of zod, valibot or arktype.",
  });
}

/** The state after `.scope()`. Whether `defineAuth` declares it is known when a service starts. */
export function withScope<S extends BuilderState>(state: S, whose: string, scope: string): S {
  if (typeof scope === "string" && scope !== "") return { ...state, scope };
  throw new DefinitionError(`${whose}: .scope() takes the name of a scope, and got ${kindOf(scope)}.`, {
    hint: 'Name one of apiKeys.scopes of defineAuth, such as .scope("tickets:write").',
  });
}

/** The state after `.use()`. @param layer made of the middleware */
export function withLayer<S extends BuilderState>(state: S, layer: Layer<Call, unknown>): S {
  return { ...state, layers: [...state.layers, layer] };
}

/** The state after `.input()`. */
export function withInput<S extends BuilderState>(state: S, whose: string, input: StandardSchemaV1): S {
  if (state.input) {
    throw new DefinitionError(`${whose} declares .input() twice.`, { hint: "Join the two schemas into one." });
  }
  requireSchema(whose, "input", input);
  return { ...withLayer(state, inputLayer(input)), input, inputIsFirst: state.layers.length === 0 };
}

/** The state after `.output()`. */
export function withOutput<S extends BuilderState>(state: S, whose: string, output: StandardSchemaV1): S {
  requireSchema(whose, "output", output);
  return { ...state, output };
}
