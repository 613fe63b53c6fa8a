/**
 * What a collection shows: the rows of the query's last answer, with the mutations of the outbox over them. TanStack DB would
 * hold back answers while a transaction of its own lasts, so its transactions end as soon as a mutation is kept.
 * Next hop: `outbox.ts`.
 */
import { type Mutation, type Query, SvcError } from "@svc/client";
import { convertRows, decode, encode, fromBody, onOtherUser } from "@svc/client/bindings";
import type { SyncConfig } from "@tanstack/db";
import { type Entry, type Follower, rowOf } from "./entry.ts";
import type { Outbox } from "./outbox.ts";
import type { AnyClient } from "./send.ts";

export type Row = Record<string, unknown>;
type Key = string | number;
type Sync = Parameters<SyncConfig<Row, Key>["sync"]>[0];

export interface ViewOptions {
  client: AnyClient;
  outbox?: Outbox | undefined;
  id: string;
  query: Query;
  args: unknown;
  getKey: (row: Row) => Key;
  /** The mutations, for their conversions. */
  mutations: { insert?: Mutation | undefined; update?: Mutation | undefined };
  keepRows: boolean;
}

/** In characters: what is kept of a collection for the next start. */
const mostKept = 2 ** 20;

export class View implements Follower {
  readonly id: string;
  readonly #options: ViewOptions;
  readonly #sync: Sync;
  readonly #stop: (() => void)[];
  /** The last answer. */
  #base: Map<Key, Row> | undefined;
  /** Saved, and not yet in an answer that was asked for afterwards. */
  #saved: { entry: Entry; row: Row; key: Key; isAsked: boolean }[] = [];
  /** Keys that came with answers since nothing was being inserted. */
  readonly #new = new Set<Key>();
  /** What the collection was given. */
  #shown = new Map<Key, Row>();

  constructor(options: ViewOptions, sync: Sync) {
    const { client, outbox, query, args, id } = options;
    this.id = id;
    this.#options = options;
    this.#sync = sync;
    this.#stop = [
      onOtherUser(client.auth, () => this.#empty()) ?? (() => {}),
      outbox?.follow(this) ?? (() => {}),
      client.watch(
        query,
        args,
        (result) => this.#answered(result),
        (error) => this.#failed(error),
      ),
    ];
    if (options.keepRows) this.#readKept().catch(() => {});
    this.changed();
  }

