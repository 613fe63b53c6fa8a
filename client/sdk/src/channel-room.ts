/**
 * A channel of a client, shared by all who joined it.
 * Next hop: `realtime/connection.ts`, the socket that channels share with watched queries.
 */
import { onOtherUser } from "./authorized.ts";
import { ChannelAnswers } from "./channel-answers.ts";
import { addTo, tell } from "./channel-listeners.ts";
import { changedMembers } from "./channel-members.ts";
import { ChannelMessages, type Page, type RawMessage } from "./channel-messages.ts";
import type {
  ChannelMember,
  ChannelMessage,
  ChannelOptions,
  ChannelSender,
  ChannelState,
  JoinedChannel,
  Stored,
} from "./channel-types.ts";
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

interface Data extends Partial<RawMessage> {
  stored?: Page;
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
  readonly #listeners = new Map<string, Set<Listener>>();
  readonly #messages = new ChannelMessages();
  readonly #answers = new ChannelAnswers();
  #state: ChannelState = { ...nothing, status: "joining" };
  #shown: { state: unknown } | undefined;
  #handles = 0;
  #attempt = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #showing: ReturnType<typeof setTimeout> | undefined;
  #ending: ReturnType<typeof setTimeout> | undefined;

  /** @param history how many of the newest messages it begins with */
  constructor(connection: Connection, { auth }: Pick<SvcClient, "auth">, key: string, history = 0, ended = () => {}) {
    this.#messages.want(history);
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
        this.#messages.forget();
        this.#become({ ...nothing, status: "joining" });
        this.#begin();
      }),
    ];
    this.#stopFollowing = () => {
      for (const stop of stops) stop?.();
    };
  }

  handle({ state, history = 0, onMissed }: ChannelOptions): JoinedChannel {
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
    if (this.#messages.want(history)) this.#isIn ? this.#recall() : this.#begin();
    if (onMissed) until(addTo(this.#missed, () => onMissed()));
    if (state !== undefined) {
      this.#shown = { state };
      if (this.#state.status === "joined") this.#show();
    }
    return {
      on: (event: string, listener: Listener) => {
        const all = this.#listeners.get(event) ?? new Set();
        this.#listeners.set(event, all);
        return until(addTo<Listener>(all, (...heard) => listener(...heard)));
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
    this.#timer = undefined;
    const messages = this.#messages;
    // In this order: the service ignores the second of two equal requests.
    this.#connection.follow(this.#key, this.#secret);
    this.#connection.listen(this.#key, {
      subscribed: (_before, isGap) => {
        this.#isIn ||= !isGap;
        if (this.#isIn) this.#joined();
        if (this.#isIn && isGap && this.#messages.isDurable) this.#recall();
      },
      // The service refused only the request, which was one too many.
      renewed: () => {
        this.#isIn = true;
        if (this.#state.status === "joining") this.#joined(true);
      },
      get asks() {
        return messages.asks;
      },
      changed: () => {},
      updated: ({ data }) => this.#heard(data as Data),
      refused: (error) => this.#refused(error),
    });
  }

  /** @param wasIn at the service all the time */
  #joined(wasIn = false): void {
    // After a break, and after a gap in what the service reads. What is stored comes by itself.
    if (this.#wasJoined && !wasIn && !this.#messages.isDurable) tell(this.#missed);
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
    this.#answers.lose();
    if (this.#state.status === "joined") this.#become({ status: "joining" });
  }

  #refused(error: SvcError): void {
    this.#isIn = false;
    if (isBusy(error)) {
      this.#become({ status: "joining", error });
      if (this.#timer !== undefined) return; // of several refusals at once
      const longest = Math.min(firstRetry * 2 ** this.#attempt++, longestRetry);
      this.#timer = setTimeout(() => this.#begin(), (0.5 + Math.random() / 2) * longest);
    } else {
      this.#messages.forget();
      this.#become({ ...nothing, status: "refused", error });
    }
  }

  /** Asks for what is missing of stored messages. */
  #recall(): void {
    this.#messages.isAsking = true;
    this.#connection.send({ type: "subscribe", query: this.#key, follows: this.#secret, ...this.#messages.asks });
  }

  #read(page: Page): void {
    const news = this.#messages.read(page);
    if (this.#messages.isAsking) this.#recall();
    this.#isIn = true;
    if (this.#state.status === "joining") this.#joined(); // the service was too busy to answer before
    if (page.gap) tell(this.#missed);
    this.#showMessages(news);
  }

  #hear(raw: RawMessage): void {
    const news = this.#messages.hear(raw);
    if (news === "ask") this.#recall();
    else this.#showMessages(news);
  }

  #showMessages(news: readonly ChannelMessage[]): void {
    this.#become({ messages: this.#messages.list });
    for (const { message, data, from, id, at } of news) this.#tell(message, data, from, { id, at });
  }

  #tell(event: string, ...heard: Parameters<Listener>): void {
    tell(this.#listeners.get(event) ?? [], ...heard);
  }

  #heard({ message, body, from = null, id, at, stored, members, set, gone, missed, ...data }: Data): void {
    if (stored) this.#read(stored);
    else if (message !== undefined && id !== undefined) this.#hear({ message, body, from, id, at: at ?? 0 });
    else if (message !== undefined) this.#tell(message, decode(body as never), from);
    else if (missed) this.#messages.isDurable ? this.#recall() : tell(this.#missed);
    else if (members) this.#become({ members: changedMembers([], members) });
    else if (data.sent !== undefined) this.#answers.take(data.sent)?.resolve();
    else if (data.failed !== undefined) {
      this.#answers.take(data.failed)?.reject(new SvcError(data.code ?? "INTERNAL", data.error ?? "", data as never));
    } else this.#become({ members: changedMembers(this.#state.members, set, gone) });
  }

  #ask(frame: object): Promise<void> {
    const { status, error } = this.#state;
    if (status !== "joined") throw error ?? new SvcError("NETWORK_ERROR", "The channel is not joined yet. Try again.");
    return this.#answers.ask((ref) => this.#connection.send({ ...frame, query: this.#key, ref }));
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
    this.#state = { ...this.#state, ...change };
    tell(this.#watchers);
  }
}

type Listener = (data: unknown, from: ChannelSender, stored?: Stored) => void;

const nothing = { members: [], messages: [], error: null } as const;
const left: ChannelState = { ...nothing, status: "left" };

const encoded = (value: unknown) => {
  const { json, meta } = encode(value);
  return { json, meta };
};
