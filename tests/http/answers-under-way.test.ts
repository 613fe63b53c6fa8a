// If this file fails, a service loses or keeps requests that it counts as under way.
import type { ServerResponse } from "node:http";
import fc from "fast-check";
import { expect, test } from "vitest";
import { AnswersUnderWay } from "../../src/http/exchange.ts";

test("members come and go as in a Set", () => {
  const members = Array.from({ length: 8 }, (_, name) => ({ name }) as unknown as ServerResponse);
  const acts = fc.array(fc.tuple(fc.constantFrom("add", "delete"), fc.nat({ max: 7 })), { maxLength: 60 });
  fc.assert(
    fc.property(acts, (list) => {
      const set = new AnswersUnderWay();
      const reference = new Set<ServerResponse>();
      for (const [act, index] of list as ["add" | "delete", number][]) {
        const member = members[index] as ServerResponse;
        set[act](member);
        reference[act](member);
        expect(new Set(set)).toEqual(reference);
        expect(set.size).toBe(reference.size);
      }
      for (const member of set) set.delete(member); // while it is read
      expect(set.size).toBe(0);
    }),
  );
});
