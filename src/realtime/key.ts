/** The keys of queries and channels: the name with the arguments. */
import { sortMembers, toParts } from "../kit/rich-values.ts";

/**
 * The same as in clients (client/sdk/src/key.ts): members sorted, values that JSON does not have encoded, and only the
 * name without arguments.
 */
export function keyOf(queryKey: string, args: unknown): string {
  const { json, meta } = toParts("A query's arguments", args, "Store it, and pass its id.");
  if (args === undefined || isEmpty(json)) return queryKey;
  return `${queryKey}::${JSON.stringify(meta.length > 0 ? { json, meta: inOrder(meta) } : json, sortMembers)}`;
}

/** What names a channel among those of its definition. Unlike keys, which clients write, only equal inputs have equal texts. */
export function exactText(input: unknown = {}): string {
  const { json, meta } = toParts("A channel's input", input, "Store it, and pass its id.");
  const text = JSON.stringify(json, sortMembers);
  return meta.length > 0 ? `${text} ${JSON.stringify(inOrder(meta))}` : text;
}

const isEmpty = (json: unknown) => typeof json === "object" && json !== null && Object.keys(json).length === 0;

/** Inner values first, because they are restored first; otherwise by text. */
const inOrder = (meta: readonly (readonly unknown[])[]) =>
  meta.toSorted((a, b) => b.length - a.length || (String(a) < String(b) ? -1 : 1));
