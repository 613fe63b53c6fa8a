/** Those who listen to a channel. Next hop: `channel-room.ts`. */

/** @returns a function that takes it away */
export function addTo<T>(all: Set<T>, one: T): () => void {
  all.add(one);
  return () => all.delete(one);
}

/** What a listener throws is an unhandled rejection: the others are still called. */
export function tell<A extends unknown[]>(listeners: Iterable<(...args: A) => void>, ...args: A): void {
  for (const listener of [...listeners]) void (async () => listener(...args))();
}
