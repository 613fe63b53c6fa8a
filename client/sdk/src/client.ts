/**
 * `createSvcClient`: calls the operations of a backend by their references.
 * Next hop: `request.ts`.
 */
import { type AuthClient, fetchOf } from "./auth/create-auth-client.ts";
import type { Credentials } from "./auth/strategy.ts";
import { fromBatch, fromBody, toBatch, toBody } from "./body.ts";
import { SvcError } from "./error.ts";
import {
  type InputOf,
  type Mutation,
  nameOf,
  type Operation,
  type Operations,
  type OutputOf,
  type Query,
} from "./operation.ts";
import { withDeadline, withRetries } from "./patience.ts";
import { Position } from "./position.ts";
import { Connection, type RealtimeStatus } from "./realtime/connection.ts";
import { WatchedQueries } from "./realtime/watched-queries.ts";
import type { IncludeOf, Resource, ResourceInput, ResourceOutput, ResourceQuery, SelectOf } from "./related.ts";
import { baseOf, failure, type RouteInit, request, type Transport } from "./request.ts";
import { pieces } from "./stream.ts";
import type { UploadOptions } from "./upload.ts";

export interface SvcClientOptions<Api extends Operations = Operations> {
  /** The generated references; available as `client.api`. */
  api: Api;
  /** The service's origin, for example https://api.example.com; "" is the page's own. */
  baseUrl: string;
  /** The credentials of calls. (Default: none) */
  auth?: AuthClient;
  /** In milliseconds, for each call with all its tries. (Default: 30000) */
  timeoutMs?: number;
  /** (Default: the global one) */
  fetch?: typeof globalThis.fetch;
  /** (Default: the global one; without one, watched queries are called every four seconds) */
  WebSocket?: typeof globalThis.WebSocket;
}

export interface CallOptions {
  /** Ends the call; it then rejects with the signal's reason. */
  signal?: AbortSignal;
  /** In milliseconds, with all tries. (Default: the client's) */
  timeoutMs?: number;
}

export interface QueryOptions extends CallOptions {
  /** Retries, if there was no answer or the service is busy. (Default: 2) */
  retries?: number;
}

/** The arguments of a call that gives whole rows. With `select` or `include` the other signature applies. */
type Whole<O extends Operation> = O extends ResourceQuery
  ? InputOf<O> & ({ select?: undefined; include?: undefined } | undefined)
  : InputOf<O>;

/** Arguments are optional if the operation allows it. */
type Arguments<O extends Operation, Options> =
  undefined extends InputOf<O> ? [args?: Whole<O>, options?: Options] : [args: Whole<O>, options?: Options];

