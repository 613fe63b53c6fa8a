/**
 * Who is in the channels of this process, in all processes. Each process announces its own members in the log. Nobody
 * stores them: a process that begins to serve a channel asks the others. One that is killed stops to send its beats, and its
 * members are removed (docs/adr/0046-channels-through-the-log.md).
 * Next hop: `channel-outbox.ts` sends, `channels.ts` tells the members.
 */
import { randomBytes } from "node:crypto";
import type { Body } from "./channel-codec.ts";
import type { ChannelOutbox } from "./channel-outbox.ts";
import { type Entry, Place, type Present } from "./channel-place.ts";

/** What processes say to each other. */
export type PresenceItem = {
  /** The process. */
  p: string;
  /** The topic of `set` and `gone`. */
  c?: string;
  set?: Entry[];
  /** The connections that it has in all; others of it are gone. */
  only?: string[];
  gone?: string[];
  /** Topics whose members it wants to know. */
  ask?: string[];
  /** It ends, in order. */
  bye?: boolean;
};

/** In milliseconds. docs/reference/limits.md has these. */
export const presenceTimes = {
  beat: 5_000,
  /** Without a beat: the process is dead. */
  silence: 15_000,
  /** How long who lost their connection is still shown, so that a short break is not seen. */
  grace: 5_000,
  /** How long answers are awaited before the first list is given. */
  settle: 300,
};

/** Entries of one item, and topics of a question: its 250 kB hold those that are as large as they may be. */
const perItem = 100;
const perQuestion = 16;

export class Presence {
  readonly #outbox: ChannelOutbox;
  /** Called when a place has its first list. */
  readonly #ready: (topic: string) => void;
  readonly #process = randomBytes(9).toString("base64url");
  readonly #places = new Map<string, Place>();
  /** The members of this process, by topic and connection. */
  readonly #own = new Map<string, Map<string, { entry: Entry; owner: object; leaving?: NodeJS.Timeout }>>();
  /** When each process was last heard, and how many beats of this one were heard then. */
  readonly #heard = new Map<string, { at: number; beats: number }>();
  #beats = 0;
  #timer: NodeJS.Timeout | undefined;
  #doubting: NodeJS.Timeout | undefined;
  /** Topics of what could not be said; undefined if all was said. */
  #unsaid: Set<string> | undefined;

  constructor(outbox: ChannelOutbox, ready: (topic: string) => void) {
    this.#outbox = outbox;
    this.#ready = ready;
  }

  /** Shows a member. @param owner who alone may take it away: a member that came back is another owner */
  enter(topic: string, owner: object, connection: string, userId: string | null, state: Body | null): void {
    const own = this.#own.get(topic) ?? new Map();
    this.#own.set(topic, own);
    const known = own.get(connection);
    clearTimeout(known?.leaving);
    const entry: Entry = [connection, userId, state ?? known?.entry[2] ?? null];
    own.set(connection, { entry, owner });
    this.#open(topic);
    this.#say({ c: topic, set: [entry] });
  }

  /** @returns whether it is shown, so that it can show something else */
  has(topic: string, owner: object, connection: string): boolean {
    return this.#own.get(topic)?.get(connection)?.owner === owner;
  }

  /** @param wait in milliseconds, during which it may come back unnoticed */
  leave(topic: string, owner: object, connection: string, wait: number): void {
    const known = this.#own.get(topic)?.get(connection);
    if (known?.owner !== owner) return;
    clearTimeout(known.leaving);
    const gone = () => {
      const own = this.#own.get(topic);
      own?.delete(connection);
      this.#say({ c: topic, gone: [connection] });
      if (own?.size !== 0) return;
      this.#own.delete(topic);
      this.#closeLater(topic);
    };
    if (wait > 0) known.leaving = setTimeout(gone, wait).unref();
    else gone();
  }

  count(topic: string): number {
    return this.#places.get(topic)?.entries.size ?? 0;
  }

