// If this file fails, a limit that somebody has set on the administrator's role ends every migration that takes longer.
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { expect, inject, test } from "vitest";
import { withLocks } from "../../src/migrate/migration-locks.ts";
import { database } from "../support/database.ts";

const db = database("template0");

test("a migration is not bound by the limits of the administrator's role", async () => {
  const limits = ["statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout"];
  if (Number.parseInt(inject("serverVersion"), 10) >= 17) limits.push("transaction_timeout");
  const options = limits.map((it) => `-c ${it}=50`);
  const client = new pg.Client({ connectionString: db.url("admin"), options: options.join(" ") });
  client.on("error", () => {}); // the statement itself fails
  await client.connect();
  const other = await db.connect("admin");
  await other.query("create table held ()");
  await other.query("begin; lock table held");
  const migrated = withLocks(client, {}, async () => {
    await client.query("select pg_sleep(0.2)");
    await sleep(200);
    setTimeout(() => other.query("commit"), 200);
    await client.query("alter table held add column it text");
    return client.query("commit");
  });
  expect(await migrated).toMatchObject({ command: "COMMIT" });
  expect((await client.query("show statement_timeout")).rows).toEqual([{ statement_timeout: "50ms" }]);
  await client.end();
});
