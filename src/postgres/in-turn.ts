/**
 * Statements of one connection, each after the one before: a handler may ask for several at once, and the driver will not keep
 * them in a queue any more from its next major version on. Called by `pools.ts`; pipelined connections need none of it.
 */
import type pg from "pg";

type Query = (...values: unknown[]) => Promise<unknown>;

/** Makes statements that are asked for while another one runs wait for it. Those with a callback or a cursor are left alone. */
export function sendInTurn(client: pg.ClientBase): void {
  const query = client.query.bind(client) as unknown as Query;
  let last: Promise<unknown> | undefined;
  const inTurn: Query = (...values) => {
    if (typeof values.at(-1) === "function" || typeof (values[0] as { submit?: unknown }).submit === "function") {
      return query(...values);
    }
    const send = () => query(...values);
    const answer = last ? last.then(send, send) : send();
    const over = () => {
      if (last === answer) last = undefined;
    };
    last = answer;
    answer.then(over, over);
    return answer;
  };
  client.query = inTurn as unknown as typeof client.query;
}