  /** Whether there is one with this id. */
  knows(topic: string, connection: string): boolean {
    for (const { entry } of this.#places.get(topic)?.entries.values() ?? []) if (entry[0] === connection) return true;
    return false;
  }

  /** Those who are there; null until the other processes have answered. */
  list(topic: string): Present[] | null {
    const place = this.#places.get(topic);
    return place?.isReady ? [...place.list().values()] : null;
  }

  /** The changes since the last call, by topic. */
  *changes(): Generator<[topic: string, set: Present[], gone: string[]]> {
    for (const [topic, place] of this.#places) {
      if (place.changed.size === 0 || !place.isReady) continue;
      const ids = [...place.changed];
      place.changed.clear();
      const all = place.list();
      yield [topic, ids.flatMap((id) => all.get(id) ?? []), ids.filter((id) => !all.has(id))];
    }
  }

  hear({ p, c, set, only, gone, ask, bye }: PresenceItem): void {
    const isStrange = !this.#heard.has(p);
    const place = c === undefined ? undefined : this.#places.get(c);
    this.#note(p);
    if (only) place?.drop(p, ([connection]) => only.includes(connection));
    for (const entry of set ?? []) place?.put(p, entry);
    if (gone) place?.drop(p, ([connection]) => !gone.includes(connection));
    if (p === this.#process) {
      if (c === undefined && !ask) this.#beats++;
      this.#dropSilent();
      return;
    }
    for (const topic of ask ?? []) this.#announce(topic);
    if (bye) setTimeout(() => this.#drop(p), presenceTimes.grace).unref();
    // It was taken for dead, or began before this one heard of it.
    else if (isStrange && !ask) this.#ask([...this.#places.keys()]);
  }

  /** The log is read again: what came meanwhile is unknown. Who is not announced again has left. */
  live(): void {
    for (const process of this.#heard.keys()) this.#note(process);
    if (this.#places.size === 0) return;
    for (const place of this.#places.values()) place.doubt();
    clearTimeout(this.#doubting);
    this.#doubting = setTimeout(() => {
      for (const place of this.#places.values()) place.dropStale();
    }, presenceTimes.silence).unref();
    for (const topic of this.#own.keys()) this.#announce(topic);
    this.#ask([...this.#places.keys()]);
  }

  /** The others take its members away soon, unless these come to another process. */
  async close(): Promise<void> {
    this.#rest();
    for (const own of this.#own.values()) for (const { leaving } of own.values()) clearTimeout(leaving);
    if (this.#own.size > 0) await this.#outbox.send({ p: this.#process, bye: true }).catch(() => {});
    this.#own.clear();
  }

  /** Later: the answers of the others are large, and who comes and goes must not have them sent each time. */
  #closeLater(topic: string): void {
    const place = this.#places.get(topic);
    if (!place) return;
    const close = () => {
      this.#places.delete(topic);
      if (this.#places.size === 0) this.#rest();
    };
    place.closing = setTimeout(close, presenceTimes.silence).unref();
  }

  #open(topic: string): void {
    clearTimeout(this.#places.get(topic)?.closing);
    if (this.#places.has(topic)) return;
    const place = new Place();
    this.#places.set(topic, place);
    this.#timer ??= setInterval(() => this.#say({}), presenceTimes.beat).unref();
    this.#ask([topic]);
    setTimeout(() => {
      place.isReady = true;
      place.changed.clear();
      if (this.#places.get(topic) === place) this.#ready(topic);
    }, presenceTimes.settle).unref();
  }

  #rest(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    clearTimeout(this.#doubting);
    this.#heard.clear();
  }

  #ask(topics: readonly string[]): void {
    for (let at = 0; at < topics.length; at += perQuestion) this.#say({ ask: topics.slice(at, at + perQuestion) });
  }

  /** @param isSaid also that there is nobody */
  #announce(topic: string, isSaid = false): void {
    const entries = [...(this.#own.get(topic)?.values() ?? [])].map(({ entry }) => entry);
    const only = entries.map(([connection]) => connection);
    for (let at = 0; at < entries.length || (isSaid && at === 0); at += perItem) {
      this.#say({ c: topic, set: entries.slice(at, at + perItem), ...(at === 0 && { only }) });
    }
  }

  #note(process: string): void {
    this.#heard.set(process, { at: performance.now(), beats: this.#beats });
  }

  /**
   * Silence is measured by the own beats, too, which come through the same log. Where that was late, the beats of the others are
   * behind the first own one, and nobody is taken for dead.
   */
  #dropSilent(): void {
    const until = performance.now() - presenceTimes.silence;
    const most = this.#beats - Math.floor(presenceTimes.silence / presenceTimes.beat);
    for (const [process, { at, beats }] of this.#heard) if (at < until && beats <= most) this.#drop(process);
  }

  #drop(process: string): void {
    this.#heard.delete(process);
    for (const place of this.#places.values()) place.drop(process);
  }

  #say(item: Omit<PresenceItem, "p">): void {
    const sent = async () => this.#outbox.send({ p: this.#process, ...item });
    sent().then(
      () => {
        const unsaid = this.#unsaid;
        this.#unsaid = undefined;
        for (const topic of unsaid ?? []) if (!this.#own.has(topic)) this.#announce(topic, true);
        if (unsaid) this.live();
      },
      () => {
        this.#unsaid ??= new Set();
        if (item.c !== undefined) this.#unsaid.add(item.c);
      },
    );
  }
}
