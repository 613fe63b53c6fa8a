/** The types of the client that `createSvcClient` makes. */
import type { AggregateInput, AggregateOutput, AggregateQuery, GroupBy, Measures } from "./aggregate.ts";
import type { AuthClient } from "./auth/create-auth-client.ts";
import type { ArgumentsOf, Plain } from "./call-arguments.ts";
import type { InputOf, Mutation, Operation, Operations, OutputOf, Query } from "./operation.ts";
import type { RealtimeStatus } from "./realtime/connection.ts";
import type { Asking } from "./realtime/watching.ts";
import type {
  IncludeOf,
  OnlyKnown,
  Resource,
  ResourceInput,
  ResourceOutput,
  ResourceQuery,
  SelectOf,
} from "./related.ts";
import type { RouteInit } from "./request.ts";
import type { UploadOptions } from "./upload.ts";

export interface SvcClientOptions<Api extends Operations = Operations> {
  /** The generated references; available as `client.api`. */
  api: Api;
  /** The service's origin, for example https://api.example.com; "" is the page's own. */
  baseUrl: string;
  /** The credentials of calls. (Default: none) */
  auth?: AuthClient | undefined;
  /** In place of `auth`, for a program: an API key of a user or a service account. Not for pages, whose visitors can read it. (Default: none) */
  apiKey?: string;
  /** In milliseconds, for each call with all its tries. (Default: 30000) */
  timeoutMs?: number | undefined;
  /** (Default: the global one) */
  fetch?: typeof globalThis.fetch | undefined;
  /** Also that of the package `ws`. (Default: the global one; without one, watched queries are called every four seconds) */
  WebSocket?: (new (url: string) => Pick<WebSocket, "readyState" | "send" | "close">) | undefined;
}

export interface CallOptions {
  /** Ends the call; it then rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
  /** In milliseconds, with all tries. (Default: the client's) */
  timeoutMs?: number | undefined;
}

export interface QueryOptions extends CallOptions {
  /** Retries, if there was no answer or the service is busy. (Default: 2) */
  retries?: number | undefined;
}

export interface MutationOptions extends CallOptions {
  /**
   * Retries, if there was no answer or the service is busy. The call has an idempotency key, so it is saved once. It needs a
   * session, and arguments without files. (Default: 0)
   */
  retries?: number | undefined;
  /**
   * The key, for a call that you send again yourself, such as after a restart: 1 to 128 visible ASCII characters. (Default:
   * with `retries`, a new one)
   */
  idempotencyKey?: string | undefined;
}

/** Arguments are optional if the operation allows it. */
type Arguments<O extends Operation, Options> =
  undefined extends InputOf<O> ? [args?: ArgumentsOf<O>, options?: Options] : [args: ArgumentsOf<O>, options?: Options];

