/**
 * How values of runs are stored: as results of procedures travel, `{"json": …, "meta"?: …}`, so that dates, bigints, sets
 * and the like come back as they were.
 */
import { serializer, toParts } from "../kit/rich-values.ts";

/** In bytes: a step's result or an event is a fact, not a document. */
const largestValue = 1_048_576;

/** A stored value. */
export interface Stored {
  json?: unknown;
  meta?: unknown[];
}

/** @param what names the value in errors @throws TypeError for what cannot be kept: files, cycles, more than 1 MiB */
export function encodeValue(what: string, value: unknown): string {
  const { json, meta } = toParts(what, value, "Store it, and keep its id.");
  const text = JSON.stringify(meta.length > 0 ? { json, meta } : { json });
  if (Buffer.byteLength(text) > largestValue) {
    throw new TypeError(`${what} is larger than 1 MiB. Keep it in a table or in storage, and its id here.`);
  }
  return text;
}

/** @param stored null where nothing was stored, which stands for null */
export function decodeValue(stored: Stored | null): unknown {
  if (stored === null) return null;
  return serializer.deserialize(stored.json, (stored.meta ?? []) as never);
}
