/**
 * Custom HTTP routes, for webhooks, feeds and other requests that are not procedure calls.
 * Next hop: `src/server/routes.ts` mounts them, `src/call/invoke.ts` runs them.
 */
import type { StandardSchemaV1 } from "@standard-schema/spec";
import { DefinitionError } from "../kit/definition-error.ts";
import { didYouMean } from "../kit/nearest.ts";
import type { SvcError } from "../kit/svc-error.ts";
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
import type { Schema } from "./database.ts";
import { type DefinedAt, definedAt } from "./defined-at.ts";
import { type Call, type Middleware, middlewareLayer } from "./middleware.ts";
import type { SvcRequest } from "./request.ts";

type Verb = "get" | "post" | "put" | "delete" | "patch";

/** The result of a route's handler. */
export interface RouteResult<Body = unknown> {
  /** (Default: 200) A status of 400 or more also rolls the call's transaction back. */
  status?: number;
  /** A list is sent as one header per item; two cookies in `set-cookie` need that. */
  headers?: Record<string, string | string[]>;
  /**
   * Objects are sent as JSON, strings as text. `Uint8Array`, `ReadableStream` and async iterables are sent unchanged.
   * (Default: empty)
   */
  body?: Body;
}

const members = ["status", "headers", "body"];

/**
 * Fills in the defaults of a result, so that outer middleware sees a complete one. The compiler does not refuse other members of
 * an object that a function returns: a misspelt one would be an answer without it.
 *
 * @throws Error for what is no result
 */
export function complete(result: unknown): Required<Pick<RouteResult, "status" | "headers">> & RouteResult {
  const of = Object(result ?? {});
  if (of !== (result ?? of) || of instanceof Response || Symbol.iterator in of || Symbol.asyncIterator in of) {
    const what = typeof result === "object" ? (of.constructor?.name ?? "stream") : typeof result;
    throw new Error(`A route returned a ${what}. Return an object with status, headers and body, as far as needed.`);
  }
  const unknown = Object.keys(result ?? {}).find((name) => !members.includes(name));
  if (unknown !== undefined) throw new Error(`A route returned "${unknown}". ${didYouMean(unknown, members)}`);
  const { status = 200, headers = {}, body } = Object(result ?? {}) as RouteResult;
  return { status, headers: { ...headers }, body };
}

/** The definition of a route, for the runtime. */
export interface RouteDefinition extends StepState {
  verb: Verb;
  path: string;
  /** Set if it is anonymous. */
  definedAt?: DefinedAt;
  /** Runs middleware, input validation and handler. */
  run: (call: Call) => Promise<unknown>;
  errors?: RouteErrors | undefined;
}

/**
 * Turns an error into the answer of a route, after everything was rolled back.
 *
 * @returns undefined for the usual answer
 */
export type RouteErrors = (
  error: SvcError,
  request: SvcRequest,
) => RouteResult | undefined | Promise<RouteResult | undefined>;

/** A finished route, to be registered under `httpRoutes` of `defineApi`. */
export interface HttpRoute {
  readonly "~svc": { readonly route: RouteDefinition };
}

/** `"/api/hello/:name"` gives `{ name: string }`. */
export type PathParams<Path extends string> = Path extends `${string}:${infer Rest}`
  ? Rest extends `${infer Name}/${infer Tail}`
    ? { [K in Name]: string } & PathParams<Tail>
    : { [K in Rest]: string }
  : Record<never, string>;

interface RouteTypes {
  path: string;
  parsed: unknown;
  returns: unknown;
  adds: object;
}

type With<T extends RouteTypes, Change> = Omit<T, keyof Change> & Change extends infer R extends RouteTypes ? R : never;

type State = BuilderState & Pick<RouteDefinition, "verb" | "path" | "errors">;

/**
 * Collects a route step by step; each call returns a new builder.
 *
 * @example
 * export const hello = httpRoute.get.path("/api/hello/:name").allowAnonymous()
 *   .handler(({ request }) => ({ body: { hello: request.params.name } }));
 */
export class HttpRouteBuilder<S extends Schema, T extends RouteTypes> {
  readonly "~state": State;

  constructor(state: State) {
    this["~state"] = state;
  }

  /** The URL path, with named parameters such as `/api/notes/:id`. Required. */
  path<const P extends string>(path: P): HttpRouteBuilder<S, With<T, { path: P }>> {
    if (!/^\/([\w.~-]+|:[A-Za-z_]\w*)(\/([\w.~-]+|:[A-Za-z_]\w*))*$/.test(path)) {
      throw new DefinitionError(`"${path}" cannot be the path of a route.`, {
        hint: 'Start with "/", and make each segment plain text or a parameter such as ":id".',
      });
    }
    const twice = path.match(/:\w+/g)?.find((name, index, all) => all.indexOf(name) < index);
    if (twice) {
      throw new DefinitionError(`"${path}" has two parameters "${twice}".`, {
        hint: "Give one of them another name: request.params holds one value for each.",
      });
    }
    return new HttpRouteBuilder({ ...this["~state"], path });
  }

