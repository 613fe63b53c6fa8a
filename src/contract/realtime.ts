/** `ctx.realtime` as handlers see it. `src/realtime/context.ts` implements it. */
import type { Channel, ChannelTypes } from "./channel-definition.ts";

/**
 * The `realtime` of a context. Keys are `tasks.openCount`, or with arguments `tasks.get::{"id":7}`. A key that names
 * anything else is an INTERNAL error.
 */
export interface ContextRealtime {
  /** Subscribers run the query again, each with their own identity. @throws SvcError QUERY_WROTE in a query */
  invalidate(queryKey: string, args?: object): void;
  /**
   * Runs an anonymous query and sends all subscribers its result. Subscribers of other queries run them again. The same
   * applies to subscribers with other arguments if none are given.
   *
   * @throws SvcError QUERY_WROTE in a query
   */
  refresh(queryKey: string, args?: object): void;
  /**
   * Sends data to the subscribers of an anonymous query, or of a scoped list for whose arguments they have a grant. At
   * most 64 KiB.
   *
   * @throws SvcError QUERY_WROTE in a query, INTERNAL for another query that needs a session: its subscribers may see
   *   different data
   */
  emit(queryKey: string, data: unknown): void;
  /**
   * Sends a message to the members of a channel. At most 8 KiB.
   *
   * @param input of the channel, as clients give it
   * @param event a name among its `messages` and `notices`
   * @throws SvcError QUERY_WROTE in a query, VALIDATION_FAILED, PAYLOAD_TOO_LARGE
   * @example
   * context.realtime.send(talk, { id }, "moved", { by: user.id });
   */
  send<T extends ChannelTypes, E extends keyof T["told"] & string>(
    channel: Channel<T>,
    input: T["input"],
    event: E,
    data: T["told"][E],
  ): void;
  /**
   * Removes the stored messages of a durable channel, other than those that the same call sends. Numbers are not used again.
   *
   * @param input of the channel, as clients give it
   * @throws SvcError QUERY_WROTE in a query, VALIDATION_FAILED; INTERNAL for a channel that is not durable
   * @example
   * context.realtime.clear(talk, { id });
   */
  clear<T extends ChannelTypes>(channel: Channel<T>, input: T["input"]): void;
}
