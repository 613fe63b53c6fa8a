/**
 * The channels of this process: who is in them, and what they get. Everything that is said comes from the log, in the same
 * order in every process, so that a change of the rows that `join` reads comes before what is said after it.
 * Next hop: `channel-frames.ts` reads what clients send, `channel-member.ts` decides who is there.
 */
import type { ChannelDefinition } from "../contract/channel-definition.ts";
import type { Session } from "../kit/session.ts";
import { SvcError } from "../kit/svc-error.ts";
import { Arrival } from "./arrival.ts";
import type { Body } from "./channel-codec.ts";
import { channelLimits } from "./channel-limits.ts";
import type { Asked, Member } from "./channel-member.ts";
import { type Broadcast, ChannelOutbox } from "./channel-outbox.ts";
import type { Present } from "./channel-place.ts";
import { Presence, type PresenceItem, presenceTimes } from "./channel-presence.ts";
import { ChannelReporter, type ReporterOptions } from "./channel-report.ts";
import type { Recall } from "./channel-store.ts";
import { MemberSets } from "./member-sets.ts";
import { textFrame } from "./outbox.ts";
import { type Told, ToldTransactions } from "./told-transactions.ts";
import type { TransactionEvents } from "./transaction-events.ts";

/** Runs a `join`. @throws SvcError */
export type AskJoin = (
  definition: ChannelDefinition,
  input: unknown,
  session: Session | null,
  network: string,
  /** What to read of a durable channel. */
  recall?: Recall & { topic: string },
) => Promise<Asked>;

/** Who sent a message; null: a handler of the service. */
type Sender = { id: string; userId: string | null } | null;

interface MessageItem {
  /** The topic. */
  c: string;
  /** The message's name. */
  e: string;
  b: Body;
  from: Sender;
  /** The connection that sent it, which does not get it. */
  by?: string;
  /** Of a durable channel. */
  id?: number | undefined;
  at?: number | undefined;
}

/** What is to be given to the members of a channel. */
interface Delivery {
  topic: string;
  /** By key, since each client has its own name of the channel. */
  frames: Map<string, Buffer>;
  data: object;
  by: string | undefined;
  isStored: boolean;
  left: Member[];
}

/** A question of Studio to all processes (`sql/studio/studio_ask_channels.sql`). */
interface QuestionItem {
  question: string;
}

export interface ChannelsOptions extends ReporterOptions {
  ask: AskJoin;
  broadcast: Broadcast;
  /** The same of durable channels. */
  store: Broadcast;
  /** As in `SubscriptionRegistry`. */
  before(): string | null;
}

/** In milliseconds: changes of presence that come together are told together. */
const tick = 100;
/** Sends in a row, before other events have their turn. */
const atOnce = 500;

export class Channels {
  readonly #options: ChannelsOptions;
  readonly outbox: ChannelOutbox;
  readonly store: ChannelOutbox;
  readonly presence: Presence;
  readonly #rooms = new MemberSets();
  /** Members that `join` has not answered yet: stored messages wait for them. */
  readonly #arriving = new MemberSets();
  /** Who doubts at which topics of changes. */
  readonly #doubting = new MemberSets();
  #queue: Delivery[] = [];
  readonly #behind = new Set<Member>();
  readonly #arrival = new Arrival();
  #timer: NodeJS.Timeout | undefined;
  readonly #reporter: ChannelReporter;
  readonly #told = new ToldTransactions();
  /** Messages given to members, and those that were not, since the start. */
  delivered = 0;
  missed = 0;
  /** Members here. */
  readonly hearers = (topic: string): number => this.#rooms.get(topic)?.size ?? 0;

