// If this file fails, there are policies, alone or together, that a door does not apply completely.
import { test } from "vitest";
import { fc } from "../support/properties.ts";
import { allDoors } from "./all-doors.ts";
import { compare, scopesOf } from "./door.ts";
import { conditions, everything, plant } from "./situations.ts";
import { world } from "./world.ts";

const made = world();
const doors = allDoors(made);
const situations = Number(process.env.FUZZ_RUNS ?? 0) > 0 ? 1_000 : 20;

const policy = fc.record({
  tables: fc.subarray([...everything], { minLength: 1 }),
  as: fc.constantFrom("permissive" as const, "restrictive" as const),
  to: fc.constantFrom("svc_anonymous", "svc_authenticated", "svc_anonymous, svc_authenticated", "public"),
  using: fc.constantFrom(...conditions),
});
const look = fc.record({ door: fc.nat(doors.length - 1), caller: fc.nat(3), scope: fc.nat(17) });

test("every door gives what select gives, whatever the policies", { timeout: 1_800_000 }, async () => {
  const cases = fc.asyncProperty(
    fc.array(policy, { maxLength: 4 }),
    fc.array(look, { minLength: 10, maxLength: 10 }),
    async (policies, looks) => {
      await plant(made.db, { name: "random", policies });
      for (const { door, caller, scope } of looks) {
        const [one, who] = [doors[door], made.callers[caller]];
        const where = one && (scopesOf(one, made.scopes)[scope] ?? made.scopes[0]);
        if (!one || !who || !where) throw new Error("A case names a door, a caller or a scope that does not exist.");
        await compare(made.sql, one, who, where);
      }
    },
  );
  await fc.assert(cases, { numRuns: situations });
});
