/**
 * The parts of a generator for a reader who may leave. A generator that waits would notice that only with its next part, so
 * `leave` is called first. Without a promise from it the generator ends at once: no later request gets in between.
 */
export function endedEarly<T>(
  parts: AsyncGenerator<T, undefined>,
  leave: () => void | Promise<void>,
): AsyncIterableIterator<T> {
  const afterwards = <Result>(end: () => Promise<Result>): Promise<Result> => leave()?.then(end) ?? end();
  return {
    next: () => parts.next(),
    return: () => afterwards(() => parts.return(undefined)),
    throw: (error) => afterwards(() => parts.throw(error)),
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}
