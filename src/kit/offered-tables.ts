/** Tables of the platform that applications may name and serve: `organizations` and those beside it. Others stay closed to them. */

const offered = new WeakSet<object>();

/** Marks a table. @returns it */
export function offer<T extends object>(table: T): T {
  offered.add(table);
  return table;
}

export const isOffered = (table: object): boolean => offered.has(table);
