/** Waits for work that may never end. */

/** @returns what the work gives; undefined where it takes longer. It is not ended. */
export async function inTime<T>(work: Promise<T>, milliseconds: number): Promise<T | undefined> {
  const late = Promise.withResolvers<undefined>();
  const timer = setTimeout(late.resolve, milliseconds, undefined);
  return Promise.race([work, late.promise]).finally(() => clearTimeout(timer));
}
