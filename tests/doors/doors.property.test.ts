// If this file fails, there are policies, alone or together, under which a search or an answer does not ask them all.
import { test } from "vitest";
import { database } from "../support/database.ts";
import { fc } from "../support/properties.ts";
import { service } from "../support/service.ts";
import { api } from "./application.ts";
import { documentDoors } from "./document-doors.ts";
import { compare } from "./door.ts";
import { searchDoors } from "./search-doors.ts";
import { conditions, everything, plant } from "./situations.ts";
import { world } from "./world.ts";

const db = database();
const running = service(db, api);
const { sql, callers, scopes } = world(db, running);
const doors = [...searchDoors(running, sql), ...documentDoors(running, sql)];
const situations = Number(process.env.FUZZ_RUNS ?? 0) > 0 ? 1_000 : 50;

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
      await plant(db, { name: "random", policies });
      for (const { door, caller, scope } of looks) {
        const [one, who, where] = [doors[door], callers[caller], scopes[scope]];
        if (!one || !who || !where) throw new Error("A case names a door, a caller or a scope that does not exist.");
        await compare(sql, one, who, where);
      }
    },
  );
  await fc.assert(cases, { numRuns: situations });
});
