/** A mutation in the outbox: how it is stored, and what the answer of an earlier one changes in it. */
import type { SvcError } from "@svc/client";
import { decode, encode, toBody } from "@svc/client/bindings";

/** As it is stored: JSON. */
export interface Entry {
  /** Entries are sent in the order of their ids. */
  id: string;
  user: string;
  /** The idempotency key. */
  key: string;
  /** The name of the mutation. */
  operation: string;
  /** What is sent. It must not change once it has been. */
  body: string;
  type: "insert" | "update" | "delete";
  collection: string;
  rowKey: string | number;
  /** The property of the row that is its key. */
  keyProperty: string | undefined;
  /** Whether the mutation says when the row was last changed. */
  isGuarded: boolean;
  /** Encoded: what was changed in a row, otherwise the whole row. */
  row: string;
  /** In milliseconds, by this machine's clock: when it was sent first. */
  attemptedAt?: number;
}

/** A mutation that waits. */
export interface PendingMutation extends Readonly<Pick<Entry, "id" | "type" | "collection" | "operation">> {
  readonly key: string | number;
  /** Of an update what is changed, otherwise the row. */
  readonly row: Readonly<Record<string, unknown>>;
}

/** A mutation that was not saved, and is not shown any more. */
export interface RefusedMutation extends PendingMutation {
  /** Of the service; or OUTCOME_UNKNOWN: it may have been saved, and cannot be sent again. */
  readonly error: SvcError;
  /** Whether this page sent it. So it is in one tab alone: that one does what must happen once. */
  readonly isSender: boolean;
  /** After a `CONFLICT`: the service's row, if its collection is in use and the user may see it. */
  readonly current?: unknown;
}

/** A collection in use. */
export interface Follower {
  readonly id: string;
  /** Other mutations wait. */
  changed(): void;
  /** A mutation does not wait any more, because it was saved. @param answer undefined if the service has not kept it */
  saved(entry: Entry, answer: unknown): void;
  /** Nothing is sent for now: an answer that is asked for from now on has what was saved. */
  settled(): void;
  /** The service's row of now. */
  current(key: string | number): Promise<unknown>;
}

/** A mutation that a collection wants to be sent. */
export interface NewEntry extends Pick<Entry, "operation" | "type" | "collection" | "rowKey" | "isGuarded"> {
  args: object;
  row: object;
}

export function toEntry({ args, row, ...rest }: NewEntry, id: string, user: string): Entry {
  const body = toBody(rest.operation, args);
  if (typeof body !== "string") {
    throw new TypeError(`The arguments of ${rest.operation} contain a file. Upload it first, and pass its id.`);
  }
  const { json, meta } = encode(row);
  const isKey = ([, value]: readonly [string, unknown]) => String(value) === String(rest.rowKey);
  return {
    ...rest,
    id,
    user,
    key: `${id}-${Math.random().toString(36).slice(2)}`,
    body,
    keyProperty: [["id", (row as { id?: unknown }).id] as const, ...Object.entries(row)].find(isKey)?.[0],
    row: JSON.stringify({ json, meta }),
  };
}

export const rowOf = (entry: Entry) => decode(JSON.parse(entry.row)) as Record<string, unknown>;

export function toPending(entry: Entry): PendingMutation {
  const { id, type, collection, rowKey, operation } = entry;
  return { id, type, collection, key: rowKey, row: rowOf(entry), operation };
}

/**
 * A key for a row until the service has given it one: a negative number, which occurs nowhere else. For a key of text use
 * `crypto.randomUUID()`.
 *
 * @example
 * tasks.insert({ id: temporaryKey(), title: "Water the plants", done: false });
 */
export function temporaryKey(): number {
  return -unique - Math.floor(Math.random() * (Number.MAX_SAFE_INTEGER - unique));
}
/** Keys of rows and other numbers are smaller. */
const unique = 2 ** 42;
/** Whether the key of the row occurs nowhere else. */
export const hasUniqueKey = ({ rowKey }: Entry) => uuid.test(String(rowKey)) || Number(rowKey) <= -unique;
const uuid = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;

/**
 * Changes an entry that has not been sent: what an earlier one of its user was answered. A row that was inserted has got its
 * key, and one that was updated its time of change.
 *
 * @param answer the body of the earlier one's answer
 * @returns whether it changed anything
 */
export function rebase(later: Entry, earlier: Entry, answer: unknown): boolean {
  if (later.attemptedAt !== undefined || later.id === earlier.id) return false;
  const row = Object((answer as { json?: unknown } | null)?.json) as Record<string, unknown>;
  const before = JSON.stringify(later);
  const isSameCollection = later.collection === earlier.collection;
  const given = earlier.keyProperty === undefined ? undefined : row[earlier.keyProperty];
  if (earlier.type === "insert" && isKey(given) && String(given) !== String(earlier.rowKey)) {
    const old = earlier.rowKey;
    const isUnique = hasUniqueKey(earlier);
    const replaced = (text: string) =>
      JSON.stringify(JSON.parse(text), (name, value) =>
        String(value) === String(old) &&
        isKey(value) &&
        (isUnique || (isSameCollection && name === earlier.keyProperty))
          ? typeof value === "string"
            ? String(given)
            : given
          : value,
      );
    later.body = replaced(later.body);
    later.row = replaced(later.row);
    if (isSameCollection && later.rowKey === old) later.rowKey = keyFrom(earlier, given);
  }
  const { updatedAt } = row;
  const isSameRow = isSameCollection && String(later.rowKey) === String(given ?? earlier.rowKey);
  if (isSameRow && later.isGuarded && typeof updatedAt === "string") {
    const body = JSON.parse(later.body);
    const { args } = body;
    const sent = "json" in args && "meta" in args ? args.json : args;
    // What the user saw may be newer than this answer.
    if (!(Date.parse(sent.ifUnmodifiedSince) >= Date.parse(updatedAt))) sent.ifUnmodifiedSince = updatedAt;
    later.body = JSON.stringify(body);
  }
  return JSON.stringify(later) !== before;
}

const isKey = (value: unknown) => typeof value === "string" || typeof value === "number";
/** A bigint travels as text. */
const keyFrom = ({ rowKey }: Entry, given: unknown) => (typeof rowKey === "string" ? String(given) : Number(given));

/** In a built app TanStack DB's own error is a number, and comes with the first change. */
export function requireRandomNumbers(): void {
  if (typeof globalThis.crypto?.getRandomValues === "function") return;
  throw new TypeError(
    "TanStack DB needs `crypto.getRandomValues`, which is missing here. In React Native, set `globalThis.crypto` " +
      "before createOutbox: with expo-crypto, or by importing react-native-get-random-values.",
  );
}
