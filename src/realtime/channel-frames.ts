/**
 * What one connection does in channels: it joins one as it watches a query, sends messages, shows something of itself, and
 * leaves. docs/reference/realtime.md lists the frames.
 * Next hop: `channels.ts`.
 */

import { createHash, randomBytes } from "node:crypto";
import type { ChannelDefinition } from "../contract/channel-definition.ts";
import { requireShallowJson } from "../http/body.ts";
import { jsonIn } from "../kit/json-in.ts";
import { SvcError } from "../kit/svc-error.ts";
import { decode, encodeMessage, encodeState, type Place, topicOf } from "./channel-codec.ts";
import { type ChannelRates, channelLimits } from "./channel-limits.ts";
import { type ChannelSocket, Member } from "./channel-member.ts";
import { recallOf, storedMessage } from "./channel-store.ts";
import type { Channels } from "./channels.ts";
import { errorMembers } from "./outbox.ts";
import { split } from "./subscription-topics.ts";

export interface ChannelServices {
  definitions: ReadonlyMap<string, ChannelDefinition>;
  channels: Channels;
  rates: ChannelRates;
  /** Counts memory for a client's address; negative when it is given back. */
  weigh(socket: ChannelSocket, bytes: number): void;
  hasRoomFor(socket: ChannelSocket): boolean;
}

/** What a client may send about channels. */
export interface ChannelFrame {
  type?: unknown;
  query?: unknown;
  follows?: unknown;
  event?: unknown;
  data?: unknown;
  state?: unknown;
  ref?: unknown;
  after?: unknown;
  last?: unknown;
}

/** In characters, as of a query. */
const maxKey = 4096;
/** In bytes, measured: what a member takes beside its key. */
const perMember = 3_000;

export class ChannelFrames {
  readonly #services: ChannelServices;
  readonly #socket: ChannelSocket;
  readonly #members = new Map<string, Member>();
  #isClosed = false;

  constructor(services: ChannelServices, socket: ChannelSocket) {
    this.#services = services;
    this.#socket = socket;
  }

