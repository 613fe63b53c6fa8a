// If this file fails, a file leaves by one door although the policies hide it from the caller, or a caller who may see it is
// turned away.
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { loadConfig } from "../../src/config/load-config.ts";
import { workers } from "../support/worker.ts";
import { compareAll } from "./all-doors.ts";
import { api } from "./application.ts";
import { plant, situationsOf } from "./situations.ts";
import { conversionDoor, storageDoors } from "./storage-doors.ts";
import { world } from "./world.ts";

const made = world();
const doors = [...storageDoors(made), conversionDoor(made)];
const startWorker = workers(made.db, api);
beforeAll(async () => {
  const config = await loadConfig({ cwd: join(import.meta.dirname, "../fixture"), env: {} });
  await startWorker({ config: { ...config, storage: made.storage } });
});

describe.for(situationsOf("svc.storage_objects"))("where $name", (situation) => {
  beforeAll(() => plant(made.db, situation));
  test.for(doors)("$name gives what select gives", async (door) => {
    const given = await compareAll(made, door);
    if (situation.name === "nothing is shown") expect(given).toBe(0);
    else expect(given).toBeGreaterThan(0);
  });
});
