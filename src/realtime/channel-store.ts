/**
 * Messages of durable channels: what is stored, and what a member asks for.
 * Next hop: `sql/realtime/store_messages.sql` and `read_messages.sql`; `channel-member.ts` asks.
 */
import type { ChannelDefinition } from "../contract/channel-definition.ts";
import { SvcError } from "../kit/svc-error.ts";
import type { Body } from "./channel-codec.ts";
import { channelLimits } from "./channel-limits.ts";
import { textFrame } from "./outbox.ts";

/** A message for `svc.store_messages()`. The body is a text: jsonb refuses some strings that JSON has. */
export const storedMessage = (
  { name, durable }: ChannelDefinition,
  topic: string,
  message: string,
  body: Body,
  from?: { id: string; userId: string | null },
) => ({
  ...{ name, topic, message, body: JSON.stringify(body), ...durable },
  ...(from && (from.userId === null ? { visitor: from.id } : { user: from.userId })),
});

/** For a statement. Its argument is the list as JSON, its answer the places of those that were not stored. */
export const storeMessages = { name: "svc_store_messages", text: "select svc.store_messages($1) as refused" };

/** What a member wants to be told of stored messages. */
export interface Recall {
  /** All after this one; null: it has none. */
  after: number | null;
  /** The newest ones, where it has none or misses some that are gone. */
  newest: number;
}

/** Reads messages. Its values are those of `recallValues`. */
export const readMessages = {
  name: "svc_read_messages",
  text: "select pg_current_snapshot()::text as snapshot, svc.read_messages($1, $2, $3, $4) as page",
};

/** In bytes, of a page: a client that takes less misses it, and asks again. */
const ofPage = channelLimits.waiting / 2;

export const recallValues = (topic: string, { after, newest }: Recall): unknown[] => [topic, after, newest, ofPage];

/** A page for a member. @param snapshot the transactions that it saw */
export interface Stored {
  page: string;
  snapshot: string;
}

/** @throws SvcError BAD_REQUEST */
export function recallOf({ after = null, last = 0 }: { after?: unknown; last?: unknown }): Recall {
  const isCount = (value: unknown) => typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
  if ((after === null || isCount(after)) && isCount(last) && Number(last) <= channelLimits.history)
    return { after: after as number | null, newest: last as number };
  throw new SvcError("BAD_REQUEST", "What is asked of a channel's messages is not valid.", {
    hint: `last is a number from 0 to ${channelLimits.history}, after the id of the last message that you have.`,
  });
}

/** @param page as PostgreSQL wrote it */
export const pageFrame = (query: string, page: string): Buffer =>
  textFrame(`{"type":"query:updated","query":${JSON.stringify(query)},"data":{"stored":${page}}}`);
