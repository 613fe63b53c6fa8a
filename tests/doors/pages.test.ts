// If this file fails, generated CRUD, GraphQL, a socket a history or deliveries show or count a row that the application's policies hide
// from the caller, or hides one that they show.
import { beforeAll, describe, expect, test } from "vitest";
import { compareAll } from "./all-doors.ts";
import { deliveryDoors } from "./delivery-doors.ts";
import { historyDoors } from "./history-doors.ts";
import { pageDoors } from "./page-doors.ts";
import { plant, situationsOf } from "./situations.ts";
import { world } from "./world.ts";

const made = world();
const doors = [...pageDoors(made), ...historyDoors(made), ...deliveryDoors(made)];

describe.for(situationsOf("public.pages"))("where $name", (situation) => {
  beforeAll(() => plant(made.db, situation));
  test.for(doors)("$name gives what select gives", async (door) => {
    const given = await compareAll(made, door, situation);
    if (situation.name === "nothing is shown") expect(given).toBe(0);
    else expect(given).toBeGreaterThan(0);
  });
});