export interface SvcClient<Api extends Operations = Operations> {
  readonly api: Api;
  /** As given; undefined for a client with an API key. */
  readonly auth: AuthClient | undefined;
  /**
   * Calls a query. Retried automatically if there was no answer.
   *
   * @throws SvcError by code; or the signal's reason
   */
  query<Q extends Query>(operation: Q & Plain<Q>, ...rest: Arguments<Q, QueryOptions>): Promise<OutputOf<Q>>;
  query<
    R extends Resource,
    Input,
    Output,
    const I extends IncludeOf<R> = Record<never, never>,
    const S extends SelectOf<R> = SelectOf<R>,
  >(
    operation: ResourceQuery<R, Input, Output> & OnlyKnown<R, I>,
    args: ResourceInput<R, Input, I, S>,
    options?: QueryOptions,
  ): Promise<ResourceOutput<R, Output, I, S>>;
  query<
    R extends Resource,
    Input,
    Output,
    const M extends Measures<Input>,
    const G extends GroupBy<Input> = readonly [],
  >(
    operation: AggregateQuery<R, Input, Output>,
    args: AggregateInput<R, Input, G, M>,
    options?: QueryOptions,
  ): Promise<AggregateOutput<Output, G, M>>;
  // Once more: editors complete arguments by the first signature, and the compiler explains wrong ones by the last.
  query<Q extends Query>(operation: Q, ...rest: Arguments<Q, QueryOptions>): Promise<OutputOf<Q>>;
  /**
   * Calls a mutation. Without `retries` it is never sent twice, except after a 401, which ran nothing: with NETWORK_ERROR,
   * TIMEOUT, INVALID_ANSWER or OUTCOME_UNKNOWN it may have been saved. `File` and `Blob` arguments are uploaded.
   *
   * @throws SvcError by code; or the signal's reason
   */
  mutate<M extends Mutation>(operation: M, ...rest: Arguments<M, MutationOptions>): Promise<OutputOf<M>>;
  /**
   * Calls up to 50 mutations in one transaction, in this order: all of them are saved, or none. Sent once or
   * repeated as by `mutate`.
   *
   * @param calls pairs of a mutation and its arguments; they cannot contain files
   * @returns the results, in the same order
   * @throws SvcError by code, with the `index` of the call that failed; or the signal's reason
   * @example
   * const [list, task] = await client.batch([[api.lists.create, { title: "Home" }], [api.tasks.create, { title: "Water"
   * }]]);
   */
  batch<M extends readonly Mutation[]>(
    calls: readonly [...{ [I in keyof M]: readonly [mutation: M[I], args: InputOf<M[I]>] }],
    options?: MutationOptions,
  ): Promise<{ [I in keyof M]: OutputOf<M[I]> }>;
  /**
   * Calls a query now and after every change of what it reads.
   *
   * @param onResult gets each result; the first one at once if the same query is already watched. What it throws becomes an
   *   unhandled rejection, and watching continues
   * @param onError  gets the error; watching continues. (Default: errors are not reported)
   * @returns a function that ends it
   * @example
   * const stop = client.watch(api.tasks.list, {}, (page) => render(page.data));
   */
  watch<Q extends Query>(
    operation: Q & Plain<Q>,
    args: ArgumentsOf<Q>,
    onResult: (result: OutputOf<Q>) => void,
    onError?: (error: unknown) => void,
  ): () => void;
  watch<
    R extends Resource,
    Input,
    Output,
    const I extends IncludeOf<R> = Record<never, never>,
    const S extends SelectOf<R> = SelectOf<R>,
  >(
    operation: ResourceQuery<R, Input, Output> & OnlyKnown<R, I>,
    args: ResourceInput<R, Input, I, S>,
    onResult: (result: ResourceOutput<R, Output, I, S>) => void,
    onError?: (error: unknown) => void,
  ): () => void;
  watch<
    R extends Resource,
    Input,
    Output,
    const M extends Measures<Input>,
    const G extends GroupBy<Input> = readonly [],
  >(
    operation: AggregateQuery<R, Input, Output>,
    args: AggregateInput<R, Input, G, M>,
    onResult: (result: AggregateOutput<Output, G, M>) => void,
    onError?: (error: unknown) => void,
  ): () => void;
  watch<Q extends Query>(
    operation: Q,
    args: ArgumentsOf<Q>,
    onResult: (result: OutputOf<Q>) => void,
    onError?: (error: unknown) => void,
  ): () => void;
  /** The state of the connection for events, and subscriptions to it. */
  readonly realtime: { getStatus(): RealtimeStatus; subscribe(listener: () => void): () => void };
  /** Ends everything that is watched, and the connection. */
  close(): void;
  /** For the bindings. Runs a query through its existing watchers, so that there is one fetch for all. */
  readonly "~svc": { refetch(operation: Query, args: unknown, asking?: Asking): Promise<unknown> };
  /**
   * Fetches one of the application's own routes with the caller's credentials. Resolves for every status.
   *
   * @param path below the service's origin, for example "/api/hello/ann"
   * @throws SvcError NETWORK_ERROR, TIMEOUT; TypeError for anything but a path
   */
  fetch(path: string, init?: RouteInit): Promise<Response>;
  /**
   * The text of one of the application's own routes in pieces, as it arrives, such as a language model's output.
   * Leaving the loop, or aborting `init.signal`, ends the request and its work in the service. The client's `timeoutMs`
   * applies only until the answer begins.
   *
   * @throws SvcError by code; NETWORK_ERROR if the answer is interrupted; or the signal's reason; TypeError for anything
   * but a path
   * @example
   * for await (const part of client.stream("/api/story")) text += part;
   */
  stream(path: string, init?: RouteInit): AsyncIterable<string>;
  /**
   * Uploads a file of any size as the signed-in user's, in several requests. A disconnect loses only the bytes in
   * transit; the service keeps the received bytes for a day.
   *
   * @returns the storage id
   * @throws TypeError for anything but a File or Blob
   * @throws SvcError by code, NETWORK_ERROR if all retries made no progress; or the signal's reason
   * @example
   * const { id } = await client.upload(file, { onProgress: ({ sent, size }) => show(sent / size) });
   */
  upload(file: Blob, options?: UploadOptions): Promise<{ id: string }>;
  /** Cancels an unfinished upload. @param id from its `onStart` */
  cancelUpload(id: string): Promise<void>;
}
