// If this file fails, a search, a list, an answer or a snippet shows a row that the application's policies hide from
// the caller, or hides one that they show.
import { beforeAll, describe, expect, test } from "vitest";
import { allDoors, compareAll, writingDoors } from "./all-doors.ts";
import { documentDoors } from "./document-doors.ts";
import { searchDoors } from "./search-doors.ts";
import { everything, plant, situationsOf } from "./situations.ts";
import { world } from "./world.ts";

const made = world();
const doors = [...searchDoors(made), ...documentDoors(made)];
const covered = new Set([...allDoors(made), ...writingDoors(made)].flatMap(({ functions = [] }) => functions));

describe.for(situationsOf("public.pages", "svc.rag_sources", "svc.rag_sections", "svc.rag_chunks"))(
  "where $name",
  (situation) => {
    beforeAll(() => plant(made.db, situation));
    test.for(doors)("$name gives what select gives", async (door) => {
      const given = await compareAll(made, door, situation);
      if (situation.name === "nothing is shown") expect(given).toBe(0);
      else expect(given).toBeGreaterThan(0);
    });
  },
);

test("a function that requests may call, and that reads rows of users, is behind a door", async () => {
  const reading = await made.db.sql<{ name: string }>(
    `select distinct proname as name from pg_proc p
      where pronamespace in ('svc'::regnamespace, 'svc_hidden'::regnamespace) and proname <> 'search_target'  -- declarations, and no row
        and prosrc !~* '(insert into|update|delete from) svc'
        and prosrc ~ '${everything.join("|")}|search_target|history_entries|history_target|select_entries|row_history_as|webhook_deliveries|endpoint_deliveries|row_deliveries_as|retry_delivery_as|select_matches|select_evidence|search_(documents|counters|totals|groups)'
        and (has_function_privilege('svc_anonymous', oid, 'execute') or has_function_privilege('svc_authenticated', oid, 'execute'))`,
  );
  expect(reading.length).toBeGreaterThan(15);
  expect(reading.map(({ name }) => name).filter((name) => !covered.has(name))).toEqual([]);
});
