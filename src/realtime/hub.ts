/**
 * Who has to hear what: the subscriptions of this process, by topic.
 * Next hop: `socket.ts` holds the connections.
 */
import type { EventSink, TransactionEvents } from "./transaction-events.ts";
import type { Watched } from "./watch-rules.ts";

/** A connection, as the hub sees it. */
export interface Subscriber {
  /** Sends a frame. */
  send(frame: string): void;
}

/** What clients are told about the flow of events. */
export type Flow = "live" | "degraded";

/** Runs a query that anyone may call, as nobody. @returns its result encoded as a body, or null when it fails */
export type Rerun = (key: string) => Promise<string | null>;

export class Hub implements EventSink {
  readonly #rerun: Rerun;
  /** Who listens to a topic, and under which key. */
  readonly #topics = new Map<string, Map<Subscriber, Set<string>>>();
  readonly #subscribers = new Map<Subscriber, Map<string, Watched>>();
  #flow: Flow = "degraded";

  constructor(rerun: Rerun) {
    this.#rerun = rerun;
  }

  get flow(): Flow {
    return this.#flow;
  }

  get connections(): number {
    return this.#subscribers.size;
  }

  join(subscriber: Subscriber): void {
    this.#subscribers.set(subscriber, new Map());
  }

  leave(subscriber: Subscriber): void {
    for (const key of [...(this.#subscribers.get(subscriber)?.keys() ?? [])]) this.unsubscribe(subscriber, key);
    this.#subscribers.delete(subscriber);
  }

  subscriptionsOf(subscriber: Subscriber): number {
    return this.#subscribers.get(subscriber)?.size ?? 0;
  }

  /** From its return on, no event that commits is missed while the flow is live. */
  subscribe(subscriber: Subscriber, watched: Watched): void {
    const own = this.#subscribers.get(subscriber);
    if (!own || own.has(watched.key)) return;
    own.set(watched.key, watched);
    for (const topic of watched.topics) {
      const listeners = this.#topics.get(topic) ?? new Map<Subscriber, Set<string>>();
      this.#topics.set(topic, listeners);
      listeners.set(subscriber, (listeners.get(subscriber) ?? new Set()).add(watched.key));
    }
  }

  unsubscribe(subscriber: Subscriber, key: string): void {
    const own = this.#subscribers.get(subscriber);
    const watched = own?.get(key);
    if (!own || !watched) return;
    own.delete(key);
    for (const topic of watched.topics) {
      const listeners = this.#topics.get(topic);
      const keys = listeners?.get(subscriber);
      keys?.delete(key);
      if (keys?.size === 0) listeners?.delete(subscriber);
      if (listeners?.size === 0) this.#topics.delete(topic);
    }
  }

  /** One frame for everybody who hears of the same keys. */
  deliver({ xid, topics, data, refresh }: TransactionEvents): void {
    const heard = new Map<Subscriber, Set<string>>();
    for (const topic of topics) {
      for (const [subscriber, keys] of this.#topics.get(topic) ?? []) {
        const all = heard.get(subscriber);
        if (all) for (const key of keys) all.add(key);
        else heard.set(subscriber, new Set(keys));
      }
    }
    const frames = new Map<string, string>();
    for (const [subscriber, keys] of heard) {
      const queries = [...keys].sort();
      const name = queries.join("\n");
      let frame = frames.get(name);
      if (!frame) {
        frame = JSON.stringify({ type: "invalidate", queries, xid });
        frames.set(name, frame);
      }
      subscriber.send(frame);
    }
    for (const [query, value] of data) {
      this.#tell(query, JSON.stringify({ type: "query:updated", query, data: value, xid }));
    }
    for (const query of refresh) void this.#refresh(query, xid);
  }

  /** Once for everybody who listens here, if anybody does. */
  async #refresh(query: string, xid: string): Promise<void> {
    if (!this.#topics.has(`key:${query}`)) return;
    const body = await this.#rerun(query).catch(() => null);
    if (body === null) this.#tell(query, JSON.stringify({ type: "invalidate", queries: [query], xid }));
    else this.#tell(query, `{"type":"query:updated","query":${JSON.stringify(query)},"result":${body},"xid":"${xid}"}`);
  }

  #tell(query: string, frame: string): void {
    for (const [subscriber, keys] of this.#topics.get(`key:${query}`) ?? []) {
      // A query that is watched with arguments hears what is said of its name, but this is of the one without.
      if (keys.has(query)) subscriber.send(frame);
    }
  }

  /** Whatever happened since changes were last seen is unknown: everybody asks again. */
  live(): void {
    this.#flow = "live";
    this.#broadcast({ type: "status", flow: "live" });
    this.#broadcast({ type: "resync" });
  }

  lost(): void {
    this.#flow = "degraded";
    this.#broadcast({ type: "status", flow: "degraded" });
  }

  #broadcast(frame: object): void {
    const text = JSON.stringify(frame);
    for (const subscriber of this.#subscribers.keys()) subscriber.send(text);
  }
}
