/** The key of a query in caches and subscriptions: its name with its arguments. */
import { nameOf, type Operation } from "./operation.ts";
import { encode } from "./wire.ts";

/** `tasks.list`, or with arguments `tasks.get::{"id":7}`: the members sorted, so that equal arguments give equal keys. */
export function operationKey(operation: Operation, args?: unknown): string {
  const name = nameOf(operation);
  const { json, meta } = encode(args);
  if (json === undefined || isEmpty(json)) return name;
  return `${name}::${stable(meta.length > 0 ? { json, meta: inOrder(meta) } : json)}`;
}

/** Inner values first, because they are restored first; otherwise by text. As in src/realtime/key.ts. */
const inOrder = (meta: readonly (string | number)[][]) =>
  [...meta].sort((a, b) => b.length - a.length || (String(a) < String(b) ? -1 : 1));

const isEmpty = (json: unknown) => typeof json === "object" && json !== null && Object.keys(json).length === 0;

function stable(json: unknown): string {
  return JSON.stringify(json, (_key, value: unknown) => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
    return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}
