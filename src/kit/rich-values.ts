/**
 * Values as JSON, and beside it what JSON lacks: dates, bigints, sets, maps and the like. So do arguments and results travel,
 * and so are the values of runs kept. `client/sdk/src/wire.ts` is the same for clients.
 * Source: https://orpc.dev/docs/advanced/rpc-protocol
 */
import { StandardRPCJsonSerializer } from "@orpc/client/standard";

export const serializer = new StandardRPCJsonSerializer();

/**
 * @param what begins the sentence that says why it cannot be done
 * @param instead what to do with a file
 * @throws TypeError for a value that holds a file, or refers to itself
 */
export function toParts(what: string, value: unknown, instead: string) {
  const [json, meta, , blobs] = serialize(what, value);
  if (blobs.length > 0) throw new TypeError(`${what} holds a file. ${instead}`);
  return { json, meta };
}

/** The serializer would only run out of stack. */
function serialize(what: string, value: unknown) {
  try {
    return serializer.serialize(value);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new TypeError(`${what} refers to itself, or is nested too deeply.`, { cause: error });
  }
}
