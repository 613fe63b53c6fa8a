/** Who has to hear what: the subscriptions of this process, by topic. Next hop: `socket.ts` holds the connections. */
import { getHeapStatistics } from "node:v8";
import type { Session } from "../kit/session.ts";
import { textFrame } from "./outbox.ts";
import { Refreshes, type Rerun } from "./refreshes.ts";
import type { Watched } from "./subscription-topics.ts";
import type { EventSink, TransactionEvents } from "./transaction-events.ts";

/** A connection, as the registry sees it. */
export interface Subscriber {
  /** Null: nobody is signed in. */
  readonly session: Session | null;
  /** Sends a frame, as `textFrame` makes them. */
  send(frame: Buffer): void;
}

/** What clients are told about the flow of events. */
export type Flow = "live" | "degraded";

/** In bytes, measured: what a subscription takes beside its key, which stands in topics too. */
const perSubscription = 1_500;
/** Of the room, for one address. */
const share = 1 / 8;
/** The same for each topic beyond those of a key. */
const perTopic = 500;
const weightOf = ({ key, topics }: Watched) =>
  perSubscription + 2 * key.length + perTopic * Math.max(0, topics.length - 4);

export class SubscriptionRegistry implements Omit<EventSink, "end" | "broadcast"> {
  readonly #refreshes: Refreshes;
  readonly #room: number;
  #weight = 0;
  /** Who listens to a topic, and for which of their queries. */
  readonly #topics = new Map<string, Map<Subscriber, Set<Watched>>>();
  readonly #subscribers = new Map<Subscriber, Map<string, Watched>>();
  readonly #addresses = new Map<Subscriber, string>();
  /** What the subscriptions of an address take. */
  readonly #weights = new Map<string, number>();
  /** Transactions with ids from here on are still told. Null: nothing is. */
  #before: bigint | null = null;
  #history = "";
  /** Frames with events that were sent so far. */
  deliveries = 0;

