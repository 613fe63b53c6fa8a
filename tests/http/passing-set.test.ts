// If this file fails, a service loses or keeps requests that it counts as under way, or bodies that are too slow.
import fc from "fast-check";
import { expect, test } from "vitest";
import { PassingSet } from "../../src/kit/passing-set.ts";

test("members come and go as in a Set", () => {
  const members = Array.from({ length: 8 }, (_, name) => ({ name }));
  const acts = fc.array(fc.tuple(fc.constantFrom("add", "delete"), fc.nat({ max: 7 })), { maxLength: 60 });
  fc.assert(
    fc.property(acts, (list) => {
      const set = new PassingSet<{ name: number }>();
      const reference = new Set<{ name: number }>();
      for (const [act, index] of list as ["add" | "delete", number][]) {
        const member = members[index] as { name: number };
        set[act](member);
        reference[act](member);
        expect(new Set(set)).toEqual(reference);
        expect(set.size).toBe(reference.size);
      }
      for (const member of set) set.delete(member); // while it is read, as slow bodies are refused
      expect(set.size).toBe(0);
    }),
  );
});
