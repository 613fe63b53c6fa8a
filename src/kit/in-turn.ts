/**
 * Serializes the statements of one connection. A handler may run several at once, and the driver's next major version
 * will no longer queue them. Called by `src/postgres/pools.ts`; pipelined connections do not need it.
 */
import type pg from "pg";

export type Query = (...values: unknown[]) => Promise<unknown>;

/** Whether a call has a callback or a cursor, and so no promise. */
export const hasNoPromise = (values: unknown[]): boolean =>
  typeof values.at(-1) === "function" || typeof (values[0] as { submit?: unknown } | null)?.submit === "function";

/** Makes each statement wait for the previous one. Statements with a callback or a cursor are left alone. */
export function serializeQueries(client: pg.ClientBase): void {
  const query = client.query.bind(client) as unknown as Query;
  let last: Promise<void> | undefined;
  const inTurn: Query = async (...values) => {
    const before = last;
    // A separate promise, not the returned one: a second `await` on that would remove the caller's lines from an error's stack.
    const { promise: over, resolve } = Promise.withResolvers<void>();
    last = over;
    if (before) await before;
    try {
      return await query(...values);
    } finally {
      if (last === over) last = undefined;
      resolve();
    }
  };
  const send: Query = (...values) => (hasNoPromise(values) ? query(...values) : inTurn(...values));
  client.query = send as unknown as typeof client.query;
}
