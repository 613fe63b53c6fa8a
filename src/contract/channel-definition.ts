/**
 * What `channel()` makes: for the runtime, for handlers that send messages, and for the types of clients.
 * Next hop: `channel.ts`.
 */
import type { StandardSchemaV1 } from "@standard-schema/spec";
import { DefinitionError } from "../kit/definition-error.ts";
import type { DefinedAt } from "./defined-at.ts";

/** Schemas of messages, by their names. */
export type ChannelMessages = Readonly<Record<string, StandardSchemaV1>>;

/** The definition of a channel, for the runtime. */
export interface ChannelDefinition {
  name: string;
  input: StandardSchemaV1;
  /** With a context, and the input that it takes. */
  join: (call: { context: never; input: never }) => unknown;
  messages: ChannelMessages;
  notices: ChannelMessages;
  presence: StandardSchemaV1 | null;
  /** Which messages are stored: the age in milliseconds, and the number. */
  durable: { keep: number; max: number } | null;
  anonymous: boolean;
  /** Set if it is anonymous. */
  definedAt?: DefinedAt;
}

/** The types of a channel: what is sent, and what arrives. */
export interface ChannelTypes {
  input: unknown;
  /** What members send, by name. */
  sent: object;
  /** What handlers send. */
  told: object;
  /** What arrives. */
  heard: object;
  shown: unknown;
  seen: unknown;
  /** Whether it is durable. */
  stored: boolean;
}

/** A channel, to be registered under `channels` of `defineApi`. */
export interface Channel<T extends ChannelTypes = ChannelTypes> {
  readonly "~svc": { readonly channel: ChannelDefinition; readonly types?: T };
}

/** Channels by key. The keys are for the reader: clients call a channel by its name. */
export type ChannelBag = Readonly<Record<string, Channel>>;

/** @throws DefinitionError for a value that is not a channel, and for two channels, or a channel and a procedure, with one name */
export function collectChannels(
  bag: Readonly<Record<string, unknown>>,
  procedures: ReadonlyMap<string, unknown>,
): ReadonlyMap<string, ChannelDefinition> {
  const found = new Map<string, ChannelDefinition>();
  for (const [key, value] of Object.entries(bag)) {
    const definition = (value as Partial<Channel> | undefined)?.["~svc"]?.channel;
    if (!definition) {
      throw new DefinitionError(`channels.${key} is not a channel.`, { hint: 'Make it with channel("name", { … }).' });
    }
    const { name } = definition;
    if (found.has(name) || procedures.has(name)) {
      throw new DefinitionError(`${found.has(name) ? "Two channels are" : "A procedure is"} named "${name}", too.`, {
        hint: `Give the channel at channels.${key} another name: clients have both in api.`,
      });
    }
    found.set(name, definition);
  }
  return found;
}
