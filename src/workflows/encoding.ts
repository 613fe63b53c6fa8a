/**
 * Encodes stored values of runs in the wire form of procedures' results, `{"json": …, "meta"?: …}`, so that dates,
 * bigints, sets and the like are restored.
 */
import { serializer, toParts } from "../kit/rich-values.ts";
import { isStorableJson } from "../kit/storable-text.ts";

/** In bytes: steps and events store facts, not documents. */
const largestValue = 1_048_576;

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
  return serializer.deserialize(stored.json, (stored.meta ?? []) as never);
}
