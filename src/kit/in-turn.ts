/**
 * Statements of one connection, each after the one before: a handler may ask for several at once, and the driver will not
 * keep them in a queue any more from its next major version on. Called by `src/postgres/pools.ts`; pipelined connections need none of
 * it.
 */
import type pg from "pg";

type Query = (...values: unknown[]) => Promise<unknown>;

/**
 * Makes statements that are asked for while another one runs wait for it. Those with a callback or a cursor are left
 * alone.
 */
export function serializeQueries(client: pg.ClientBase): void {
  const query = client.query.bind(client) as unknown as Query;
  let last: Promise<void> | undefined;
  const inTurn: Query = async (...values) => {
    const before = last;
    // Of its own, not what is returned: a promise that two wait for loses the caller's lines in the stack of an error.
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
  const send: Query = (...values) => {
    const isOther =
      typeof values.at(-1) === "function" || typeof (values[0] as { submit?: unknown }).submit === "function";
    return isOther ? query(...values) : inTurn(...values);
  };
  client.query = send as unknown as typeof client.query;
}