  /** @returns whether the frame is about a channel */
  handle(frame: ChannelFrame): boolean {
    const { type, query } = frame;
    const key = typeof query === "string" ? query : "";
    const definition = this.#services.definitions.get(split(key).name);
    if (!definition) return false;
    const acts = { subscribe: this.#join, unsubscribe: this.#leave, send: this.#send, track: this.#track };
    if (typeof type !== "string" || !Object.hasOwn(acts, type)) return false;
    const act = acts[type as keyof typeof acts];
    try {
      if (act !== this.#leave) {
        const bytes = Buffer.byteLength(JSON.stringify(frame.data ?? null));
        // Who may not be there must not learn from the limit that others are.
        const member = act === this.#join ? undefined : this.#members.get(key);
        const hearers = member?.isAdmitted ? this.#services.channels.hearers(member.place.topic) : 0;
        this.#services.rates.take(this.#socket, this.#holder, bytes, hearers);
      }
      act.call(this, definition, key, frame);
    } catch (error) {
      this.#fail(key, act === this.#join ? undefined : (frame.ref ?? null), error);
    }
    return true;
  }

  /** The connection is closed. @param wait as in `Channels.remove` */
  close(wait?: number): void {
    this.#isClosed = true;
    for (const key of this.#members.keys()) this.#remove(key, wait);
  }

  get #holder(): string | null {
    return this.#socket.session?.user.id ?? this.#socket.address;
  }

  #join(definition: ChannelDefinition, key: string, frame: ChannelFrame): void {
    const { follows } = frame;
    const { channels, hasRoomFor, rates, weigh } = this.#services;
    if (!definition.anonymous && !this.#socket.session) throw new SvcError("UNAUTHORIZED");
    if (key.length > maxKey) throw new SvcError("BAD_REQUEST", `A channel's key has at most ${maxKey} characters.`);
    const recall = definition.durable ? recallOf(frame) : undefined;
    const known = this.#members.get(key);
    if (known && follows !== undefined && known.secret === follows) {
      // The SDK may ask twice; the answer to the first says that it is there.
      if (known.isAdmitted) this.#socket.tell({ type: "subscribed", query: key, follows, renewed: true });
      if (recall && (frame.after !== undefined || frame.last !== undefined)) known.recall(recall);
      return;
    }
    const place = placeOf(definition, key);
    this.#remove(key, 0); // it may come with another secret
    if (this.#members.size >= channelLimits.channels) {
      throw new SvcError("RATE_LIMITED", `A connection is in at most ${channelLimits.channels} channels.`);
    }
    if (!hasRoomFor(this.#socket)) throw new SvcError("UNAVAILABLE", "Too much is watched here. Try again later.");
    const refused = (member: Member, error: SvcError) => {
      if (this.#members.get(key) !== member) return;
      this.#remove(key, 0);
      this.#fail(key, undefined, error);
    };
    const entering = () => {
      if (definition.presence) rates.come(this.#holder, channels.hearers(place.topic));
    };
    const member = new Member({
      ...{ host: channels, socket: this.#socket, key, place, recall, entering, refused },
      connection: this.#connectionIn(place, follows),
      secret: follows,
    });
    this.#members.set(key, member);
    weigh(this.#socket, perMember + 2 * key.length);
    channels.expect(member);
    member.doubt();
  }

  #leave(_definition: ChannelDefinition, key: string): void {
    this.#remove(key, 0);
  }

  #send(definition: ChannelDefinition, key: string, { event, data, ref }: ChannelFrame): void {
    const member = this.#memberOf(key);
    const name = String(event);
    const schema = Object.hasOwn(definition.messages, name) ? definition.messages[name] : undefined;
    if (!schema) {
      const known = Object.keys(definition.messages).join(", ");
      throw new SvcError("NOT_FOUND", "Members of this channel cannot send a message of that name.", {
        hint: known ? `They send: ${known}.` : "Its messages are empty: handlers alone send here.",
      });
    }
    const body = encodeMessage(schema, decode(data));
    const { outbox, store } = this.#services.channels;
    const { place, sender: from, connection: by } = member;
    // A durable one comes back to its sender, too: all have the same messages in the same order.
    this.#act(member, ref, () =>
      definition.durable
        ? store.send(storedMessage(definition, place.topic, name, body, from))
        : outbox.send({ c: place.topic, e: name, b: body, from, by }),
    );
  }

  #track(definition: ChannelDefinition, key: string, { state, ref }: ChannelFrame): void {
    const member = this.#memberOf(key);
    const { topic } = member.place;
    if (!definition.presence) {
      throw new SvcError("NOT_FOUND", "This channel does not show who is there.", {
        hint: "Declare presence in its definition.",
      });
    }
    const body = encodeState(definition.presence, decode(state));
    this.#act(member, ref, () =>
      this.#services.channels.presence.enter(topic, member, member.connection, member.userId, body),
    );
  }

  /** Who may have been removed acts when that is known. */
  #act(member: Member, ref: unknown, does: () => Promise<void> | void): void {
    const { key } = member;
    member.act(async () => {
      try {
        if (member.isOver) throw this.#isClosed ? ended() : notThere();
        await does();
        this.#tell(key, { sent: ref });
      } catch (error) {
        this.#fail(key, ref, error);
      }
    });
  }

  /** @throws SvcError FORBIDDEN, the same whether or not the channel exists */
  #memberOf(key: string): Member {
    const member = this.#members.get(key);
    if (member?.isAdmitted && !member.isOver) return member;
    throw notThere();
  }

  #remove(key: string, wait?: number): void {
    const member = this.#members.get(key);
    if (!member) return;
    this.#members.delete(key);
    this.#services.weigh(this.#socket, -(perMember + 2 * key.length));
    this.#services.channels.remove(member, wait);
  }

  /**
   * The same for a client that comes back with its secret: the others see no break. It is a hash, because others see it, and
   * it is not the same for another user.
   */
  #connectionIn({ topic }: Place, secret: unknown): string {
    const known = typeof secret === "string" && secret.length >= 16 && secret.length <= 64;
    const own = known ? secret : randomBytes(16).toString("base64url");
    const text = JSON.stringify([topic, this.#socket.session?.user.id ?? null, own]);
    return createHash("sha256").update(text).digest("base64url").slice(0, 22);
  }

  #tell(query: string, data: object): void {
    this.#socket.tell({ type: "query:updated", query, data });
  }

  /** @param ref of a message that was not sent; without one, the channel was not joined */
  #fail(query: string, ref: unknown, error: unknown): void {
    const said = errorMembers(error);
    if (ref === undefined) this.#socket.tell({ type: "error", query, ...said });
    else this.#tell(query, { failed: ref, ...said });
  }
}

const ended = () => new SvcError("UNAVAILABLE", "The connection has ended. Send it again over another one.");

const notThere = () =>
  new SvcError("FORBIDDEN", "You are not in this channel.", { hint: "Join it first, and wait for subscribed." });

function placeOf(definition: ChannelDefinition, key: string): Place {
  const { args } = split(key);
  requireShallowJson(args ?? "");
  const given = jsonIn(args ?? "{}");
  if (given === undefined) throw new SvcError("BAD_REQUEST", "What follows :: in the channel's key is not JSON.");
  return topicOf(definition, decode(given));
}
