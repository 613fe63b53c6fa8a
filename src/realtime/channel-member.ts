/**
 * One connection in a channel. `join` decides whether it may be there, and is asked again when a change of what it read
 * comes in the log. Until the answer, what comes later in the log is held back: who was removed hears nothing that
 * committed after the removal.
 * Next hop: `channels.ts` has the members of all channels.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Session } from "../kit/session.ts";
import { SvcError } from "../kit/svc-error.ts";
import type { Place } from "./channel-codec.ts";
import { channelLimits } from "./channel-limits.ts";
import { pageFrame, type Recall, type Stored } from "./channel-store.ts";
import type { Told } from "./told-transactions.ts";
import { sees } from "./transaction-ids.ts";

/** A connection, as channels see it. */
export interface ChannelSocket {
  readonly session: Session | null;
  /** The network for which it counts; null when connections are not counted. */
  readonly address: string | null;
  /** The network of the client. */
  readonly network: string;
  /** Bytes that the client has not taken yet. */
  readonly waiting: number;
  tell(message: object): void;
  send(frame: Buffer): void;
}

/** What `join` said. */
export interface Asked {
  isAllowed: boolean;
  /** The transactions that it saw; null if it read nothing. */
  snapshot: string | null;
  /** Of what it read. */
  topics: readonly string[];
  /** Whether every change of it comes under these topics. */
  isComplete: boolean;
  /** What was asked for of a durable channel. */
  stored?: Stored | undefined;
}

interface Host {
  /** Runs `join` as the member. @param recall what it wants to be told of stored messages. (Default: nothing) */
  ask(member: Member, recall?: Recall): Promise<Asked>;
  /** Resolves when changes arrive. @throws SvcError UNAVAILABLE */
  live(): Promise<void>;
  /** The changes that have been told so far. */
  readonly told: Told;
  /** Whether an answer with this snapshot has seen all of them. */
  hasSeenAll(snapshot: string | null, told: Told): boolean;
  /** Has the member doubted at changes of these topics. */
  follow(member: Member, topics: readonly string[]): void;
  admitted(member: Member): void;
  /** A message was dropped. */
  behind(member: Member): void;
}

/** A frame that waits for the answer of `join`. */
interface Held {
  frame: Buffer;
  missed(): void;
}

/** In milliseconds. */
const asksAgainAfter = 5 * 60_000;
/** The same where not every change can be seen. */
const looksAfter = 30_000;
const longestPause = 1_000;
/** How long `join` may fail for reasons that pass. */
const patience = 30_000;

export interface MemberOptions {
  host: Host;
  socket: ChannelSocket;
  /** The client's name of the channel. */
  key: string;
  place: Place;
  /** Of this member among those of the channel: the same when it comes back with the same secret. */
  connection: string;
  /** The secret. */
  secret: unknown;
  /** Of a durable channel. */
  recall?: Recall | undefined;
  /** As `Member.entering`. */
  entering(): void;
  /** Called when it may not be there, or not any more. */
  refused(member: Member, error: SvcError): void;
}

export class Member {
  readonly socket: ChannelSocket;
  readonly key: string;
  readonly place: Place;
  readonly connection: string;
  readonly secret: unknown;
  readonly userId: string | null;
  topics: readonly string[] = [];
  isAdmitted = false;
  isOver = false;
  /** Whether it has the list of those who are there. */
  hasList = false;
  /** Called when it may be there and has a place, before it is there. @throws SvcError why it is not let in all the same */
  readonly entering: () => void;
  readonly #host: Host;
  readonly #refused: MemberOptions["refused"];
  #isAsking = false;
  #again = false;
  /** When it began to ask, or changes were last awaited in vain. */
  #since = 0;
  /** Transactions that the next answer must have seen. */
  #needs: string[] = [];
  /** How often all became unknown. */
  #renewals = 0;
  /** Whether the next answer must have seen all that was told. */
  #needsAll = true;
  #held: Held[] = [];
  #recall: Recall | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** Acts that wait for the answer. */
  #acts: (() => void)[] = [];

  constructor({ host, socket, key, place, connection, secret, recall, entering, refused }: MemberOptions) {
    this.#host = host;
    this.#recall = recall;
    this.entering = entering;
    this.#refused = refused;
    this.secret = secret;
    this.socket = socket;
    this.key = key;
    this.place = place;
    this.connection = connection;
    this.userId = socket.session?.user.id ?? null;
  }

  /** How others see it. */
  get sender() {
    return { id: this.userId ?? this.connection, userId: this.userId };
  }

