// If this file fails, a mistyped name is taken for another one, or its hint names the wrong one.
import fc from "fast-check";
import { expect, test } from "vitest";
import { byNearness, isNear } from "../../src/kit/nearest.ts";

/** By the definition of the Levenshtein distance. */
function distance(a: string, b: string): number {
  if (a === "" || b === "") return a.length + b.length;
  const [x, y] = [a.slice(1), b.slice(1)];
  if (a[0] === b[0]) return distance(x, y);
  return 1 + Math.min(distance(x, b), distance(a, y), distance(x, y));
}

const name = fc.string({ unit: fc.constantFrom("a", "b", "c"), maxLength: 6 });

test("a name is near to those that two changes of a letter make of it, and to no others", () => {
  fc.assert(
    fc.property(name, name, (a, b) => {
      expect(isNear(a, b.toUpperCase())).toBe(distance(a, b) <= 2);
    }),
    { numRuns: 500 },
  );
});

test("the most similar name is the first", () => {
  fc.assert(
    fc.property(name, fc.array(name, { minLength: 1 }), (mistyped, known) => {
      const least = Math.min(...known.map((one) => distance(mistyped, one)));
      expect(distance(mistyped, byNearness(mistyped, known)[0] ?? "")).toBe(least);
    }),
  );
});
