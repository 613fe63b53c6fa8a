/**
 * How much of channels a client, a user and a process may use. docs/reference/limits.md lists these limits.
 * Next hop: `channels.ts`.
 */
import { SvcError } from "../kit/svc-error.ts";
import { type Rate, TokenBucket } from "./token-bucket.ts";

export const channelLimits = {
  /** Of a connection. */
  channels: 50,
  /** Connections in a channel: of all processes where it has presence, else of each. */
  members: 500,
  /** Bytes of a message, encoded. */
  message: 8 * 1024,
  /** Bytes of what a member shows. */
  state: 512,
  /** Bytes that wait for a slow client. Then it misses messages, and is told so. */
  waiting: 256 * 1024,
  /** Messages that wait while `join` is asked again. */
  held: 200,
  /** Stored messages that a client may ask for as it joins. */
  history: 1_000,
  /** Messages that wait in a process to be given to sockets. */
  queued: 5_000,
} as const;

/** An act costs 1, and 1 for each KiB. */
const rates = {
  connection: { burst: 100, perSecond: 50 },
  holder: { burst: 400, perSecond: 200 },
  process: { burst: 4_000, perSecond: 2_000 },
  /** What a holder's acts cost, for each member who hears of them in this process: a frame to a socket takes about 10 µs. */
  deliveries: { burst: 40_000, perSecond: 20_000 },
} satisfies Record<string, Rate>;

/** In milliseconds: the buckets of a user or a network are full again after that. */
const fillsIn = 2_000;

interface Buckets {
  acts: TokenBucket;
  deliveries: TokenBucket;
}

export class ChannelRates {
  readonly #process = new TokenBucket(rates.process);
  /** Of those who did something lately, and of those before. Each has a connection, which takes more memory. */
  #recent = new Map<string, Buckets>();
  #earlier = new Map<string, Buckets>();
  #since = performance.now();
  readonly #connections = new WeakMap<object, TokenBucket>();

  /**
   * @param holder user or network; null if neither is known: visitors who are not told apart must not wait for each other
   * @param hearers members who hear of it
   * @throws SvcError RATE_LIMITED
   */
  take(connection: object, holder: string | null, bytes: number, hearers = 0): void {
    const cost = 1 + Math.floor(bytes / 1024);
    const own = this.#connections.get(connection) ?? new TokenBucket(rates.connection);
    this.#connections.set(connection, own);
    const ofHolder = () => {
      if (holder === null) return 0;
      const { acts, deliveries } = this.#of(holder);
      return acts.take(cost) || deliveries.take(cost * hearers);
    };
    requireNoWait(own.take(cost) || ofHolder() || this.#process.take(cost));
  }

  /**
   * For one who comes, and will go.
   *
   * @param hearers as in `take`, which is called before
   * @throws SvcError RATE_LIMITED
   */
  come(holder: string | null, hearers: number): void {
    if (holder !== null) requireNoWait(this.#of(holder).deliveries.take(2 * hearers));
  }

  #of(holder: string): Buckets {
    const now = performance.now();
    if (now - this.#since > fillsIn) {
      this.#earlier = this.#recent;
      this.#recent = new Map();
      this.#since = now;
    }
    const buckets = this.#recent.get(holder) ??
      this.#earlier.get(holder) ?? {
        acts: new TokenBucket(rates.holder),
        deliveries: new TokenBucket(rates.deliveries),
      };
    this.#recent.set(holder, buckets);
    return buckets;
  }
}

/** @param wait in seconds */
function requireNoWait(wait: number): void {
  if (wait === 0) return;
  throw new SvcError("RATE_LIMITED", "Too much is sent to channels.", {
    retryAfter: Math.ceil(wait),
    hint: "Send at most 20 times a second, such as the newest position of a pointer, and leave out what has changed since.",
  });
}
