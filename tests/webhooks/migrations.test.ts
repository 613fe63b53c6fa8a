// If this file fails, no migration can drop a column that a webhook has told, or change its type.
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { integer, pgTable, text } from "drizzle-orm/pg-core";
import { expect, test } from "vitest";
import { webhook } from "../../src/index.ts";
import { migrate } from "../../src/migrate/migrate.ts";
import { webhooksFile } from "../../src/webhooks/webhooks-sql.ts";
import { leavePlatform } from "../codegen/evolution.ts";
import { database } from "../support/database.ts";
import { root } from "../support/global-setup.ts";

const db = database();

test("a migration drops a column of a webhook, and changes the type of another; the webhook stays", async () => {
  await leavePlatform(db);
  await mkdir(join(root, ".svc"), { recursive: true });
  const application = await mkdtemp(join(root, ".svc/webhooks-"));
  const apply = async (files: Record<string, string>) => {
    for (const [path, file] of Object.entries(files)) {
      await mkdir(dirname(join(application, path)), { recursive: true });
      await writeFile(join(application, path), file);
    }
    await migrate({ adminUrl: db.url("admin"), platform: root, application });
  };
  const ships = pgTable("ships", { id: integer("id").primaryKey(), name: text("name"), flag: text("flag") });
  const declared = (columns: ("name" | "flag")[]) => {
    const to = { env: "SHIP_HOOK" };
    const one = webhook({ name: "ship", on: ships, when: ["insert", "update"], filter: { name: "x" }, columns, to });
    return webhooksFile([one["~svc"].webhook]);
  };
  await apply({
    "migrations/0001_create_ships.sql": "create table ships (id integer primary key, name text, flag text);",
    "sql/webhooks.sql": declared(["name", "flag"]),
  });
  await apply({
    "migrations/0002_drop_flag.sql":
      'ALTER TABLE "ships" DROP COLUMN "flag";\nalter table ships alter name type varchar(9);',
    "sql/webhooks.sql": declared(["name"]),
  });
  await rm(application, { recursive: true });
  await db.sql("insert into ships values (1, 'x'), (2, 'y')");
  await db.sql("update ships set name = 'x' where id = 2");
  const told = await db.sql<{ body: string }>("select body from svc.webhook_deliveries order by sequence");
  expect(told.map(({ body }) => JSON.parse(body))).toMatchObject([
    { operation: "insert", data: { name: "x" } },
    { operation: "update", data: { name: "x" } },
  ]);
});