  /** Asks `join`, soon. @param xid a transaction that may have changed the answer. (Default: any) */
  doubt(xid?: string): void {
    if (xid !== undefined) this.#needs.push(xid);
    this.#again = true;
    clearTimeout(this.#timer);
    if (this.#isAsking || this.isOver) return;
    this.#isAsking = true;
    void this.#settle().catch((error) => this.#refuse(error));
  }

  /**
   * Has it told of stored messages, by the answer of `join` that reads them. That must have seen all that was told before,
   * and what is told later waits for it: no message is left out.
   */
  recall(recall: Recall): void {
    this.#recall = recall;
    this.#needsAll = true;
    this.doubt();
  }

  /** All is unknown: the log is read anew, and may be that of another server, whose transactions have other ids. */
  renew(): void {
    this.#needs = [];
    this.#renewals++;
    this.#needsAll = true;
    this.doubt();
  }

  /** Does something in its name, when `join` has answered. @throws SvcError UNAVAILABLE when too much waits for that */
  act(does: () => void): void {
    if (!this.#isAsking) does();
    else if (this.#acts.length < channelLimits.held) this.#acts.push(does);
    else throw new SvcError("UNAVAILABLE", "Whether you may be in this channel is not known yet. Try again shortly.");
  }

  get isDoubted(): boolean {
    return this.#isAsking;
  }

  /** Gives it a message, or who is there. @param missed called if it is dropped. (Default: as `Host.behind`) */
  give(frame: Buffer, missed = () => this.#host.behind(this)): void {
    // Stored messages that are told before the member is admitted may not be in the page that it gets then.
    if (this.isOver || !(this.isAdmitted || this.#recall)) return;
    if (!this.#isAsking) this.#pass({ frame, missed });
    else if (this.#held.length < channelLimits.held) this.#held.push({ frame, missed });
    else missed();
  }

  end(): void {
    this.isOver = true;
    this.#held = [];
    clearTimeout(this.#timer);
    for (const does of this.#acts.splice(0)) does();
  }

  async #settle(): Promise<void> {
    this.#since = performance.now();
    for (let pause = 0; this.#again && !this.isOver; pause = Math.min(Math.max(2 * pause, 20), longestPause)) {
      if (pause > 0) await sleep(pause, undefined, { ref: false });
      this.#again = false;
      const outcome = await this.#askOnce();
      if (outcome === "over") return;
      if (outcome === "unsettled") this.#again = true;
    }
    this.#isAsking = false;
    for (const does of this.#acts.splice(0)) does();
  }

  /** @returns `unsettled` when the answer has not seen all that it must have seen @throws SvcError FORBIDDEN */
  async #askOnce(): Promise<"over" | "unsettled" | "settled"> {
    const needs = this.#needs.splice(0);
    const heldBefore = this.#held.length;
    const renewals = this.#renewals;
    const toldBefore = this.#host.told;
    const recall = this.#recall;
    const asked = await this.#ask(recall);
    if (this.isOver) return "over";
    if (asked && !asked.isAllowed) throw new SvcError("FORBIDDEN", "You may not be in this channel.");
    const isNew = asked?.topics.some((topic) => !this.topics.includes(topic)) ?? false;
    if (asked) this.#host.follow(this, asked.topics);
    if (renewals !== this.#renewals) return "unsettled";

    const late = needs.filter((xid) => !asked || (asked.snapshot !== null && !sees(asked.snapshot, xid)));
    this.#needs.push(...late);
    if (!asked) return "unsettled";
    // What changed between the answer and the subscription to its topics is told to nobody. What changes later, is told to it:
    // an answer need not have seen that, which never ends where others write without a pause.
    this.#needsAll ||= isNew;
    const told = isNew ? this.#host.told : toldBefore;
    const hasMissed = this.#needsAll && !this.#host.hasSeenAll(asked.stored?.snapshot ?? asked.snapshot, told);
    // Without the page a client does not know up to which message it has all.
    const isSlow = asked.stored !== undefined && this.socket.waiting > channelLimits.waiting;
    if (late.length > 0 || hasMissed || isSlow) return "unsettled";

    this.#needsAll = recall !== this.#recall;
    if (!this.#needsAll) this.#recall = undefined;
    this.#release(asked, this.#again ? heldBefore : Number.POSITIVE_INFINITY);
    return "settled";
  }

  /** @returns null for a failure that passes */
  async #ask(recall: Recall | undefined): Promise<Asked | null> {
    try {
      await this.#host.live();
    } catch (error) {
      if (!this.isAdmitted) throw error;
      // Until changes arrive again it neither hears nor says anything, so nobody need be put out.
      this.#since = performance.now();
      return null;
    }
    try {
      return await this.#host.ask(this, recall);
    } catch (error) {
      const passes = error instanceof SvcError && ["UNAVAILABLE", "TIMEOUT", "RATE_LIMITED"].includes(error.code);
      if (passes && this.isAdmitted && performance.now() - this.#since < patience) return null;
      throw error;
    }
  }

  #release({ isComplete, stored }: Asked, count: number): void {
    if (!this.isAdmitted) {
      this.isAdmitted = true;
      this.#host.admitted(this);
    }
    if (stored) this.socket.send(pageFrame(this.key, stored.page));
    for (const held of this.#held.splice(0, count)) this.#pass(held);
    const wait = (isComplete ? asksAgainAfter : looksAfter) * (0.75 + Math.random() / 4);
    clearTimeout(this.#timer);
    if (!this.isOver) this.#timer = setTimeout(() => this.doubt(), wait).unref();
  }

  #pass({ frame, missed }: Held): void {
    if (this.socket.waiting > channelLimits.waiting) missed();
    else this.socket.send(frame);
  }

  #refuse(error: unknown): void {
    if (this.isOver) return;
    this.end();
    this.#refused(this, error instanceof SvcError ? error : new SvcError("INTERNAL", undefined, { cause: error }));
  }
}
