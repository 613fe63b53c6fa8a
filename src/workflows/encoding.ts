/**
 * Encodes stored values of runs in the wire form of procedures' results, `{"json": …, "meta"?: …}`, so that dates,
 * bigints, sets and the like are restored.
 */
import { serializer, toParts } from "../kit/rich-values.ts";
import { isStorableJson, isStorableText } from "../kit/storable-text.ts";

/** In bytes: steps and events store facts, not documents. */
const largestValue = 1_048_576;
/** In characters of JSON, of all checkpoints of a run: a worker that takes it up reads them at once (largestRow). */
const largestRun = 64 * 1_048_576;

/** Of steps, events and idempotency keys: what PostgreSQL stores otherwise is not what a replay or a signal compares it with. */
export const isName = (value: unknown): value is string => isStorableText(value) && value !== "" && value.length <= 200;

export const nameRule = "of 1 to 200 characters, without NUL and without halves of surrogate pairs.";

/** @param size of the run's checkpoints @throws TypeError when it is too large */
export function checkRunSize(what: string, size: number): void {
  if (size <= largestRun) return;
  throw new TypeError(
    `${what} makes the results of this run larger than 64 MiB. Keep them in a table, and their ids here.`,
  );
}

/** A stored value. */
export interface Stored {
  json?: unknown;
  meta?: unknown[];
}

/** @param what names the value in errors @throws TypeError for files, cycles, more than 1 MiB and texts that cannot be stored */
export function encodeValue(what: string, value: unknown): string {
  const { json, meta } = toParts(what, value, "Store it, and keep its id.");
  const text = JSON.stringify(meta.length > 0 ? { json, meta } : { json });
  if (Buffer.byteLength(text) > largestValue) {
    throw new TypeError(`${what} is larger than 1 MiB. Keep it in a table or in storage, and its id here.`);
  }
  if (!isStorableJson(text)) {
    throw new TypeError(`${what} holds NUL or half of a surrogate pair, which PostgreSQL cannot store. Remove it.`);
  }
  return text;
}

/** @param stored null, for an absent value, is decoded as null */
export function decodeValue(stored: Stored | null): unknown {
  if (stored === null) return null;
  return serializer().deserialize(stored.json, (stored.meta ?? []) as never);
}
