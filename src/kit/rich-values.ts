/**
 * Values as JSON, plus metadata for types that JSON lacks: dates, bigints, sets, maps and the like. Used for arguments
 * and results on the wire, and for the stored values of runs. `client/sdk/src/wire.ts` is the same for clients. Source:
 * https://orpc.dev/docs/advanced/rpc-protocol
 */
import type { StandardRPCJsonSerializer } from "@orpc/client/standard";
import { onDemand } from "./on-demand.ts";

const library = onDemand<typeof import("@orpc/client/standard")>("@orpc/client/standard");
let made: StandardRPCJsonSerializer | undefined;

/** What JSON would make `{}` of without a word. */
class Unreadable extends Error {}

/** What is wrong with a value, and what to do. */
function unreadable(value: unknown): string | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  if ("then" in value && typeof value.then === "function") return "holds a promise. Await it.";
  if (value instanceof Response)
    return "holds a Response. Return what it holds; a route of httpRoute answers with { status, headers, body }.";
  if (value instanceof ReadableStream) return "holds a stream. Return it from a route, which httpRoute makes.";
  return undefined;
}

function makeSerializer(): StandardRPCJsonSerializer {
  const { StandardRPCJsonSerializer } = library();
  return new StandardRPCJsonSerializer({
    customJsonSerializers: [
      {
        type: 100, // never sent
        condition: (value) => unreadable(value) !== undefined,
        serialize: (value) => {
          throw new Unreadable(unreadable(value));
        },
        deserialize: (value) => value,
      },
    ],
  });
}

export function serializer(): StandardRPCJsonSerializer {
  made ??= makeSerializer();
  return made;
}

/**
 * @param what the subject of the error message
 * @param instead what to do with a file
 * @throws TypeError for a value that is a function or a symbol, holds a file, a promise, a Response or a stream, or refers to itself
 */
export function toParts(what: string, value: unknown, instead: string) {
  const [json, meta, , blobs] = serialize(what, value);
  if (blobs.length > 0) throw new TypeError(`${what} holds a file. ${instead}`);
  if (typeof json === "function") throw new TypeError(`${what} is a function. Call it, and pass on what it gives.`);
  if (typeof json === "symbol") throw new TypeError(`${what} is a symbol. Pass on its description.`);
  return { json, meta };
}

/** Where the first unreadable part is, such as `, at rows.0,`; "" for the value itself, and inside of maps and sets. */
function placeOf(value: unknown): string {
  const seen = new Set<unknown>();
  const search = (part: unknown, path: readonly string[]): readonly string[] | undefined => {
    if (typeof part !== "object" || part === null || seen.has(part)) return undefined;
    if (unreadable(part) !== undefined) return path;
    seen.add(part);
    // The serializer reads no members of class instances, either.
    if (![Array.prototype, Object.prototype, null].includes(Object.getPrototypeOf(part))) return undefined;
    for (const [key, inner] of Object.entries(part)) {
      const found = search(inner, [...path, key]);
      if (found) return found;
    }
    return undefined;
  };
  const path = search(value, [])?.join(".");
  return path ? `, at ${path},` : "";
}

/** For a cyclic value, the serializer would only overflow the stack. */
function serialize(what: string, value: unknown) {
  try {
    return serializer().serialize(value);
  } catch (error) {
    if (error instanceof Unreadable) throw new TypeError(`${what}${placeOf(value)} ${error.message}`);
    if (!(error instanceof RangeError)) throw error;
    throw new TypeError(`${what} refers to itself, or is nested too deeply.`, { cause: error });
  }
}

/** A replacer for `JSON.stringify`: equal objects give equal text. */
export function sortMembers(_key: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