export interface SvcClient<Api extends Operations = Operations> {
  readonly api: Api;
  readonly auth: AuthClient | undefined;
  /**
   * Calls a query. Retried automatically if there was no answer.
   *
   * @throws SvcError by code; or the signal's reason
   */
  query<Q extends Query>(operation: Q, ...rest: Arguments<Q, QueryOptions>): Promise<OutputOf<Q>>;
  query<
    R extends Resource,
    Input,
    Output,
    const I extends IncludeOf<R> = Record<never, never>,
    const S extends SelectOf<R> = SelectOf<R>,
  >(
    operation: ResourceQuery<R, Input, Output>,
    args: ResourceInput<R, Input, I, S>,
    options?: QueryOptions,
  ): Promise<ResourceOutput<R, Output, I, S>>;
  /**
   * Calls a mutation. Never sent twice, except after a 401, which ran nothing: with NETWORK_ERROR, TIMEOUT,
   * INVALID_ANSWER or OUTCOME_UNKNOWN it may have been saved. `File` and `Blob` arguments are uploaded.
   *
   * @throws SvcError by code; or the signal's reason
   */
  mutate<M extends Mutation>(operation: M, ...rest: Arguments<M, CallOptions>): Promise<OutputOf<M>>;
  /**
   * Calls up to 50 mutations in one transaction, in this order: all of them are saved, or none. Never sent twice, as
   * `mutate`.
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
    options?: CallOptions,
  ): Promise<{ [I in keyof M]: OutputOf<M[I]> }>;
  /**
   * Calls a query now and after every change of what it reads.
   *
   * @param onResult gets each result; the first one at once if the same query is already watched
   * @param onError  gets the error; watching continues. (Default: errors are not reported)
   * @returns a function that ends it
   * @example
   * const stop = client.watch(api.tasks.list, {}, (page) => render(page.data));
   */
  watch<Q extends Query>(
    operation: Q,
    args: Whole<Q>,
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
    operation: ResourceQuery<R, Input, Output>,
    args: ResourceInput<R, Input, I, S>,
    onResult: (result: ResourceOutput<R, Output, I, S>) => void,
    onError?: (error: unknown) => void,
  ): () => void;
  /** The state of the connection for events, and subscriptions to it. */
  readonly realtime: { getStatus(): RealtimeStatus; subscribe(listener: () => void): () => void };
  /** Ends everything that is watched, and the connection. */
  close(): void;
  /** For the bindings. Runs a query through its existing watchers, so that there is one fetch for all. */
  readonly "~svc": { refetch(operation: Query, args: unknown): Promise<unknown> };
  /**
   * Fetches one of the application's own routes with the caller's credentials. Resolves for every status.
   *
   * @param path below the service's origin, for example "/api/hello/ann"
   * @throws SvcError NETWORK_ERROR, TIMEOUT
   */
  fetch(path: string, init?: RouteInit): Promise<Response>;
  /**
   * The text of one of the application's own routes in pieces, as it arrives, such as a language model's output.
   * Leaving the loop, or aborting `init.signal`, ends the request and its work in the service. The client's `timeoutMs`
   * applies only until the answer begins.
   *
   * @throws SvcError by code; NETWORK_ERROR if the answer is interrupted; or the signal's reason
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

/**
 * Makes a client of a backend.
 *
 * @throws TypeError without a baseUrl
 * @example
 * const client = createSvcClient({ api, baseUrl: "http://localhost:4000", auth });
 * const page = await client.query(api.tasks.list, { limit: 5 });
 */
export function createSvcClient<Api extends Operations>(options: SvcClientOptions<Api>): SvcClient<Api> {
  const { api, auth, timeoutMs = 30_000 } = options;
  const transport: Transport = { baseUrl: baseOf(options.baseUrl), fetch: fetchOf(options) };

  const position = new Position();

  /** Runs with credentials, and once more with fresh ones if they were refused. */
  async function authorized<T>(signal: AbortSignal, run: (credentials: Credentials) => Promise<T>): Promise<T> {
    const credentials = (await auth?.["~svc"].credentials(signal)) ?? {};
    try {
      return await run(credentials);
    } catch (error) {
      const refused = error instanceof SvcError && error.status === 401;
      if (!refused || !auth?.["~svc"].refused(credentials)) throw error;
      return run(await auth["~svc"].credentials(signal));
    }
  }

  async function call(kind: Operation["kind"], operation: Operation, args: unknown, signal: AbortSignal) {
    return fromBody(await send(toBody(nameOf(operation, kind), args), operation, signal), operation);
  }

  async function send(
    body: string | FormData,
    operation: Pick<Operation, "kind">,
    signal: AbortSignal,
    path = `/api/${operation.kind}`,
  ): Promise<unknown> {
    // fetch sets the content type of a form, with its boundary.
    const type: Record<string, string> = typeof body === "string" ? { "content-type": "application/json" } : {};
    const isQuery = operation.kind === "query";
    const { headers: seen, answered } = position.ask();
    let answer: Headers | undefined;
    try {
      return await authorized(signal, (credentials) =>
        request(transport, path, {
          ...credentials,
          headers: { ...type, ...(isQuery && seen), ...credentials.headers },
          body,
          signal,
          answered: (headers) => {
            answer = headers;
          },
        }),
      );
    } finally {
      if (!isQuery) position.changed(answer);
      else if (answer) answered(answer);
    }
  }

  // Signing in and out writes too.
  auth?.subscribe(() => position.forget());
  const connection = new Connection({ transport, auth, WebSocket: options.WebSocket ?? globalThis.WebSocket });
  const watched = new WatchedQueries({ connection, auth, timeoutMs, send });

  const client: SvcClient<Api> = {
    api,
    auth,
    query(operation: Query, args?: unknown, given?: QueryOptions) {
      const { signal, timeoutMs: limit = timeoutMs, retries = 2 } = given ?? {};
      return withDeadline(limit, signal, (both) =>
        withRetries(retries, both, () => call("query", operation, args, both)),
      ) as Promise<never>;
    },
    mutate(operation, ...[args, given]) {
      const { signal, timeoutMs: limit = timeoutMs } = given ?? {};
      return withDeadline(limit, signal, (both) => call("mutation", operation, args, both)) as Promise<never>;
    },
    batch(calls, given) {
      const { signal, timeoutMs: limit = timeoutMs } = given ?? {};
      const sent = calls as readonly (readonly [Mutation, unknown])[];
      return withDeadline(limit, signal, async (both) => {
        const answer = await send(toBatch(sent), { kind: "mutation" }, both, "/api/batch");
        return fromBatch(answer, sent);
      }) as Promise<never>;
    },
    watch(operation: Query, args: unknown, onResult: unknown, onError: (error: unknown) => void = () => {}) {
      nameOf(operation, "query");
      return watched.of(operation, args).watch({ result: onResult as (result: unknown) => void, error: onError });
    },
    realtime: connection,
    close() {
      watched.close();
      auth?.close();
    },
    "~svc": { refetch: (operation, args) => watched.of(operation, args).refetch() },
    fetch(path, init = {}) {
      return withDeadline(timeoutMs, init.signal ?? undefined, async (signal) => {
        const send = async (credentials: Credentials) => {
          const headers = { ...init.headers, ...credentials.headers };
          try {
            return await transport.fetch(transport.baseUrl + path, { ...init, ...credentials, headers, signal });
          } catch (cause) {
            throw failure(signal, cause);
          }
        };
        const credentials = (await auth?.["~svc"].credentials(signal)) ?? {};
        try {
          const response = await send(credentials);
          // A streamed body can be sent only once.
          const repeatable = !(init.body instanceof ReadableStream);
          if (response.status !== 401 || !repeatable || !auth?.["~svc"].refused(credentials)) return response;
          return await send(await auth["~svc"].credentials(signal));
        } finally {
          // It may have changed anything.
          if (init.method && init.method !== "GET") position.forget();
        }
      });
    },
    upload: async (file, given) => (await uploads()).upload(client.fetch, file, given),
    cancelUpload: async (id) => (await uploads()).cancelUpload(client.fetch, id),
    stream: (path, init) => pieces(() => client.fetch(path, init), init?.signal ?? undefined),
  };
  return client;
}

// Most pages upload nothing.
const uploads = () => import("./upload.ts");
