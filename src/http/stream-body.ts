/** Streams answers from an async iterable, such as the text of a language model. Next hop: `src/server/routes.ts` sends them. */
import { AsyncLocalStorage } from "node:async_hooks";
import type { ServerResponse } from "node:http";
import { pipeline, Readable, Transform } from "node:stream";
import { toSvcError } from "./errors.ts";
import { exchangeOf } from "./exchange.ts";

export type StreamBody = AsyncIterable<string | Uint8Array>;

export const isStreamBody = (body: unknown): body is StreamBody =>
  typeof body === "object" && body !== null && Symbol.asyncIterator in body;

/**
 * Reads a stream as part of the running call: what makes its pieces may use the AI module after the handler has returned, and
 * is behind the gate of an anonymous call.
 */
export function inThisCall<T>(pieces: AsyncIterable<T>): AsyncIterable<T> {
  const inside = AsyncLocalStorage.snapshot();
  return {
    [Symbol.asyncIterator]() {
      const iterator = inside(() => pieces[Symbol.asyncIterator]());
      return {
        next: () => inside(() => iterator.next()),
        return: async (value) => (await inside(() => iterator.return?.(value))) ?? { done: true, value },
      };
    },
  };
}

/**
 * Waits for the first piece, so that an error before it is answered with a status. A later error cuts the answer. An
 * error on either side ends the other: the client sees a cut answer, the iterable is closed.
 *
 * @param head writes status and headers
 * @param length as for `enforceContentLength`
 */
export async function sendStream(
  pieces: StreamBody,
  response: ServerResponse,
  head: () => void,
  length: string | string[] | undefined,
): Promise<void> {
  const iterator = pieces[Symbol.asyncIterator]();
  const leave = () => void iterator.return?.().catch(() => {});
  if (response.closed) return leave(); // the client has disconnected: nothing is computed for it
  response.once("close", leave);
  let first: IteratorResult<string | Uint8Array>;
  try {
    first = await iterator.next();
  } catch (error) {
    if (response.closed) return; // the client has disconnected
    throw error;
  } finally {
    response.off("close", leave);
  }
  head();
  const all = Readable.from(startingWith(first, iterator), { objectMode: false, highWaterMark: 0 });
  noteBreak(all, response);
  pipeline([all, ...enforceContentLength(length, response), response], () => {});
}

/** Logs why a stream broke after part of the answer was sent. A client's disconnect is not logged. */
export function noteBreak(source: Readable, response: ServerResponse): void {
  // Before the pipeline handles it and closes the answer: that writes the log line.
  source.once("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "ERR_STREAM_PREMATURE_CLOSE") exchangeOf(response).error = toSvcError(error);
  });
}

/**
 * Passes a stream on, and aborts it if its length differs from the route's content-length: surplus bytes would be read
 * as the next answer on the connection.
 *
 * @param said the route's own `content-length`
 * @returns the pipeline's steps for this; none without a content-length
 */
export function enforceContentLength(said: string | string[] | undefined, response: ServerResponse): Transform[] {
  if (said === undefined) return [];
  let sent = 0;
  const wrong = (error: Error) => {
    exchangeOf(response).error = toSvcError(error);
    return error;
  };
  const measure = new Transform({
    transform(chunk, _encoding, done) {
      sent += chunk.length;
      if (sent > Number(said)) done(wrong(new Error(`A route's stream is longer than its "content-length: ${said}".`)));
      else done(null, chunk);
    },
    flush(done) {
      if (sent === Number(said)) done();
      else done(wrong(new Error(`A route's stream has ${sent} bytes, and "content-length: ${said}".`)));
    },
  });
  return [measure];
}

function startingWith<T>(first: IteratorResult<T>, rest: AsyncIterator<T>): AsyncIterableIterator<T> {
  let isFirst = true;
  return {
    next() {
      if (!isFirst) return rest.next();
      isFirst = false;
      return Promise.resolve(first);
    },
    return: async (value) => (await rest.return?.(value)) ?? { done: true, value },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}
