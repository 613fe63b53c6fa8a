/** `createSvcClient`: calls the operations of a backend by their references. Next hop: `request.ts`. */
import { type AuthClient, fetchOf } from "./auth/create-auth-client.ts";
import { fixedCredentials } from "./auth/fixed-credentials.ts";
import { authorized, sameCaller } from "./authorized.ts";
import { fromBatch, fromBody, toBatch, toBody } from "./body.ts";
import { SvcError } from "./error.ts";
import { type Mutation, nameOf, type Operation, type Operations, type Query } from "./operation.ts";
import { withDeadline, withRetries } from "./patience.ts";
import { Position } from "./position.ts";
import { Connection } from "./realtime/connection.ts";
import { WatchedQueries } from "./realtime/watched-queries.ts";
import { baseOf, failure, type RouteInit, request, type Transport, urlOf } from "./request.ts";
import { pieces } from "./stream.ts";
import type { MutationOptions, QueryOptions, SvcClient, SvcClientOptions } from "./svc-client.ts";
import { cancelUpload, upload } from "./upload.ts";

/**
 * Makes a client of a backend.
 *
 * @throws TypeError for a baseUrl that is neither an address of HTTP, nor a path, nor "", for an `apiKey` that is no text, or
 *   with `auth`
 * @example
 * const client = createSvcClient({ api, baseUrl: "http://localhost:4000", auth });
 * const page = await client.query(api.tasks.list, { limit: 5 });
 */
export function createSvcClient<Api extends Operations>(options: SvcClientOptions<Api>): SvcClient<Api> {
  const { api, timeoutMs = 30_000 } = options;
  const auth = credentialsOf(options);
  const transport: Transport = { baseUrl: baseOf(options.baseUrl), fetch: fetchOf(options) };

  const position = new Position();

  const call = async (
    kind: Operation["kind"],
    operation: Operation,
    args: unknown,
    signal: AbortSignal,
    key?: string,
  ) => fromBody(await send(toBody(nameOf(operation, kind), args), operation, signal, key), operation);

  async function send(
    body: string | FormData,
    operation: Pick<Operation, "kind">,
    signal: AbortSignal,
    key?: string,
    path = `/api/${operation.kind}`,
  ): Promise<unknown> {
    const isQuery = operation.kind === "query";
    const { headers: seen, answered } = position.ask();
    let answer: Headers | undefined;
    try {
      return await authorized(auth, signal, (credentials) =>
        request(transport, path, {
          ...credentials,
          headers: {
            // fetch sets the content type of a form, with its boundary.
            ...(typeof body === "string" && { "content-type": "application/json" }),
            ...(key !== undefined && { "idempotency-key": key }),
            ...(isQuery && seen),
            ...credentials.headers,
          },
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

  /** Runs a call with all its tries. @param often it is retried by default @param run gets one key for all tries */
  function tried(
    given: MutationOptions = {},
    often: number,
    run: (signal: AbortSignal, key?: string) => Promise<unknown>,
  ) {
    const { signal, timeoutMs: limit = timeoutMs, retries = often, idempotencyKey } = given;
    // Only the user's own calls must have other keys. React Native has no `crypto`.
    const key = idempotencyKey ?? (retries ? `${Math.random()}${Math.random()}` : undefined);
    const requireCaller = sameCaller(auth);
    return withDeadline(limit, signal, (both) =>
      withRetries(retries, both, async () => {
        requireCaller();
        return run(both, key);
      }),
    ) as Promise<never>;
  }

  // Signing in and out writes too.
  auth?.subscribe(() => position.forget());
  const Socket = (options.WebSocket ?? globalThis.WebSocket) as typeof WebSocket | undefined;
  const connection = new Connection({ transport, auth, WebSocket: Socket });
  const watched = new WatchedQueries({ connection, auth, timeoutMs, send });

  const client: SvcClient<Api> = {
    api,
    auth: options.auth,
    query(operation: Query, args?: unknown, given?: QueryOptions) {
      return tried(given, 2, (signal) => call("query", operation, args, signal));
    },
    mutate(operation, ...[args, given]) {
      return tried(given, 0, (signal, key) => call("mutation", operation, args, signal, key));
    },
    batch(calls, given) {
      const sent = calls as readonly (readonly [Mutation, unknown])[];
      return tried(given, 0, async (signal, key) => {
        const answer = await send(toBatch(sent), { kind: "mutation" }, signal, key, "/api/batch");
        return fromBatch(answer, sent);
      });
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
    "~svc": { refetch: (operation, args, asking) => watched.of(operation, args).refetch(asking) },
    fetch(path, init = {}) {
      return withDeadline(timeoutMs, init.signal ?? undefined, async (signal) => {
        const url = urlOf(transport, path);
        // A streamed body can be sent only once.
        const repeatable = !(init.body as Partial<ReadableStream> | null | undefined)?.getReader;
        let refused: Response | undefined;
        try {
          return await authorized(auth, signal, async (credentials) => {
            const headers = { ...init.headers, ...credentials.headers };
            const sent = transport.fetch(url, { ...init, ...credentials, headers, signal });
            const response = await sent.catch((cause) => {
              throw failure(signal, cause);
            });
            if (response.status !== 401 || !repeatable) return response;
            refused = response;
            throw new SvcError("UNAUTHORIZED", "");
          });
        } catch (error) {
          if (refused && (error as Partial<SvcError>).code === "UNAUTHORIZED") return refused;
          throw error;
        } finally {
          // It may have changed anything.
          if (init.method && init.method !== "GET") position.forget();
        }
      });
    },
    upload(file, given = {}) {
      const requireCaller = sameCaller(auth); // it takes many requests
      const fetch = (path: string, init: RouteInit) => {
        requireCaller();
        return client.fetch(path, init);
      };
      return withDeadline(Infinity, given.signal, (signal) => upload(fetch, file, given, signal));
    },
    cancelUpload: (id) => cancelUpload(client.fetch, id),
    stream: (path, init) => pieces(() => client.fetch(path, init), init?.signal ?? undefined),
  };
  return client;
}

function credentialsOf(options: Pick<SvcClientOptions, "auth" | "apiKey">): AuthClient | undefined {
  if (!("apiKey" in options)) return options.auth;
  const { auth, apiKey } = options;
  if (auth) throw new TypeError("createSvcClient takes auth or apiKey, not both.");
  // A variable of the environment that is not set must not make every call an anonymous one.
  if (typeof apiKey !== "string" || !/^[\x21-\x7e]+$/.test(apiKey)) {
    throw new TypeError("apiKey is not the text of an API key. Is the variable that has it set?");
  }
  return fixedCredentials({ authorization: `Bearer ${apiKey}` });
}
