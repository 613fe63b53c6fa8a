/** References to channels, and what `joinChannel` takes and gives. */
import type { SvcError } from "./error.ts";

/** The types of a channel, as the backend declares it. */
export interface ChannelTypes {
  input: unknown;
  sent: object;
  heard: object;
  shown: unknown;
  seen: unknown;
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

export interface ChannelState<State = unknown> {
  /** `joining` also while the connection is lost; `refused` with an error. */
  readonly status: "joining" | "joined" | "refused" | "left";
  /** Those who are there, this client among them; empty if the channel has no `presence`. */
  readonly members: readonly ChannelMember<State>[];
  readonly error: SvcError | null;
}

export interface ChannelOptions<T extends ChannelTypes = ChannelTypes> {
  /** What the others see of this client, from the beginning. (Default: that it is there) */
  state?: T["shown"] | undefined;
  /** Messages may have been missed: the connection was lost, or is too slow. (Default: nothing) */
  onMissed?: (() => void) | undefined;
}

/** A channel that this client is in. */
export interface JoinedChannel<T extends ChannelTypes = ChannelTypes> {
  /** Calls back for each message of that name. @returns a function that ends it */
  on<E extends keyof T["heard"] & string>(
    event: E,
    listener: (data: T["heard"][E], from: ChannelSender) => void,
  ): () => void;
  /**
   * Sends a message to the others. It is not stored: those who are not there never get it.
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
  getState(): ChannelState<T["seen"]>;
  /** Calls back after each change of the state. @returns a function that ends it */
  subscribe(listener: () => void): () => void;
  /** Leaves it. */
  leave(): void;
}
