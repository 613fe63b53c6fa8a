/**
 * Channels: messages between those who are somewhere now, and who is there. Nothing is stored, unless a channel is `durable`.
 * Next hop: `src/realtime/channels.ts` runs them, `src/server/realtime-calls.ts` asks `join`.
 */
import type { StandardSchemaV1 } from "@standard-schema/spec";
import { z } from "zod";
import { DefinitionError } from "../kit/definition-error.ts";
import { type Duration, milliseconds } from "../kit/duration.ts";
import { boolean, callable, checkOptions, integer, must, type ShapeOf } from "../kit/options.ts";
import { isSchema, kindOf } from "../kit/v.ts";
import type { Channel, ChannelMessages } from "./channel-definition.ts";
import type { Context } from "./context.ts";
import type { Schema } from "./database.ts";
import { definedAt } from "./defined-at.ts";

/** How long and how many messages of a channel are stored. */
export interface DurableOptions {
  /** From a minute to a year, such as "7 days"; milliseconds as a number. */
  keep: Duration;
  /** The newest ones of each channel, at most 10,000. (Default: 1000) */
  max?: number | undefined;
}

export interface ChannelOptions<
  I extends StandardSchemaV1,
  M extends ChannelMessages,
  N extends ChannelMessages,
  P extends StandardSchemaV1,
  S extends Schema = Schema,
  D extends DurableOptions | undefined = DurableOptions | undefined,
> {
  /** Which channel of this kind it is, such as `z.object({ id: z.uuid() })`. */
  input: I;
  /**
   * Whether the caller may be in the channel: `true` and nothing else lets them in. It reads as the caller, in a read-only
   * transaction. It runs again when what it read has changed, and at least every five minutes.
   */
  join: (call: { context: Context<S>; input: StandardSchemaV1.InferOutput<I> }) => boolean | Promise<boolean>;
  /** What members may send, and handlers too. (Default: nothing) */
  messages?: M | undefined;
  /** What handlers alone may send, by `ctx.realtime.send`. (Default: nothing) */
  notices?: N | undefined;
  /** What a member shows to the others. (Default: nobody learns who is there) */
  presence?: P | undefined;
  /** Stores messages, for those who join later or come back. (Default: nothing is stored) */
  durable?: D | undefined;
  /** Whether `join` is asked for callers who are not signed in. (Default: they get UNAUTHORIZED) */
  allowAnonymous?: boolean | undefined;
}

type Inputs<M extends ChannelMessages> = { [K in keyof M]: StandardSchemaV1.InferInput<M[K]> };
type Outputs<M extends ChannelMessages> = { [K in keyof M]: StandardSchemaV1.InferOutput<M[K]> };

const schema = () => z.custom<StandardSchemaV1>(isSchema, must("a Standard Schema, such as z.object({ … })"));
const event = z.string().regex(/^[A-Za-z_]\w{0,63}$/, must("a name of letters, digits and _"));
const messages = () => z.record(event, schema()).default({});

const year = milliseconds("365 days");
const span = must('a duration from "1 minute" to "365 days". Store in a table of yours what has to stay for longer');
const durable = z.strictObject({
  keep: z.custom<Duration>((given) => {
    try {
      const kept = milliseconds(given as Duration);
      return kept >= 60_000 && kept <= year;
    } catch {
      return false;
    }
  }, span),
  max: integer(
    1,
    10_000,
    "a whole number from 1 to 10000: the newest messages of each channel. Store more of them in a table of yours",
  ).default(1_000),
} satisfies ShapeOf<DurableOptions>);

type AnyOptions = ChannelOptions<StandardSchemaV1, ChannelMessages, ChannelMessages, StandardSchemaV1>;

const options = z.strictObject({
  input: schema(),
  join: callable<AnyOptions["join"]>(),
  messages: messages(),
  notices: messages(),
  presence: schema().optional(),
  durable: durable.transform(({ keep, max }) => ({ keep: milliseconds(keep), max })).optional(),
  allowAnonymous: boolean().default(false),
} satisfies ShapeOf<AnyOptions>);

/** The function `channel`, with the types of a schema in `context.db`. */
export type ChannelBuilder<S extends Schema> = <
  I extends StandardSchemaV1,
  // biome-ignore lint/complexity/noBannedTypes: without messages there is no name
  M extends ChannelMessages = {},
  // biome-ignore lint/complexity/noBannedTypes: the same
  N extends ChannelMessages = {},
  P extends StandardSchemaV1 = StandardSchemaV1<null>,
  D extends DurableOptions | undefined = undefined,
>(
  name: string,
  options: ChannelOptions<I, M, N, P, S, D>,
) => Channel<{
  input: StandardSchemaV1.InferInput<I>;
  sent: Inputs<M>;
  told: Inputs<M> & Inputs<N>;
  heard: Outputs<M> & Outputs<N>;
  shown: StandardSchemaV1.InferInput<P>;
  seen: StandardSchemaV1.InferOutput<P>;
  stored: D extends DurableOptions ? true : false;
}>;

/**
 * Defines a channel.
 *
 * @param name as of a procedure, such as "rooms.talk"
 * @throws DefinitionError for invalid options, such as a missing `join`
 * @example
 * export const talk = channel("rooms.talk", {
 *   input: z.object({ id: z.uuid() }),
 *   join: async ({ context, input }) => (await context.db.$count(rooms, eq(rooms.id, input.id))) === 1,
 *   messages: { typing: z.object({}) },
 * });
 */
export const channel: ChannelBuilder<Schema> = (name, given) => {
  if (typeof name !== "string" || !/^[A-Za-z_]\w*(\.[A-Za-z_]\w*)*$/.test(name) || name.length > 128) {
    const given = typeof name === "string" ? JSON.stringify(name) : kindOf(name);
    throw new DefinitionError(`The name of a channel comes first, and cannot be ${given}.`, {
      hint: 'Use words of letters from a to z, digits and _ joined by dots, such as "rooms.talk"; at most 128 characters.',
    });
  }
  const {
    allowAnonymous: anonymous,
    presence = null,
    durable = null,
    ...rest
  } = checkOptions(`The channel "${name}"`, options, given);
  const twice = Object.keys(rest.messages).find((key) => key in rest.notices);
  if (twice) {
    throw new DefinitionError(`The channel "${name}" has "${twice}" among messages and notices.`, {
      hint: "Handlers may send messages too. Leave it out of notices, or out of messages if members must not send it.",
    });
  }
  return {
    "~svc": { channel: { name, ...rest, presence, durable, anonymous, ...definedAt(anonymous, name, channel) } },
  };
};
