/**
 * `createOutbox`: mutations that are kept on the device until the service has answered them. They are sent in their order, one
 * at a time, and only while the user who made them is signed in.
 * Next hop: `send.ts` sends one; `view.ts` shows them in a collection.
 */
import { SvcError } from "@svc/client";
import { onOtherUser } from "@svc/client/bindings";
import type { Entry, Follower, NewEntry, PendingMutation, RefusedMutation } from "./entry.ts";
import { hasUniqueKey, rebase, requireRandomNumbers, toEntry, toPending } from "./entry.ts";
import { type AnyClient, forgotten, isForgotten, maxDoubts, meaningOf, send } from "./send.ts";
import { byId, Shelf } from "./shelf.ts";
import { indexedDbStorage, type OutboxStorage } from "./storage.ts";
import { alone, type Message, otherTabs } from "./tabs.ts";
import { call, Tries } from "./tries.ts";

export interface OutboxOptions {
  /** (Default: the browser's IndexedDB) */
  storage?: OutboxStorage | undefined;
  /** Gets each mutation that was refused, in every tab of the user. (Default: nobody is told) */
  onRefused?: ((refused: RefusedMutation) => void) | undefined;
}

const mostAnswers = 100;

/** The mutations of one client that wait for an answer. */
export class Outbox {
  readonly #onRefused: OutboxOptions["onRefused"];
  readonly #followers = new Set<Follower>();
  readonly #listeners = new Set<() => void>();
  readonly #stopFollowing: () => void;
  readonly #tries: Tries;
  readonly #tabs: ReturnType<typeof otherTabs>;
  /** @internal */
  readonly client: AnyClient;
  /** @internal */
  readonly shelf: Shelf;
  /** Those of the signed-in user, oldest first. */
  #entries: Entry[] = [];
  #pending: readonly PendingMutation[] = [];
  /** Ids of those that are not in the storage yet. */
  readonly #unwritten = new Set<string>();
  /** Resolves when the user has gone. */
  #left: Promise<void> | undefined;
  #leave = () => {};
  #lastTime = 0;
  /** The last answers: another tab, or a form, may not have known the key of a row when it made a mutation. */
  readonly #answers: [Entry, answer: unknown][] = [];
  readonly #doubts = new Map<string, number>();

  constructor(client: AnyClient, { storage = indexedDbStorage(), onRefused }: OutboxOptions) {
    if (!client.auth) throw new TypeError("An outbox needs a client with `auth`: it keeps mutations for their user.");
    requireRandomNumbers();
    this.client = client;
    this.#onRefused = onRefused;
    this.shelf = new Shelf(storage);
    this.#tabs = otherTabs(storage.name, (message) => this.#hear(message));
    this.#tries = new Tries(client, () => alone(storage.name, () => this.#sendAll()));
    this.#stopFollowing = onOtherUser(client.auth, () => this.#begin()) as () => void;
    this.#begin();
  }

  /** Mutations of the signed-in user that wait, oldest first. The same array until they change. */
  pending = (): readonly PendingMutation[] => this.#pending;

  /** Calls back after every change of what waits. @returns a function that ends it */
  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Drops what waits of the signed-in user, for example before signing out on a shared device. */
  async discard(): Promise<void> {
    const user = this.user();
    this.#show([]);
    const { shelf } = this;
    if (user) await shelf.use(() => shelf.clear(user));
    this.#tabs.tell({ kind: "changed" });
  }

  /** Sends nothing any more. What waits is kept for the next outbox on this storage. */
  close(): void {
    this.#tries.close();
    this.#tabs.close();
    this.#stopFollowing();
  }

  /** @internal The signed-in user. */
  user = (): string | undefined => this.client.auth?.getState().user?.id;

  /** @internal */
  entriesOf = (collection: string): Entry[] => this.#entries.filter((entry) => entry.collection === collection);

  /** @internal Has a collection hear of its mutations. @returns a function that ends it */
  follow(follower: Follower): () => void {
    this.#followers.add(follower);
    return () => this.#followers.delete(follower);
  }

