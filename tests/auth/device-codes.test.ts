// If this file fails, codes of devices that nobody approved stay in the database for ever.
import { deviceAuthorization } from "better-auth/plugins";
import { expect, onTestFinished, test, vi } from "vitest";
import { defineAuth } from "../../src/contract/auth.ts";
import { startAuthServer } from "../support/auth-server.ts";
import { database } from "../support/database.ts";
import { migrateAuth } from "../support/plugin-tables.ts";

const db = database();
const definition = defineAuth({ betterAuth: (defaults) => ({ ...defaults, plugins: [deviceAuthorization()] }) });

test("codes that expired more than a day ago are removed, and no others", async () => {
  await migrateAuth(db, definition);
  const server = await startAuthServer(db, { definition });
  for (const _ of [1, 2, 3]) await server.post("/device/code", { client_id: "tv" });
  await server.close();
  const [old, expired, valid] = (await db.sql<{ id: string }>("select id from auth.device_code order by id")).map(
    ({ id }) => id,
  );
  await db.sql("update auth.device_code set expires_at = now() - interval '25 hours' where id = $1", [old]);
  await db.sql("update auth.device_code set expires_at = now() - interval '23 hours' where id = $1", [expired]);

  const random = vi.spyOn(Math, "random").mockReturnValue(0); // the sweep begins at a random time
  onTestFinished(() => random.mockRestore());
  const next = await startAuthServer(db, { definition });
  onTestFinished(() => next.close());
  await expect
    .poll(() => db.sql("select id from auth.device_code order by id"))
    .toEqual([{ id: expired }, { id: valid }]);
});
