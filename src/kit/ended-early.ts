/**
 * The parts of a generator for a reader who may leave. A generator that waits would notice that only with its next part, so
 * `leave` is called first.
 */
export function endedEarly<T>(
  parts: AsyncGenerator<T, undefined>,
  leave: () => void | Promise<void>,
): AsyncIterableIterator<T> {
  return {
    next: () => parts.next(),
    async return() {
      await leave();
      return parts.return(undefined);
    },
    async throw(error) {
      await leave();
      return parts.throw(error);
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}