  /**
   * @internal Keeps mutations until they are answered.
   *
   * @throws SvcError UNAUTHORIZED without a user; TypeError for arguments with files; what the storage rejects with
   */
  async add(wanted: NewEntry[]): Promise<void> {
    const user = this.user();
    if (!user) throw new SvcError("UNAUTHORIZED", "Nobody is signed in whose mutation this could be.");
    const entries = wanted.map((each) => toEntry(each, this.#nextId(), user));
    const ids = new Set(entries.map(({ id }) => id));
    for (const id of ids) this.#unwritten.add(id);
    this.#show([...this.#entries, ...entries]);
    const { shelf } = this;
    try {
      const written = shelf.use(() => Promise.all(entries.map(shelf.write)));
      // TanStack DB shows the rows for as long as this lasts: to nobody else.
      await Promise.race([written, this.#left]);
    } catch (error) {
      this.#drop(entries);
      await shelf.use(() => Promise.allSettled(entries.map(shelf.remove)));
      throw error;
    } finally {
      for (const id of ids) this.#unwritten.delete(id);
    }
    this.#tabs.tell({ kind: "changed" });
    this.#tries.begin();
  }

  /** Sortable. The clock may have been set back. */
  #nextId(): string {
    const newest = Number(this.#entries.at(-1)?.id.split("-")[0] ?? 0);
    this.#lastTime = Math.max(Date.now(), this.#lastTime + 1, newest + 1);
    return `${String(this.#lastTime).padStart(15, "0")}-${Math.random().toString(36).slice(2)}`;
  }

  #show(entries: Entry[]): void {
    this.#entries = entries;
    this.#pending = entries.map(toPending);
    for (const follower of [...this.#followers]) call(() => follower.changed());
    for (const listener of [...this.#listeners]) call(listener);
  }

  #drop(entries: Entry[]): void {
    const ids = new Set(entries.map(({ id }) => id));
    this.#show(this.#entries.filter(({ id }) => !ids.has(id)));
  }

  /** For the user who is signed in now. */
  #begin(): void {
    this.#leave();
    this.#answers.length = 0;
    this.#left = new Promise((resolve) => {
      this.#leave = resolve;
    });
    this.#show([]);
    this.shelf.forgetOthers(this.user()).catch(() => {});
    this.#load().then(this.#tries.begin, this.#tries.later);
  }

  /** Reads what waits: other tabs add and send, too. */
  async #load(): Promise<void> {
    const user = this.user();
    if (!user) return;
    const stored = await this.shelf.use(() => this.shelf.entries(user));
    if (user !== this.user()) return;
    const known = new Map(this.#entries.map((entry) => [entry.id, entry]));
    const read = stored.map((entry) => Object.assign(known.get(entry.id) ?? entry, { attemptedAt: undefined }, entry));
    const unwritten = this.#entries.filter(
      ({ id }) => this.#unwritten.has(id) && !read.some((entry) => entry.id === id),
    );
    this.#show([...read, ...unwritten].sort(byId));
  }

  /** @throws the error after which a later try may go better */
  async #sendAll(): Promise<void> {
    const { auth, realtime } = this.client;
    await this.#load();
    const isKnown = this.user() !== undefined;
    const waiting = isKnown ? this.#entries : await this.shelf.use(() => this.shelf.entries()).catch(() => []);
    if (waiting.length === 0) return;
    // Who is signed in: a page in cookie mode learns it from the service alone. And whether there is a connection: what is sent
    // without one may have arrived all the same.
    const isConnected = realtime.getStatus() === "live" && globalThis.navigator?.onLine !== false;
    if (!isKnown || !isConnected) await auth?.restore();
    try {
      for (let entry = this.#entries[0]; entry && !this.#unwritten.has(entry.id); entry = this.#entries[0]) {
        if (this.#tries.isClosed) return;
        await this.#sendOne(entry);
      }
    } finally {
      this.#settled();
      this.#tabs.tell({ kind: "settled" });
    }
  }

  async #sendOne(entry: Entry): Promise<void> {
    if (isForgotten(entry)) return this.#refuse(entry, forgotten());
    const mark = (attemptedAt: number | undefined) => {
      entry.attemptedAt = attemptedAt;
      return this.shelf.use(() => this.shelf.rewrite(entry));
    };
    const isFirst = entry.attemptedAt === undefined;
    await this.client.auth?.["~svc"].credentials(new AbortController().signal); // may need the connection
    if (this.user() !== entry.user) return;
    if (isFirst) for (const [earlier, answer] of this.#answers) rebase(entry, earlier, answer);
    if (!(await mark(entry.attemptedAt ?? Date.now()))) return this.#load(); // it was discarded, or another page saved it
    let answer: unknown;
    try {
      answer = await send(this.client, entry);
    } catch (error) {
      const meaning = meaningOf(error);
      const { status, code } = error as Partial<SvcError>;
      const isOthers = code === "UNAUTHORIZED" || status === 412;
      if (isFirst && (isOthers || status === 429)) await mark(undefined); // it did not run
      if (isOthers) await this.client.auth?.restore();
      if (this.user() !== entry.user) return;
      const doubts = (this.#doubts.get(entry.id) ?? 0) + Number(meaning === "doubtful");
      this.#doubts.set(entry.id, doubts);
      if (meaning !== "refused" && doubts < maxDoubts) throw error;
      return this.#refuse(entry, error instanceof SvcError ? error : new SvcError("INVALID_ANSWER", String(error)));
    }
    await this.#saved(entry, answer);
  }

  async #saved(entry: Entry, answer: unknown): Promise<void> {
    const { shelf } = this;
    await shelf.use(async () => {
      for (const stored of await shelf.entries(entry.user)) {
        const later = this.#entries.find(({ id }) => id === stored.id) ?? stored;
        if (rebase(later, entry, answer)) await shelf.write(later);
      }
      for (const later of this.#entries) rebase(later, entry, answer); // those that are written next
      await shelf.remove(entry);
    });
    this.#tabs.tell({ kind: "saved", entry, answer });
    this.#settle(entry, answer);
  }

  #settle(entry: Entry, answer: unknown): void {
    if (this.user() !== entry.user) return;
    for (const follower of [...this.#followers]) call(() => follower.saved(entry, answer));
    if (entry.type === "update" || hasUniqueKey(entry)) this.#answers.push([entry, answer]);
    this.#answers.splice(0, this.#answers.length - mostAnswers);
    this.#drop([entry]);
  }

  #settled(): void {
    for (const follower of [...this.#followers]) follower.settled();
  }

  /** Without a row that was not inserted, its later changes mean nothing. */
  async #refuse(entry: Entry, error: SvcError): Promise<void> {
    const isPart = ({ id, collection, rowKey }: Entry) =>
      id === entry.id || (entry.type === "insert" && collection === entry.collection && rowKey === entry.rowKey);
    const entries = await this.shelf.use(async () => {
      const stored = await this.shelf.entries(entry.user);
      const parts = stored.some(({ id }) => id === entry.id) ? stored.filter(isPart) : [];
      await Promise.all(parts.map(this.shelf.remove));
      return parts;
    });
    // It was discarded, or another page has had its answer: without Web Locks two send at once.
    if (entries.length === 0) return this.#load();
    const { code, message, status, hint, issues } = error;
    const told = { code, message, status, issues, ...(hint && { hint }) };
    this.#tabs.tell({ kind: "refused", entries, error: told });
    this.#tellRefused(entries, error, true);
  }

  #tellRefused(entries: Entry[], error: SvcError, isSender: boolean): void {
    this.#drop(entries);
    for (const entry of entries) {
      call(async () => {
        const follower = [...this.#followers].find(({ id }) => id === entry.collection);
        const asked = error.code === "CONFLICT" ? follower?.current(entry.rowKey).catch(() => {}) : undefined;
        const current = await asked;
        if (entry.user !== this.user()) return;
        this.#onRefused?.({ ...toPending(entry), error, isSender, ...(current !== undefined && { current }) });
      });
    }
  }

  #hear(message: Message): void {
    if (message.kind === "settled") this.#settled();
    if (message.kind === "saved") this.#settle(message.entry, message.answer);
    if (message.kind === "refused") {
      const { code, message: text, ...details } = message.error;
      const ofUser = message.entries.filter(({ user }) => user === this.user());
      this.#tellRefused(ofUser, new SvcError(code, text, details), false);
    }
    // A page that ends leaves to the others what it has not sent.
    if (message.kind !== "settled") this.#load().then(this.#tries.begin, this.#tries.later);
  }
}

/**
 * Makes the outbox of a client. All collections of the client share it, so that their mutations keep their order.
 *
 * @throws TypeError for a client without `auth`, and where `crypto.getRandomValues` is missing
 * @example
 * const outbox = createOutbox(client, { onRefused: ({ operation, error }) => toast(`${operation}: ${error.message}`) });
 */
export const createOutbox = (client: AnyClient, options: OutboxOptions = {}): Outbox => new Outbox(client, options);
