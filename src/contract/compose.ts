/**
 * The middleware chain of procedures and routes. The first declared layer is the outermost.
 * Next hop: `middleware.ts` turns middleware and schemas into layers, `src/call/invoke.ts` runs the chain.
 */
import { SvcError } from "../kit/svc-error.ts";

/** Runs the rest of the chain; the given parts replace those of the call. */
type Next<Call, Result> = (change?: Partial<Call>) => Promise<Result>;

/** One layer. It may change the input of the inner layers and the result for the outer ones, or not call `next` at all. */
export type Layer<Call, Result> = (call: Call, next: Next<Call, Result>) => Promise<Result>;

/**
 * Joins layers around a handler.
 *
 * @param layers  outermost first; may be empty
 * @param handler the innermost step
 * @returns a function that runs the chain once per call
 * @throws the error of a layer or the handler; `SvcError` `MIDDLEWARE_REENTERED` if a layer calls `next` twice
 * @example
 * const run = compose([logged, validated], async ({ input }) => double(input));
 * await run({ context, input: 21 }); // 42
 */
export function compose<Call extends object, Result>(
  layers: readonly Layer<Call, Result>[],
  handler: (call: Call) => Promise<Result>,
): (call: Call) => Promise<Result> {
  const enter = (index: number, call: Call): Promise<Result> => {
    const layer = layers[index];
    if (!layer) return handler(call);

    // A second call would run the handler twice: two inserts from one request. Refuse it loudly.
    let entered = false;
    return layer(call, async (change) => {
      if (entered)
        throw new SvcError("MIDDLEWARE_REENTERED", undefined, { cause: "A middleware called next() twice." });
      entered = true;
      return enter(index + 1, change ? { ...call, ...change } : call);
    });
  };
  return (call) => enter(0, call);
}
