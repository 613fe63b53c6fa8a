// If this file fails, a search, a list, an answer or a snippet shows somebody a row that the application's policies hide from
// them, or keeps back one that they show.
import { beforeAll, describe, expect, test } from "vitest";
import { database } from "../support/database.ts";
import { service } from "../support/service.ts";
import { api } from "./application.ts";
import { documentDoors } from "./document-doors.ts";
import { compare } from "./door.ts";
import { searchDoors } from "./search-doors.ts";
import { plant, situations } from "./situations.ts";
import { world } from "./world.ts";

const db = database();
const running = service(db, api);
const { sql, callers, scopes } = world(db, running);
const doors = [...searchDoors(running, sql), ...documentDoors(running, sql)];

describe.for(situations)("where $name", (situation) => {
  beforeAll(() => plant(db, situation));
  test.for(doors.map((door) => ({ name: door.name, door })))("$name gives what select gives", async ({ door }) => {
    let given = 0;
    for (const caller of callers) {
      for (const scope of scopes) given += await compare(sql, door, caller, scope);
    }
    if (situation.name === "nothing is shown") expect(given).toBe(0);
    else expect(given).toBeGreaterThan(0);
  });
});

test("a function that requests may call, and that reads documents or searches, is behind a door", async () => {
  const reading = await db.sql<{ name: string }>(
    `select distinct proname as name from pg_proc p
      where pronamespace in ('svc'::regnamespace, 'svc_hidden'::regnamespace) and proname <> 'search_target'  -- declarations, and no row
        and prosrc !~* '(insert into|update|delete from) svc'
        and prosrc ~ 'rag_(sources|sections|chunks)|search_target|select_matches|select_evidence|search_(documents|counters|totals|groups)'
        and (has_function_privilege('svc_anonymous', oid, 'execute') or has_function_privilege('svc_authenticated', oid, 'execute'))`,
  );
  const covered = new Set(doors.flatMap(({ functions }) => functions));
  expect(reading.length).toBeGreaterThan(5);
  expect(reading.map(({ name }) => name).filter((name) => !covered.has(name))).toEqual([]);
});
