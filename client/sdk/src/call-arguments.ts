/** What a call of an operation takes, whatever it asks for. */
import type { AggregateInput, AggregateQuery, GroupBy, Measures } from "./aggregate.ts";
import type { InputOf, Operation } from "./operation.ts";
import type { AnyResourceInput, ResourceQuery } from "./related.ts";

/**
 * The arguments of an operation: of a list or get also `select` and `include`, which decide what the result has.
 *
 * @example
 * const wanted: ArgumentsOf<typeof api.tasks.list> = { include: { author: true } };
 */
export type ArgumentsOf<O extends Operation> =
  O extends ResourceQuery<infer R, infer Input>
    ? AnyResourceInput<R, Input>
    : O extends AggregateQuery<infer R, infer Input>
      ? AggregateInput<R, Input, GroupBy<Input>, Measures<Input>>
      : InputOf<O>;

/** never for an operation whose arguments decide the members of its result: it has a signature of its own. */
export type Plain<O extends Operation> = O extends ResourceQuery | AggregateQuery ? never : unknown;
