// If this file fails, a door shows a file that the policies hide from the caller, or refuses one that they show.
import { beforeAll, describe, expect, test } from "vitest";
import { compareAll } from "./all-doors.ts";
import { plant, situationsOf } from "./situations.ts";
import { storageDoors } from "./storage-doors.ts";
import { world } from "./world.ts";

const made = world();
const doors = storageDoors(made);

describe.for(situationsOf("svc.storage_objects"))("where $name", (situation) => {
  beforeAll(() => plant(made.db, situation));
  test.for(doors)("$name gives what select gives", async (door) => {
    const given = await compareAll(made, door, situation);
    if (situation.name === "nothing is shown") expect(given).toBe(0);
    else expect(given).toBeGreaterThan(0);
  });
});
