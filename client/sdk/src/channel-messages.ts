/**
 * The messages of a durable channel that a page has: the newest that it asked for, and all that came since. They are in the
 * order of their commits, each once, whatever broke meanwhile.
 * Next hop: `channel-room.ts`.
 */
import type { ChannelMessage, ChannelSender } from "./channel-types.ts";
import { decode } from "./wire.ts";

/** A message as the service sends it. */
export interface RawMessage {
  message: string;
  body: unknown;
  from?: ChannelSender;
  /** Of a durable channel: its number, and its time in milliseconds. */
  id?: number;
  at?: number;
}

/** An answer of the service about stored messages. */
export interface Page {
  /** Which one it begins behind; null: it begins with the newest that were asked for. */
  after: number | null;
  /** Up to which message it goes, and which one was the last. */
  until: number;
  last: number;
  /** Whether messages behind `after` are gone. Then it begins as without `after`. */
  gap: boolean;
  more: boolean;
  messages: RawMessage[];
}

type Message = ChannelMessage<Record<string, unknown>>;

/** How many a page has: the oldest ones go. The service gives so many at most. */
const most = 1_000;

export class ChannelMessages {
  list: readonly Message[] = [];
  /** As far as is known. */
  isDurable = false;
  /** Whether an answer is awaited: what comes before it waits. */
  isAsking = false;
  #newest = 0;
  /** Up to which message nothing is missing; undefined: that was not asked for. */
  #until: number | undefined;
  /** Later ones are new to this client; undefined: nothing was read yet. */
  #known: number | undefined;
  #held: RawMessage[] = [];

  /** Members of the next frame that asks. */
  get asks(): { last?: number | undefined; after?: number | undefined } {
    return { last: this.#newest || undefined, after: this.#until };
  }

  /** @returns whether more is to be asked for than was */
  want(newest: number): boolean {
    if (newest <= this.#newest) return false;
    this.#newest = newest;
    this.#until = undefined;
    return true;
  }

  forget(): void {
    this.list = [];
    this.#held = [];
    this.#until = this.#known = undefined;
    this.isAsking = false;
  }

  /** @returns those that are new; "ask" if the service has to be asked first */
  hear(raw: RawMessage): Message[] | "ask" {
    this.isDurable = true;
    if (this.isAsking || this.#until === undefined) {
      this.#held.push(raw);
      return this.isAsking ? [] : "ask";
    }
    return this.#take([raw]);
  }

  /** @returns those that are new */
  read({ after, until, last, gap, more, messages }: Page): Message[] {
    this.isDurable = true;
    this.#known ??= last;
    const begins = after === null || gap;
    // Of the newest ones that were asked for: those before them stay, if none is missing between.
    const [{ id: first = 0 } = {}] = messages;
    const isNext = !gap && (this.list.at(-1)?.id ?? 0) >= first;
    if (begins) this.list = isNext ? this.list.filter(({ id }) => id < first) : [];
    this.#until = begins ? 0 : (this.#until ?? after);
    const news = this.#take(messages);
    this.#until = until;
    this.isAsking = more;
    return more ? news : [...news, ...this.#take(this.#held.splice(0))];
  }

  /** Adds those that follow the last one. */
  #take(raw: readonly RawMessage[]): Message[] {
    const added = raw.filter(({ id = 0 }) => id > (this.#until ?? 0)).map(readable);
    const known = this.#known ?? 0;
    this.list = [...this.list, ...added].slice(-most);
    this.#until = Math.max(this.#until ?? 0, ...added.map(({ id }) => id));
    this.#known = Math.max(known, this.#until);
    return added.filter(({ id }) => id > known);
  }
}

const readable = ({ id = 0, at = 0, message, body, from = null }: RawMessage): Message => ({
  ...{ id, at: new Date(at), message, from },
  data: decode(body as never),
});
