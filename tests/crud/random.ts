/** Pseudo-random choices that a seed repeats. */
export interface Random {
  /** From 0 to `limit` - 1. */
  below(limit: number): number;
  chance(share: number): boolean;
  pick<T>(items: readonly T[]): T;
  /** At most `most` different items, in random order. */
  some<T>(items: readonly T[], most?: number): T[];
  uuid(): string;
}

/** A xorshift. */
export function random(seed: number): Random {
  let state = (seed * 2_654_435_761) | 0 || 1;
  const next = () => {
    for (const by of [13, -17, 5]) state ^= by > 0 ? state << by : state >>> -by;
    return (state >>> 0) / 2 ** 32;
  };
  const below = (limit: number) => Math.floor(next() * limit);
  const hex = (length: number) => Array.from({ length }, () => below(16).toString(16)).join("");
  return {
    below,
    chance: (share) => next() < share,
    pick: (items) => items[below(items.length)] as never,
    some(items, most = items.length) {
      const left = [...items];
      return Array.from({ length: below(Math.min(most, items.length) + 1) }, () => {
        return left.splice(below(left.length), 1)[0] as never;
      });
    },
    uuid: () => [8, 4, 4, 4, 12].map(hex).join("-"),
  };
}
