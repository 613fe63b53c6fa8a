/** References to channels, and what `joinChannel` takes and gives. */
import type { SvcError } from "./error.ts";

/** The types of a channel, as the backend declares it. */
export interface ChannelTypes {
  input: unknown;
  sent: object;
  heard: object;
  shown: unknown;
  seen: unknown;
  /** Whether it is durable. */
  stored: boolean;
}

/** A reference to a channel, as the generated `api.ts` declares it. */
export interface ChannelRef<T extends ChannelTypes = ChannelTypes> {
  readonly name: string;
  readonly kind: "channel";
  /** Only for the type system. */
  readonly "~types"?: T;
}

/** The reference to a channel of the backend. */
export type ChannelOf<C extends { readonly "~svc": { readonly types?: ChannelTypes } }> = ChannelRef<
  NonNullable<C["~svc"]["types"]>
>;

/** Makes a reference; the generated `api.ts` calls it. */
export const channel = (name: string): ChannelRef => ({ name, kind: "channel" });

/** Who sent a message: null if it was the service. `id` is the user's, or that of a visitor who is not signed in. */
export type ChannelSender = { readonly id: string; readonly userId: string | null } | null;

/** One who is in the channel, with any number of tabs and devices. */
export interface ChannelMember<State = unknown> {
  readonly id: string;
  readonly userId: string | null;
  /** What they show, as far as `presence` of the channel has it; null before they show anything. */
  readonly state: State | null;
  readonly connections: number;
}

/** A message of a durable channel. */
export type ChannelMessage<Heard extends object = Record<string, unknown>> = {
  [E in keyof Heard]: {
    /** Its number in the channel: higher ones were stored later. */
    readonly id: number;
    /** When it was stored. */
    readonly at: Date;
    /** Its name. */
    readonly message: E;
    readonly data: Heard[E];
    readonly from: ChannelSender;
  };
}[keyof Heard];

/** The number of a message, and when it was stored. */
export type Stored = Pick<ChannelMessage, "id" | "at">;

/** With what a durable channel has, and no other. */
type IfStored<T extends ChannelTypes, Of, Else = never> = true extends T["stored"] ? Of : Else;

/** The messages of a channel, if it is durable. */
export type MessageOf<T extends ChannelTypes> = IfStored<T, ChannelMessage<T["heard"]>>;

/** What `on` calls for a message. */
export type ChannelListener<T extends ChannelTypes, E extends keyof T["heard"]> = (
  data: T["heard"][E],
  from: ChannelSender,
  stored: IfStored<T, Stored, undefined>,
) => void;

export interface ChannelState<State = unknown, Message = ChannelMessage> {
  /** `joining` also while the connection is lost; `refused` with an error. */
  readonly status: "joining" | "joined" | "refused" | "left";
  /** Those who are there, this client among them; empty if the channel has no `presence`. */
  readonly members: readonly ChannelMember<State>[];
  /**
   * Of a durable channel: what was asked for by `history`, and all that came since, also while the connection was lost; the
   * newest 1,000. Empty if the channel is not durable.
   */
  readonly messages: readonly Message[];
  readonly error: SvcError | null;
}

export interface ChannelOptions<T extends ChannelTypes = ChannelTypes> {
  /** What the others see of this client, from the beginning. (Default: that it is there) */
  state?: T["shown"] | undefined;
  /** Of a durable channel: how many of its newest messages this client begins with, at most 1,000. (Default: 0) */
  history?: IfStored<T, number, undefined> | undefined;
  /**
   * Messages may have been missed: the connection was lost, or is too slow. Of a durable channel: some that were missed are not
   * stored any more, and `messages` begins anew. (Default: nothing)
   */
  onMissed?: (() => void) | undefined;
}

/** A channel that this client is in. */
export interface JoinedChannel<T extends ChannelTypes = ChannelTypes> {
  /**
   * Calls back for each message of that name that comes from now on; of a durable channel with its number and time.
   *
   * @returns a function that ends it
   */
  on<E extends keyof T["heard"] & string>(event: E, listener: ChannelListener<T, E>): () => void;
  /**
   * Sends a message to the others; of a durable channel also to this client, as soon as it is stored. Else it is not stored:
   * those who are not there never get it.
   *
   * @throws SvcError FORBIDDEN, VALIDATION_FAILED, PAYLOAD_TOO_LARGE, RATE_LIMITED; NETWORK_ERROR while it is not joined
   */
  send<E extends keyof T["sent"] & string>(event: E, data: T["sent"][E]): Promise<void>;
  /**
   * Changes what the others see of this client; kept when the connection is made anew. If the service is too busy for it, the newest is
   * sent again within two seconds.
   *
   * @throws as `send`
   */
  track(state: T["shown"]): Promise<void>;
  /** The same object until something changes. */
  getState(): ChannelState<T["seen"], MessageOf<T>>;
  /** Calls back after each change of the state. @returns a function that ends it */
  subscribe(listener: () => void): () => void;
  /** Leaves it. */
  leave(): void;
}
