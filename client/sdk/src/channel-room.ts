/**
 * A channel of a client, shared by all who joined it.
 * Next hop: `realtime/connection.ts`, the socket that channels share with watched queries.
 */
import { onOtherUser } from "./authorized.ts";
import type { ChannelMember, ChannelOptions, ChannelSender, ChannelState, JoinedChannel } from "./channel-types.ts";
import { SvcError } from "./error.ts";
import type { Connection } from "./realtime/connection.ts";
import type { SvcClient } from "./svc-client.ts";
import { decode, encode } from "./wire.ts";

/** In milliseconds, after a refusal that passes: the first wait, doubled each time, and the longest. */
const firstRetry = 500;
const longestRetry = 30_000;
/** In milliseconds. */
const lingering = 50;
/** In milliseconds, until what is shown is sent again. */
const showsAgainAfter = 1_000;
/** Refusals that pass. */
const isBusy = (error: unknown) => ["RATE_LIMITED", "UNAVAILABLE", "TIMEOUT"].includes((error as SvcError).code);
/** In milliseconds, for the answer to a message. */
const answerWithin = 15_000;

interface Data {
  message?: string;
  body?: unknown;
  from?: ChannelSender;
  members?: ChannelMember[];
  set?: ChannelMember[];
  gone?: string[];
  missed?: true;
  sent?: number;
  failed?: number;
  code?: string;
  error?: string;
}

/** React Native has no `crypto`. */
const randomText = () => {
  const bytes = new Uint8Array(16);
  if (globalThis.crypto) crypto.getRandomValues(bytes);
  else for (const at of bytes.keys()) bytes[at] = Math.random() * 256;
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
};

export class Room {
  readonly #connection: Connection;
  readonly #key: string;
  readonly #ended: () => void;
  readonly #stopFollowing: (() => void) | undefined;
  /** With it the service knows this client again; others never see it. */
  #secret = randomText();
  #wasJoined = false;
  /** Whether the service has said so over this socket. */
  #isIn = false;
  readonly #watchers = new Set<() => void>();
  readonly #missed = new Set<() => void>();
  readonly #listeners = new Map<string, Set<(data: unknown, from: ChannelSender) => void>>();
  readonly #answers = new Map<number, { resolve(): void; reject(error: unknown): void }>();
  #state: ChannelState = { status: "joining", members: [], error: null };
  #shown: { state: unknown } | undefined;
  #handles = 0;
  #refs = 0;
  #attempt = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #showing: ReturnType<typeof setTimeout> | undefined;
  #ending: ReturnType<typeof setTimeout> | undefined;

