/**
 * One client's connection: handles its frames, and limits its cost. Frames are JSON; docs/reference/realtime.md lists them.
 * Next hop: `subscription-topics.ts` for the queries that may be watched, `subscription-registry.ts` for the events of each,
 * `outbox.ts` for sending.
 */

import type { Duplex } from "node:stream";
import type { WebSocket } from "ws";
import { requireShallowJson } from "../http/body.ts";
import { jsonIn } from "../kit/json-in.ts";
import type { Session } from "../kit/session.ts";
import { SvcError } from "../kit/svc-error.ts";
import { type ChannelFrame, ChannelFrames, type ChannelServices } from "./channel-frames.ts";
import type { ChannelSocket } from "./channel-member.ts";
import type { Follow, FollowedReads } from "./followed-reads.ts";
import type { Grants } from "./grants.ts";
import { errorMembers, Outbox, textFrame } from "./outbox.ts";
import type { Subscriber, SubscriptionRegistry } from "./subscription-registry.ts";
import { type SubscriptionTopics, split, type Watched } from "./subscription-topics.ts";

export interface ConnectionOptions {
  channels: ChannelServices;
  registry: SubscriptionRegistry;
  rules: SubscriptionTopics;
  grants: Grants;
  reads: FollowedReads;
  /** Called when the connection is closed because its client did not read. */
  dropped(): void;
}

/** Limits of one connection. docs/reference/limits.md lists them. */
export const connectionLimits = {
  /** Bytes of a frame from the client. */
  frame: 16 * 1024,
  subscriptions: 1_000,
  /** Characters of all the keys that are watched. */
  keys: 256 * 1024,
  /** Frames from the client within ten seconds. */
  frames: 2_000,
  /** Bytes that wait to be sent. A slower reader is disconnected, and queries again when it reconnects. */
  waiting: 1024 * 1024,
} as const;

/** A client's connection. */
export class Connection implements Subscriber, ChannelSocket {
  readonly #websocket: WebSocket;
  readonly #outbox: Outbox;
  readonly session: Session | null;
  /** The network for which it counts; null when connections are not counted. */
  readonly address: string | null;
  readonly network: string;
  readonly #options: ConnectionOptions;
  readonly #channels: ChannelFrames;
  #answered = true;
  #frames = 0;
  #since = Date.now();
  /** When grants and tokens end, by the query's key. */
  readonly #ends = new Map<string, NodeJS.Timeout>();

  /** @param socket below the websocket: events are written to it directly */
  constructor(
    websocket: WebSocket,
    socket: Duplex,
    session: Session | null,
    options: ConnectionOptions & { address: string | null; network: string },
  ) {
    this.#websocket = websocket;
    this.#outbox = new Outbox(socket);
    this.session = session;
    this.#options = options;
    this.address = options.address;
    this.network = options.network;
    this.#channels = new ChannelFrames(options.channels, this);
    const { registry } = options;
    registry.join(this, options.address);
    websocket.on("message", (data, isBinary) => this.#receive(data as Buffer, isBinary));
    websocket.on("pong", () => {
      this.#answered = true;
    });
    websocket.on("close", () => this.#leave());
    websocket.on("error", () => {}); // a frame that is too large, or a broken one; `ws` closes by itself
    this.tell(registry.status);
  }

  send(frame: Buffer): void {
    if (this.#websocket.readyState !== this.#websocket.OPEN) return;
    if (this.#outbox.waiting <= connectionLimits.waiting) {
      this.#outbox.send(frame);
      return;
    }
    this.#options.dropped();
    this.#leave();
    // Sent after the waiting frames. A client that reads again within `closeTimeout` gets the reason; after that the memory is free.
    this.close(1013, "too slow");
  }

  get waiting(): number {
    return this.#outbox.waiting;
  }

  tell(message: object): void {
    this.send(textFrame(JSON.stringify(message)));
  }

  close(code: number, reason: string): void {
    this.#websocket.close(code, reason);
  }

  ping(): void {
    if (!this.#answered) {
      this.#websocket.terminate();
      return;
    }
    this.#answered = false;
    this.#websocket.ping();
  }

  /** @param mayComeBack the session may last: others need not see the break. (Default: no) */
  revokeIf(isTheirs: (session: Session) => boolean, mayComeBack = false): void {
    if (!this.session || !isTheirs(this.session)) return;
    this.#leave(mayComeBack ? undefined : 0);
    this.close(4401, "the session has ended");
  }

  /** It gets no events from now on. @param wait how long others do not see that it has left its channels */
  #leave(wait?: number): void {
    this.#channels.close(wait);
    this.#options.registry.leave(this);
    for (const timer of this.#ends.values()) clearTimeout(timer);
    this.#ends.clear();
  }

  #receive(data: Buffer, isBinary: boolean): void {
    // A client that does not answer our close can still send: nothing is done for it, whose session may have ended.
    if (this.#websocket.readyState !== this.#websocket.OPEN) return;
    if (this.#exceedsFrameRate()) {
      this.close(1008, "too many frames");
      return;
    }
    try {
      this.#handle(isBinary ? undefined : parse(data.toString("utf8")));
    } catch (error) {
      this.tell({ type: "error", ...errorMembers(error) });
    }
  }

  #exceedsFrameRate(): boolean {
    if (Date.now() - this.#since > 10_000) {
      this.#since = Date.now();
      this.#frames = 0;
    }
    this.#frames++;
    return this.#frames > connectionLimits.frames;
  }

  #handle(frame: ClientFrame | undefined): void {
    if (frame && this.#channels.handle(frame)) return;
    if (frame?.type === "subscribe") {
      const { query } = frame;
      this.#subscribe(query, { query }, (follow) => this.#watch(query, follow), frame.follows);
    } else if (frame?.type === "subscribeQuery") {
      this.#subscribe(this.#options.grants.open(frame.token)?.query, {}, () => this.#redeem(frame.token));
    } else if (frame?.type === "unsubscribe") {
      this.#unsubscribe(String(frame.query ?? frame.subscriptionKey));
    } else if (frame?.type === "ping") {
      this.tell({ type: "pong" });
    } else {
      throw new SvcError("BAD_REQUEST", "A frame is JSON with a type.", {
        hint: 'Send {"type":"subscribe","query":"tasks.list"} or {"type":"unsubscribe","query":"tasks.list"}.',
      });
    }
  }

  #watch(key: unknown, follow?: Follow | null): Watched {
    return this.#options.rules.watch(key, this.session?.user.id ?? null, follow?.topics, this.session?.key);
  }

  /**
   * @param key   of the query. A key that this connection watches already does not count again
   * @param asked members that an error frame repeats, so that the client knows its subscription
   * @param token of the query's last answer. An expired one counts as none: the client refetches and gets another.
   */
  #subscribe(
    key: unknown,
    asked: { query?: unknown },
    watch: (follow: Follow | null) => Watched,
    token?: unknown,
  ): void {
    const { registry, reads } = this.#options;
    try {
      if (!registry.watches(this, key)) this.#requireRoom(String(key));
      if (!registry.hasRoomFor(this)) throw new SvcError("UNAVAILABLE", "Too much is watched here. Try again later.");
      const follow = reads.open(token, this.session?.user.id ?? null);
      const watched = watch(follow);
      const { key: query, subscriptionKey } = watched;
      const renewed = registry.subscribe(this, watched) && follow !== null;
      if (follow) this.#endFollowing(query, follow);
      else if (subscriptionKey === undefined) this.#cancelEnd(query); // that of a grant or token of before
      const done =
        subscriptionKey === undefined ? { type: "subscribed" } : { type: "query:subscribed", subscriptionKey };
      this.tell({
        ...done,
        query,
        ...(follow && { follows: follow.id }),
        ...(renewed && { renewed }),
        // With a token that does not count the client has to ask again, to get another.
        ...((follow || token === undefined) && registry.before !== null && { before: registry.before }),
      });
    } catch (error) {
      this.tell({ type: "error", ...errorMembers(error), ...asked });
    }
  }

