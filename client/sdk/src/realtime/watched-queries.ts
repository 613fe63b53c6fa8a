/**
 * The watched queries of a client: one for all watchers of the same query, fetched again when another user signs in.
 * Next hop: `watched-query.ts`.
 */
import type { AuthClient } from "../auth/create-auth-client.ts";
import { onOtherUser } from "../authorized.ts";
import { fromBody, toBody } from "../body.ts";
import { operationKey } from "../key.ts";
import type { Operation, Query } from "../operation.ts";
import { withDeadline, withRetries } from "../patience.ts";
import type { Connection } from "./connection.ts";
import { WatchedQuery } from "./watched-query.ts";
import type { Seen } from "./watching.ts";

interface WatchedQueriesOptions {
  connection: Connection;
  auth: AuthClient | undefined;
  /** The timeout of each fetch with all its tries. */
  timeoutMs: number;
  /** Sends a body with the caller's credentials. */
  send: (body: string | FormData, operation: Operation, signal: AbortSignal) => Promise<unknown>;
}

export class WatchedQueries {
  readonly #options: WatchedQueriesOptions;
  readonly #queries = new Map<string, WatchedQuery>();
  #stopFollowing: (() => void) | undefined;

  constructor(options: WatchedQueriesOptions) {
    this.#options = options;
  }

  /** The existing watched query, or a new one. */
  of(operation: Query, args: unknown): WatchedQuery {
    const key = operationKey(operation, args);
    const known = this.#queries.get(key);
    if (known) return known;
    // Until `close`, and again from the next query on: another user must not get what the one before saw.
    this.#stopFollowing ??= onOtherUser(this.#options.auth, () => {
      for (const query of [...this.#queries.values()]) query.reset();
    });
    const query = new WatchedQuery({
      key,
      connection: this.#options.connection,
      fetch: (signal, retries) => this.#fetch(operation, args, signal, retries),
      decode: ({ result, data }) => (result === undefined ? data : fromBody(result, operation)),
      unused: () => this.#queries.delete(key),
    });
    this.#queries.set(key, query);
    return query;
  }

  close(): void {
    for (const query of [...this.#queries.values()]) query.end();
    this.#options.connection.close();
    this.#stopFollowing?.();
    this.#stopFollowing = undefined;
  }

  #fetch(operation: Query, args: unknown, aborted: AbortSignal, retries: number): Promise<Seen> {
    const { timeoutMs, send } = this.#options;
    return withDeadline(timeoutMs, aborted, (signal) =>
      withRetries(retries, signal, async () => {
        const answer = await send(toBody(operation.name, args, true), operation, signal);
        const { snapshot = null, follows = null } = Object(answer) as Partial<Seen>;
        return { result: fromBody(answer, operation), snapshot, follows };
      }),
    );
  }
}