  constructor(options: ChannelsOptions) {
    this.#options = options;
    this.#reporter = new ChannelReporter(this.#rooms, options);
    this.outbox = new ChannelOutbox(options.broadcast);
    this.store = new ChannelOutbox(options.store);
    this.presence = new Presence(this.outbox, (topic) => this.#list(topic));
  }

  get members(): number {
    return this.#rooms.members;
  }

  // What a member needs.

  get told(): Told {
    return this.#told.now;
  }

  hasSeenAll(snapshot: string | null, told: Told): boolean {
    if (this.#options.before() === null) return false;
    return snapshot === null || this.#told.areIn(snapshot, told);
  }

  ask({ place: { definition, input, topic }, socket }: Member, recall?: Recall): Promise<Asked> {
    return this.#options.ask(definition, input, socket.session, socket.network, recall && { ...recall, topic });
  }

  live(): Promise<void> {
    return this.#options.before() === null ? this.#arrival.wait() : Promise.resolve();
  }

  follow(member: Member, topics: readonly string[]): void {
    for (const topic of member.topics) this.#doubting.remove(topic, member);
    member.topics = topics;
    for (const topic of topics) this.#doubting.add(topic, member);
  }

  /** It asks for stored messages, or is asked again after a gap, before it is admitted. */
  expect(member: Member): void {
    this.#arriving.add(member.place.topic, member);
  }

  /** It may be there. Full channels are found here: nobody else learns of it. */
  admitted(member: Member): void {
    const { topic, definition } = member.place;
    const isShown = definition.presence !== null;
    const count = Math.max(this.hearers(topic), isShown ? this.presence.count(topic) : 0);
    if (count >= channelLimits.members && !(isShown && this.presence.knows(topic, member.connection))) {
      throw new SvcError("RATE_LIMITED", `This channel has ${channelLimits.members} connections, and takes no more.`);
    }
    member.entering();
    this.#arriving.remove(topic, member);
    this.#rooms.add(topic, member);
    member.socket.tell({ type: "subscribed", query: member.key, follows: member.secret, member: member.sender });
    // A page may still show who was there in a release that had presence.
    if (!isShown) return void this.#show(member, frameOf(member.key, { members: [] }));
    this.presence.enter(topic, member, member.connection, member.userId, null);
    this.#giveList(member, this.presence.list(topic));
    this.#timer ??= setInterval(() => this.#tick(), tick).unref();
  }

  behind(member: Member): void {
    this.missed++;
    this.#behind.add(member);
    this.#timer ??= setInterval(() => this.#tick(), tick).unref();
  }

  /** @param wait in milliseconds, during which others do not see that it left */
  remove(member: Member, wait: number = presenceTimes.grace): void {
    member.end();
    this.follow(member, []);
    this.#behind.delete(member);
    const { topic } = member.place;
    this.#arriving.remove(topic, member);
    this.#rooms.remove(topic, member);
    this.presence.leave(topic, member, member.connection, wait);
  }

  // What the log says.
  hears(topic: string): boolean {
    return this.#doubting.has(topic);
  }

  begun(xid: bigint): void {
    this.#told.add(xid);
  }

  /** Members are doubted first: what the same transaction says is not for members that it removed. */
  changed({ topics, xid, told }: TransactionEvents): void {
    for (const topic of topics) for (const member of this.#doubting.get(topic) ?? []) member.doubt(xid);
    for (const { topic: c, event = "", message: e = event, body, from = null, id, at } of told)
      this.#say({ c, e, b: body as Body, from: from as Sender, id, at });
  }

  /** @param text of one statement (`channel-outbox.ts`) */
  broadcast(text: string): void {
    for (const item of JSON.parse(text) as (MessageItem | PresenceItem | QuestionItem)[]) {
      if ("question" in item) void this.#reporter.answer(item.question);
      else if ("p" in item) this.presence.hear(item);
      else this.#say(item);
    }
  }

  /** Everybody is asked again. While the log is not read, nobody says anything before `resumed`: a removal could not be seen. */
  doubt(xid?: string): void {
    for (const all of [...this.#rooms.values(), ...this.#arriving.values()]) for (const one of all) one.doubt(xid);
  }

  /** Everybody is asked again: what changed meanwhile is unknown. */
  resumed(): void {
    this.#told.begin(this.#options.before());
    this.#arrival.come();
    for (const all of [...this.#rooms.values(), ...this.#arriving.values()]) for (const one of all) one.renew();
    this.presence.live();
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.presence.close();
  }

  #say({ c: topic, e: message, b: body, from, by, id, at }: MessageItem): void {
    const isStored = id !== undefined;
    const left = [...(this.#rooms.get(topic) ?? []), ...((isStored && this.#arriving.get(topic)) || [])];
    if (left.length === 0) return;
    this.#reporter.note(topic, message, body);
    if (this.#queue.length >= channelLimits.queued) {
      for (const member of left) this.behind(member);
      return;
    }
    const data = { message, body, from, ...(isStored && { id, at }) };
    if (this.#queue.push({ topic, frames: new Map(), data, by, isStored, left }) === 1) this.#deliver();
  }

  /** Gives what waits, in pieces: a flood of messages must not delay the changes of watched queries. */
  #deliver(): void {
    for (let sends = 0; sends < atOnce; ) {
      const next = this.#queue[0];
      if (!next) return;
      const member = next.left.pop();
      if (!member) {
        this.#queue.shift();
        continue;
      }
      sends++;
      if (member.connection === next.by) continue;
      // It will ask for what it misses, and must not have a later one before.
      if (next.isStored && this.#behind.has(member)) continue;
      const frame = next.frames.get(member.key) ?? frameOf(member.key, next.data);
      next.frames.set(member.key, frame);
      this.delivered++;
      member.give(frame);
    }
    setImmediate(() => this.#deliver());
  }

  #tick(): void {
    for (const member of this.#behind) {
      if (member.isDoubted || member.socket.waiting > channelLimits.waiting / 2) continue;
      this.#behind.delete(member);
      member.socket.send(frameOf(member.key, { missed: true }));
      if (!member.hasList) this.#giveList(member, this.presence.list(member.place.topic));
    }
    for (const [topic, set, gone] of this.presence.changes()) {
      const frames = new Map<string, Buffer>();
      for (const member of this.#rooms.get(topic) ?? []) {
        if (!member.hasList) continue;
        const frame = frames.get(member.key) ?? frameOf(member.key, { set, gone });
        frames.set(member.key, frame);
        this.#show(member, frame);
      }
    }
    if (this.#rooms.size + this.#behind.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #list(topic: string): void {
    const list = this.presence.list(topic);
    for (const member of this.#rooms.get(topic) ?? []) this.#giveList(member, list);
  }

  #giveList(member: Member, members: Present[] | null): void {
    if (!members) return;
    member.hasList = true;
    this.#show(member, frameOf(member.key, { members }));
  }

  /** A client that misses a change gets the whole list later. */
  #show(member: Member, frame: Buffer): void {
    member.give(frame, () => {
      member.hasList = false;
      this.behind(member);
    });
  }
}

const frameOf = (query: string, data: object): Buffer =>
  textFrame(JSON.stringify({ type: "query:updated", query, data }));