  end(): void {
    for (const stop of this.#stop) stop();
  }

  /** When the service last changed a row that is shown: other mutations, which wait, do not count. */
  changedAt(key: Key): unknown {
    return this.#rows([]).get(key)?.updatedAt;
  }

  saved(entry: Entry, answer: unknown): void {
    if (entry.collection !== this.id) return;
    const operation = entry.type === "insert" ? this.#options.mutations.insert : this.#options.mutations.update;
    // Without a notice for the author: a whole row has columns that the service sets.
    const { json, meta } = Object(answer);
    const result =
      operation && entry.type !== "delete" && answer !== undefined ? fromBody({ json, meta }, operation) : {};
    const row = { ...this.#restored([rowOf(entry)])[0], ...Object(result) };
    const key = entry.type === "insert" ? this.#options.getKey(row) : entry.rowKey;
    this.#saved.push({ entry, row, key, isAsked: false });
  }

  settled(): void {
    if (this.#saved.every(({ isAsked }) => isAsked)) return;
    for (const each of this.#saved) each.isAsked = true;
    this.#keepKnown(); // once for all that was saved: it takes long where there are many rows
    this.#ask().catch(() => {}); // then a later answer has it
  }

  async current(key: Key): Promise<unknown> {
    await this.#ask();
    return this.#base?.get(key);
  }

  changed(): void {
    this.#show(this.#rows(this.#options.outbox?.entriesOf(this.id) ?? []));
  }

  /** Asks the query afresh: the watch hears of the answer, too. */
  #ask(): Promise<unknown> {
    const { client, query, args } = this.#options;
    return client["~svc"].refetch(query, args, { afresh: true });
  }

  #answered(result: unknown): void {
    const rows = rowsOf(result);
    const before = this.#base;
    this.#base = new Map(rows.map((row) => [this.#options.getKey(row), row]));
    if (before) for (const key of this.#base.keys()) if (!before.has(key)) this.#new.add(key);
    this.#saved = this.#saved.filter(({ isAsked }) => !isAsked);
    this.changed();
    this.#sync.markReady();
    this.#keepKnown();
  }

  /** For the next start: the last answer, and what was saved since. What waits is kept by itself. */
  #keepKnown(): void {
    if (!this.#options.keepRows || !this.#base) return;
    this.#keep(() => {
      const { json, meta } = encode([...this.#rows([]).values()]);
      const text = JSON.stringify({ json, meta });
      return text.length > mostKept ? undefined : text;
    });
  }

  #failed(error: unknown): void {
    const { status, retryAfter } = error instanceof SvcError ? error : { status: 0, retryAfter: undefined };
    if (status < 400 || status >= 500 || status === 429 || retryAfter !== undefined) return;
    // The query is refused: its rows may not be seen any more.
    this.#empty();
    if (this.#options.keepRows) this.#keep(() => undefined);
    if (status !== 401) this.#sync.markError(error); // otherwise somebody may sign in
  }

  #keep(text: () => string | undefined): void {
    const { outbox } = this.#options;
    const user = outbox?.user();
    if (user) outbox?.shelf.keepRows(() => outbox.user() === user, user, this.id, text);
  }

  async #readKept(): Promise<void> {
    const { outbox } = this.#options;
    const user = outbox?.user();
    const text = user && (await outbox?.shelf.rows(user, this.id));
    if (!text || this.#base || user !== outbox?.user()) return;
    const rows = this.#restored(decode(JSON.parse(text)) as Row[]);
    this.#base = new Map(rows.map((row) => [this.#options.getKey(row), row]));
    this.changed();
    this.#sync.markReady();
  }

  /** At once: a truncation does not wait for transactions that are being kept. */
  #empty(): void {
    this.#base = undefined;
    this.#saved = [];
    this.#new.clear();
    this.#shown.clear();
    this.#sync.begin();
    this.#sync.truncate({ markReady: false });
    this.#sync.commit();
  }

  #rows(entries: Entry[]): Map<Key, Row> {
    const rows = new Map(this.#base);
    for (const { entry, row, key } of this.#saved) overlay(rows, entry, row, key);
    const waiting = this.#restored(entries.map(rowOf));
    for (const [at, entry] of entries.entries()) overlay(rows, entry, waiting[at] ?? {}, entry.rowKey);
    return rows;
  }

  /** Rows as they were before they were stored: bytes have become text. */
  #restored(rows: Row[]): Row[] {
    const { columns } = this.#options.query;
    return columns ? (convertRows({ data: rows }, columns, ".list") as { data: Row[] }).data : rows;
  }

  #show(rows: Map<Key, Row>): void {
    const { begin, write, commit } = this.#sync;
    const entries = this.#options.outbox?.entriesOf(this.id) ?? [];
    // Until an insert is answered, its row may be among the new ones of an answer, under another key: it would be there twice.
    if (!entries.some(({ type, attemptedAt }) => type === "insert" && attemptedAt !== undefined)) this.#new.clear();
    const own = new Set([...entries.map(({ rowKey }) => rowKey), ...this.#saved.map(({ key }) => key)]);
    for (const key of this.#new) if (!own.has(key)) rows.delete(key);
    begin();
    for (const key of this.#shown.keys()) if (!rows.has(key)) write({ type: "delete", key });
    for (const [key, value] of rows) {
      const before = this.#shown.get(key);
      if (before !== value) write({ type: before ? "update" : "insert", value });
    }
    this.#shown = rows; // before others hear of it, who may change the collection at once
    commit();
  }
}

function overlay(rows: Map<Key, Row>, { type }: Entry, row: Row, key: Key): void {
  if (type === "delete") rows.delete(key);
  else if (type === "insert" && !rows.has(key)) rows.set(key, row);
  else if (type === "update" && rows.has(key)) rows.set(key, { ...rows.get(key), ...row });
}

/** Of an answer that is an array, or has one as `data`. */
function rowsOf(result: unknown): Row[] {
  const rows = Array.isArray(result) ? result : (result as { data?: unknown } | null)?.data;
  if (Array.isArray(rows)) return rows as Row[];
  throw new TypeError(
    "The answer has no rows: svcCollectionOptions takes queries that answer with an array, or { data: [] }.",
  );
}
