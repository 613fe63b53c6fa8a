/**
 * Durations as authors write them: milliseconds, or texts such as "3 days" and "1 hour 30 minutes".
 * Next hop: `src/workflows/replay.ts` and `src/contract/workflow.ts` use them.
 */

/** Milliseconds, or a text of numbers and units: ms, s, m, h, d, w, or their names ("10 minutes", "1 week"). */
export type Duration = number | string;

/** Names of each unit, and its milliseconds. */
const units: [names: RegExp, milliseconds: number][] = [
  [/^(ms|msecs?|milliseconds?)$/, 1],
  [/^(s|secs?|seconds?)$/, 1_000],
  [/^(m|mins?|minutes?)$/, 60_000],
  [/^(h|hrs?|hours?)$/, 3_600_000],
  [/^(d|days?)$/, 86_400_000],
  [/^(w|weeks?)$/, 604_800_000],
];

/** In milliseconds: ten years of 365 days. */
const longest = 315_360_000_000;

/** @returns milliseconds, 0 to ten years @throws RangeError for an invalid duration */
export function milliseconds(duration: Duration): number {
  const result = typeof duration === "number" ? duration : parse(String(duration));
  if (result >= 0 && result <= longest) return Math.round(result);
  throw new RangeError(
    `${JSON.stringify(duration)} is not a duration of at most ten years. Write "90 seconds" or "3 days".`,
  );
}

function parse(text: string): number {
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)\s*([a-z]+)/gi)];
  // Between the parts, only separators are allowed.
  if (parts.length === 0 || text.replace(/(\d+(?:\.\d+)?)\s*([a-z]+)/gi, "").replace(/[\s,]/g, "") !== "")
    return Number.NaN;
  return parts.reduce((sum, [, amount, name = ""]) => {
    const unit = units.find(([names]) => names.test(name.toLowerCase()));
    return sum + Number(amount) * (unit?.[1] ?? Number.NaN);
  }, 0);
}