  /** @param room what all subscriptions may take, in bytes. (Default: a quarter of the heap) */
  constructor(rerun: Rerun, room = getHeapStatistics().heap_size_limit / 4) {
    this.#refreshes = new Refreshes(rerun, {
      sessions: (query) => this.#sessionsOf(query),
      tell: (query, session, frame) => this.#tell(query, frame, (one) => one.session?.id === session?.id),
    });
    this.#room = room;
  }

  /** Whether this process can take another subscription, of any address. */
  get hasRoom(): boolean {
    return this.#weight < this.#room;
  }

  /** The same for one subscriber: their address may not take it all from the others. */
  hasRoomFor(subscriber: Subscriber): boolean {
    const address = this.#addresses.get(subscriber);
    const theirs = address === undefined ? 0 : (this.#weights.get(address) ?? 0);
    return this.hasRoom && theirs < this.#room * share;
  }

  get flow(): Flow {
    return this.#before === null ? "degraded" : "live";
  }

  /** The frame that begins a connection. While changes arrive it names the history in which ids of transactions count. */
  get status() {
    return { type: "status", flow: this.flow, ...(this.#before !== null && { history: this.#history }) };
  }

  /** For a new subscriber: an answer that saw all transactions below this id has missed nothing. Null while unknown. */
  get before(): string | null {
    return this.#before?.toString() ?? null;
  }

  /** From here on, new subscribers may not hear of the transaction. */
  begun(xid: bigint): void {
    if (this.#before !== null && xid >= this.#before) this.#before = xid + 1n;
  }

  get connections(): number {
    return this.#subscribers.size;
  }

  /** @param address whose subscriptions are limited together. (Default: nobody's) */
  join(subscriber: Subscriber, address: string | null = null): void {
    this.#subscribers.set(subscriber, new Map());
    if (address !== null) this.#addresses.set(subscriber, address);
  }

  leave(subscriber: Subscriber): void {
    for (const watched of this.#subscribers.get(subscriber)?.values() ?? []) this.#forget(subscriber, watched);
    this.#subscribers.delete(subscriber);
    this.#addresses.delete(subscriber);
  }

  subscriptionsOf(subscriber: Subscriber): number {
    return this.#subscribers.get(subscriber)?.size ?? 0;
  }

  watches(subscriber: Subscriber, key: unknown): boolean {
    return typeof key === "string" && this.#subscribers.get(subscriber)?.has(key) === true;
  }

  /** Of the keys that it watches, together. */
  charactersOf(subscriber: Subscriber): number {
    let characters = 0;
    for (const key of this.#subscribers.get(subscriber)?.keys() ?? []) characters += key.length;
    return characters;
  }

  get subscriptions(): number {
    let count = 0;
    for (const own of this.#subscribers.values()) count += own.size;
    return count;
  }

  /** Whether anybody listens to a topic. */
  hears(topic: string): boolean {
    return this.#topics.has(topic);
  }

  /**
   * From its return on, no event that commits is missed while the flow is live.
   *
   * @returns whether all of its topics were heard before
   */
  subscribe(subscriber: Subscriber, watched: Watched): boolean {
    const own = this.#subscribers.get(subscriber);
    if (!own) return false;
    const before = own.get(watched.key);
    if (before) this.#forget(subscriber, before); // a grant may say something else than the one before
    own.set(watched.key, watched);
    this.weigh(subscriber, weightOf(watched));
    for (const topic of watched.topics) {
      const listeners = this.#topics.get(topic) ?? new Map<Subscriber, Set<Watched>>();
      this.#topics.set(topic, listeners);
      listeners.set(subscriber, (listeners.get(subscriber) ?? new Set()).add(watched));
    }
    return before !== undefined && watched.topics.every((topic) => before.topics.includes(topic));
  }

  /**
   * @param key of the query, or the subscription key of a grant, which may be that of several
   * @returns the keys of the queries that are watched no more
   */
  unsubscribe(subscriber: Subscriber, key: string): string[] {
    const own = this.#subscribers.get(subscriber);
    const watched = own?.get(key);
    const granted = [...(own?.values() ?? [])].filter(({ subscriptionKey }) => subscriptionKey === key);
    const ended = watched ? [watched] : granted;
    for (const one of ended) {
      own?.delete(one.key);
      this.#forget(subscriber, one);
    }
    return ended.map((one) => one.key);
  }

  /** Counts what a subscriber takes; negative when it is given back. */
  weigh(subscriber: Subscriber, more: number): void {
    this.#weight += more;
    const address = this.#addresses.get(subscriber);
    if (address === undefined) return;
    const theirs = (this.#weights.get(address) ?? 0) + more;
    if (theirs > 0) this.#weights.set(address, theirs);
    else this.#weights.delete(address);
  }

  #forget(subscriber: Subscriber, watched: Watched): void {
    this.weigh(subscriber, -weightOf(watched));
    for (const topic of watched.topics) {
      const listeners = this.#topics.get(topic);
      const theirs = listeners?.get(subscriber);
      theirs?.delete(watched);
      if (theirs?.size === 0) listeners?.delete(subscriber);
      if (listeners?.size === 0) this.#topics.delete(topic);
    }
  }

  /** One frame for everybody who hears of the same keys. */
  deliver(events: TransactionEvents): void {
    const { xid, data, refresh } = events;
    const made: Frames = new Map();
    for (const [subscriber, theirs] of this.#hearersOf(events)) {
      for (const frame of invalidations(theirs, xid, made)) this.#send(subscriber, frame);
    }
    for (const [query, value] of data) {
      this.#tell(query, JSON.stringify({ type: "query:updated", query, ...value, xid }));
    }
    for (const query of refresh) void this.#refreshes.begin(query, xid);
  }

  /** Who has to ask again after a transaction, and for what. */
  #hearersOf({ topics, refresh, migrated }: TransactionEvents): Map<Subscriber, Set<Watched>> {
    const heard = new Map<Subscriber, Set<Watched>>();
    if (migrated) for (const [one, own] of this.#subscribers) if (own.size > 0) heard.set(one, new Set(own.values()));
    for (const topic of topics) {
      for (const [subscriber, theirs] of this.#topics.get(topic) ?? []) {
        const others = heard.get(subscriber);
        heard.set(subscriber, others ? new Set([...others, ...theirs]) : theirs);
      }
    }
    // A result belongs to one set of arguments: watchers with other arguments query again.
    for (const query of refresh) {
      for (const [subscriber, theirs] of this.#topics.get(`key:${query}`) ?? []) {
        const others = [...theirs].filter(({ key }) => key !== query);
        if (others.length > 0) heard.set(subscriber, new Set([...(heard.get(subscriber) ?? []), ...others]));
      }
    }
    return heard;
  }

  /** Of those who watch a query with just these arguments; once each, and null for all who are not signed in. */
  #sessionsOf(key: string): (Session | null)[] {
    const watching = [...(this.#topics.get(`key:${key}`) ?? [])].filter(([, theirs]) =>
      [...theirs].some((one) => one.key === key),
    );
    return [...new Map(watching.map(([{ session }]) => [session?.id, session])).values()];
  }

  #tell(query: string, frame: string, isMeant: (subscriber: Subscriber) => boolean = () => true): void {
    const bytes = textFrame(frame);
    for (const [subscriber, theirs] of this.#topics.get(`key:${query}`) ?? []) {
      if (!isMeant(subscriber)) continue;
      // A query that is watched with arguments hears what is said of its name, but this is of the one without.
      for (const { key } of theirs) if (key === query) this.#send(subscriber, bytes);
    }
  }

  #send(subscriber: Subscriber, frame: Buffer): void {
    this.deliveries++;
    subscriber.send(frame);
  }

  /** What happened since changes were last seen is unknown: everybody asks again whose answer is older. */
  live(before: bigint, history: string): void {
    this.#before = before;
    this.#history = history;
    this.#broadcast(this.status);
    this.#broadcast({ type: "resync", before: String(before) });
  }

  lost(): void {
    this.#before = null;
    this.#broadcast(this.status);
  }

  #broadcast(frame: object): void {
    const bytes = textFrame(JSON.stringify(frame));
    for (const subscriber of this.#subscribers.keys()) subscriber.send(bytes);
  }
}

/** Frames of one event by what they are about: made and encoded once, however many get them. */
type Frames = Map<string, Buffer>;

/** One frame for all that is watched by key, one for every grant's. */
function invalidations(theirs: Set<Watched>, xid: string, made: Frames): Buffer[] {
  const queries: string[] = [];
  const granted = new Set<string>();
  for (const { key, subscriptionKey } of theirs) {
    if (subscriptionKey === undefined) queries.push(key);
    else granted.add(subscriptionKey);
  }
  const frames = [...granted].map((subscriptionKey) => {
    const query = subscriptionKey.split(/#|::/, 1)[0];
    return once(made, `#${subscriptionKey}`, () => ({ type: "query:invalidate", query, subscriptionKey, xid }));
  });
  if (queries.length === 0) return frames;
  const name = queries.length === 1 ? (queries[0] ?? "") : queries.sort().join("\n");
  return [...frames, once(made, name, () => ({ type: "invalidate", queries, xid }))];
}

function once(made: Frames, name: string, frame: () => object): Buffer {
  const known = made.get(name) ?? textFrame(JSON.stringify(frame()));
  made.set(name, known);
  return known;
}