  #requireRoom(key: string): void {
    const { registry } = this.#options;
    if (registry.subscriptionsOf(this) >= connectionLimits.subscriptions) {
      throw new SvcError("RATE_LIMITED", `A connection watches at most ${connectionLimits.subscriptions} queries.`);
    }
    if (registry.charactersOf(this) + key.length > connectionLimits.keys) {
      throw new SvcError(
        "RATE_LIMITED",
        `A connection's keys have at most ${connectionLimits.keys} characters together.`,
      );
    }
  }

  /** A grant is valid for its user, in any session; other users may not use it. */
  #redeem(token: unknown): Watched {
    const grant = this.#options.grants.open(token);
    if (!grant || grant.user !== (this.session?.user.id ?? null)) {
      throw new SvcError("FORBIDDEN", "This grant is not valid, or not for you. Ask for another.");
    }
    const { query, subscriptionKey, topics, expiresAt } = grant;
    this.#options.rules.requireScope(split(query).name, this.session?.key);
    clearTimeout(this.#ends.get(query));
    const end = setTimeout(() => this.#expire(query, subscriptionKey), expiresAt - Date.now());
    this.#ends.set(query, end.unref());
    return { key: query, subscriptionKey, topics };
  }

  /**
   * Some time before the token expires the client gets the frame of a subscription that follows nothing. It refetches, and
   * continues with the new token. The time is random, because many clients may have subscribed together.
   */
  #endFollowing(key: string, { expiresAt }: Follow): void {
    const left = expiresAt - Date.now();
    const early = left * (0.1 + 0.4 * Math.random());
    const end = () => void this.#options.registry.subscribe(this, this.#watch(key));
    const warn = () => {
      this.tell({ type: "subscribed", query: key });
      this.#ends.set(key, setTimeout(end, early).unref());
    };
    clearTimeout(this.#ends.get(key));
    this.#ends.set(key, setTimeout(warn, left - early).unref());
  }

  #expire(query: string, subscriptionKey: string): void {
    this.#unsubscribe(query);
    this.tell({ type: "revoked", query, subscriptionKey, reason: "expired" });
  }

  #unsubscribe(key: string): void {
    for (const query of this.#options.registry.unsubscribe(this, key)) this.#cancelEnd(query);
  }

  #cancelEnd(query: string): void {
    clearTimeout(this.#ends.get(query));
    this.#ends.delete(query);
  }
}

/** What a client may send. */
interface ClientFrame extends ChannelFrame {
  token?: unknown;
  subscriptionKey?: unknown;
}

function parse(text: string): ClientFrame | undefined {
  requireShallowJson(text);
  const frame = jsonIn(text);
  return typeof frame === "object" && frame !== null ? frame : undefined;
}