  /** Allows callers who are not signed in. (Default: they get 401) */
  allowAnonymous(): HttpRouteBuilder<S, T> {
    return new HttpRouteBuilder({ ...this["~state"], anonymous: true });
  }

  /** Lets API keys with this scope call it, as `.scope()` of a procedure. (Default: only keys with `"*"` may) */
  scope(scope: string): HttpRouteBuilder<S, T> {
    return new HttpRouteBuilder(withScope(this["~state"], this.#whose, scope));
  }

  /** Adds a middleware around everything that is declared after it. */
  use<Adds extends object = object>(
    middleware: Middleware<Adds>,
  ): HttpRouteBuilder<S, With<T, { adds: T["adds"] & Adds }>> {
    requireFunction(this.#whose, "use", middleware);
    const layer = middlewareLayer(middleware);
    return new HttpRouteBuilder(withLayer(this["~state"], async (call, next) => complete(await layer(call, next))));
  }

  /** Validates the input at this point of the chain: the query of GET and DELETE (strings), otherwise the JSON body. */
  input<I extends StandardSchemaV1>(
    schema: I,
  ): HttpRouteBuilder<S, With<T, { parsed: StandardSchemaV1.InferOutput<I> }>> {
    return new HttpRouteBuilder(withInput(this["~state"], this.#whose, schema));
  }

  /** Validates the final body, unless the status is 400 or more. An invalid body is a 500. */
  output<O extends StandardSchemaV1>(
    schema: O,
  ): HttpRouteBuilder<S, With<T, { returns: StandardSchemaV1.InferInput<O> }>> {
    return new HttpRouteBuilder(withOutput(this["~state"], this.#whose, schema));
  }

  /**
   * Answers errors in a form of your own: every SvcError of the call, such as 401 without a session, invalid input, and
   * what PostgreSQL refused. Only the last one counts.
   *
   * @example
   * const route = httpRoute.post.errors(({ status, message }) => ({ status, body: { errors: { body: [message] } } }));
   */
  errors(errors: RouteErrors): HttpRouteBuilder<S, T> {
    requireFunction(this.#whose, "errors", errors);
    return new HttpRouteBuilder({ ...this["~state"], errors });
  }

  /** Finishes the route. */
  handler(
    handler: (call: {
      context: Context<S> & T["adds"];
      input: T["parsed"];
      request: SvcRequest<PathParams<T["path"]>>;
    }) => Returned<T["returns"]> | Promise<Returned<T["returns"]>>,
  ): HttpRoute {
    const { verb, path, anonymous, scope, input, output, layers, errors } = this["~state"];
    if (!path) throw new DefinitionError(`A ${verb} route has no path.`, { hint: 'Call .path("/api/…") on it first.' });
    requireFunction(this.#whose, "handler", handler);
    const run = compose(layers, async (call) => complete(await handler(call as never)));
    const place = definedAt(anonymous, `${verb} ${path}`, this.handler);
    return { "~svc": { route: { verb, path, anonymous, scope, input, output, run, errors, ...place } } };
  }

  get #whose(): string {
    return `The route ${this["~state"].path}`;
  }
}

/** With `.output()`, a body of another shape is allowed if the status is an error. */
type Returned<Body> = unknown extends Body ? RouteResult : RouteResult<Body> | (RouteResult & { status: number });

/** The builders of routes, one per HTTP method. */
export type HttpRouteBuilders<S extends Schema> = Readonly<
  Record<Verb, HttpRouteBuilder<S, { path: string; parsed: unknown; returns: unknown; adds: object }>>
>;

/**
 * Creates the application's route builders. Called once, in its `runtime.ts`.
 *
 * @param options.errors the `.errors()` of every route that has none of its own. (Default: the usual form of errors)
 * @example
 * export const httpRoute = createSvcHttpRouteBuilders<typeof schema>();
 */
export function createSvcHttpRouteBuilders<S extends Schema = Schema>({
  errors,
}: {
  errors?: RouteErrors;
} = {}): HttpRouteBuilders<S> {
  if (errors !== undefined) requireFunction("createSvcHttpRouteBuilders", "errors", errors);
  const start = (verb: Verb) => new HttpRouteBuilder<S, RouteTypes>({ ...noSteps, verb, path: "", errors });
  return { get: start("get"), post: start("post"), put: start("put"), delete: start("delete"), patch: start("patch") };
}