  constructor(connection: Connection, { auth }: Pick<SvcClient, "auth">, key: string, ended: () => void) {
    this.#connection = connection;
    this.#key = key;
    this.#ended = ended;
    this.#begin();
    const stops = [
      connection.subscribe(() => {
        const status = connection.getStatus();
        if (status === "connecting") this.#isIn = false;
        if (status !== "live") this.#lost();
      }),
      onOtherUser(auth, () => {
        this.#lost();
        this.#secret = randomText();
        this.#wasJoined = false;
        this.#become({ status: "joining", members: [], error: null });
        this.#begin();
      }),
    ];
    this.#stopFollowing = () => {
      for (const stop of stops) stop?.();
    };
  }

  handle({ state, onMissed }: ChannelOptions): JoinedChannel {
    let isOver = false;
    const mine: (() => void)[] = [];
    const until = (stop: () => void) => {
      mine.push(stop);
      return stop;
    };
    const requireJoined = () => {
      if (isOver) throw new SvcError("FORBIDDEN", "This client has left the channel.");
    };
    this.#handles++;
    clearTimeout(this.#ending);
    if (onMissed) until(addTo(this.#missed, () => onMissed()));
    if (state !== undefined) {
      this.#shown = { state };
      if (this.#state.status === "joined") this.#show();
    }
    return {
      on: (event: string, listener: (data: never, from: ChannelSender) => void) => {
        const all = this.#listeners.get(event) ?? new Set();
        this.#listeners.set(event, all);
        return until(addTo(all, (data: unknown, from: ChannelSender) => listener(data as never, from)));
      },
      send: async (event: string, data: unknown) => {
        requireJoined();
        return this.#ask({ type: "send", event, data: encoded(data) });
      },
      track: async (shown: unknown) => {
        requireJoined();
        this.#shown = { state: shown };
        return this.#track();
      },
      getState: () => (isOver ? left : this.#state),
      subscribe: (listener: () => void) => until(addTo(this.#watchers, () => listener())),
      leave: () => {
        if (isOver) return;
        isOver = true;
        for (const stop of mine) stop();
        // Later: a component may take the place of another.
        if (--this.#handles === 0) this.#ending = setTimeout(() => this.#end(), lingering);
      },
    } as JoinedChannel;
  }

  #begin(): void {
    clearTimeout(this.#timer);
    // In this order: the service ignores the second of two equal requests.
    this.#connection.follow(this.#key, this.#secret);
    this.#connection.listen(this.#key, {
      subscribed: (_before, isGap) => {
        this.#isIn ||= !isGap;
        if (this.#isIn) this.#joined();
      },
      changed: () => {},
      updated: ({ data }) => this.#heard(data as Data),
      refused: (error) => this.#refused(error),
    });
  }

  #joined(): void {
    // After a break, and after a gap in what the service reads.
    if (this.#wasJoined) tell(this.#missed);
    this.#wasJoined = true;
    this.#attempt = 0;
    this.#become({ status: "joined", error: null });
    if (this.#shown) this.#show();
  }

  #show(): void {
    void this.#track().catch((error) => isBusy(error) || this.#become({ error }));
  }

  /** Sends the newest that is shown, and later again if the service is busy: the others would see an older one for ever. */
  async #track(): Promise<void> {
    clearTimeout(this.#showing);
    try {
      await this.#ask({ type: "track", state: encoded(this.#shown?.state) });
    } catch (error) {
      clearTimeout(this.#showing); // of several that failed, one is sent again
      if (isBusy(error) && this.#state.status === "joined")
        this.#showing = setTimeout(() => this.#show(), (1 + Math.random()) * showsAgainAfter);
      throw error;
    }
  }

  /** Nothing arrives until the connection is back. Who was there is still shown. */
  #lost(): void {
    const error = new SvcError("NETWORK_ERROR", "The connection was lost. The message may have been sent.");
    for (const { reject } of this.#answers.values()) reject(error);
    this.#answers.clear();
    if (this.#state.status === "joined") this.#become({ status: "joining" });
  }

  #refused(error: SvcError): void {
    this.#isIn = false;
    if (isBusy(error)) {
      this.#become({ status: "joining", error });
      clearTimeout(this.#timer);
      const longest = Math.min(firstRetry * 2 ** this.#attempt++, longestRetry);
      this.#timer = setTimeout(() => this.#begin(), (0.5 + Math.random() / 2) * longest);
    } else this.#become({ status: "refused", members: [], error });
  }

  #heard({ message, body, from = null, members, set = [], gone = [], missed, ...data }: Data): void {
    if (message !== undefined) {
      const value = decode(body as never);
      tell(this.#listeners.get(message) ?? [], value, from);
    } else if (missed) tell(this.#missed);
    else if (members) this.#become({ members });
    else if (data.sent !== undefined) this.#answered(data.sent)?.resolve();
    else if (data.failed !== undefined) {
      this.#answered(data.failed)?.reject(new SvcError(data.code ?? "INTERNAL", data.error ?? "", data as never));
    } else {
      const changed = new Map(this.#state.members.map((member) => [member.id, member]));
      for (const member of set) changed.set(member.id, member);
      for (const id of gone) changed.delete(id);
      this.#become({ members: [...changed.values()] });
    }
  }

  #answered(ref: number) {
    const answer = this.#answers.get(ref);
    this.#answers.delete(ref);
    return answer;
  }

  #ask(frame: object): Promise<void> {
    const { status, error } = this.#state;
    if (status !== "joined") throw error ?? new SvcError("NETWORK_ERROR", "The channel is not joined yet. Try again.");
    const ref = ++this.#refs;
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => {
        this.#answered(ref);
        reject(new SvcError("TIMEOUT", "The service did not answer. The message may have been sent."));
      }, answerWithin);
      const settled = (settle: (error: unknown) => void) => (reason?: unknown) => {
        clearTimeout(late);
        settle(reason);
      };
      this.#answers.set(ref, { resolve: settled(() => resolve()), reject: settled(reject) });
      this.#connection.send({ ...frame, query: this.#key, ref });
    });
  }

  #end(): void {
    this.#lost();
    clearTimeout(this.#timer);
    clearTimeout(this.#showing);
    this.#stopFollowing?.();
    this.#connection.forget(this.#key);
    this.#ended();
  }

  #become(change: Partial<ChannelState>): void {
    let { members } = change;
    if (members) members = members.map(readable);
    this.#state = { ...this.#state, ...change, ...(members && { members }) };
    tell(this.#watchers);
  }
}

const left: ChannelState = { status: "left", members: [], error: null };

/** The states of members come encoded. */
const read = new WeakSet<ChannelMember>();
function readable(member: ChannelMember): ChannelMember {
  if (read.has(member)) return member;
  const one = { ...member, state: member.state === null ? null : decode(member.state as never) };
  read.add(one);
  return one;
}

const encoded = (value: unknown) => {
  const { json, meta } = encode(value);
  return { json, meta };
};

function addTo<T>(all: Set<T>, one: T): () => void {
  all.add(one);
  return () => all.delete(one);
}

/** What a listener throws is an unhandled rejection: the others are still called. */
function tell<A extends unknown[]>(listeners: Iterable<(...args: A) => void>, ...args: A): void {
  for (const listener of [...listeners]) void (async () => listener(...args))();
}
