/** Migrates a test's database for a definition of authentication, as `svc migrate generate` and `svc migrate` do. */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { AuthDefinition } from "../../src/contract/auth.ts";
import { writeMigration } from "../../src/migrate/generate/schema-migration.ts";
import { emptySnapshot, takeSnapshot } from "../../src/migrate/generate/schema-snapshot.ts";
import { migrate } from "../../src/migrate/migrate.ts";
import type { Database } from "./database.ts";
import { root } from "./global-setup.ts";

/** @returns the migration */
export async function migrateAuth(db: Database, definition: AuthDefinition): Promise<string> {
  const before = await emptySnapshot();
  const text = await writeMigration(before, await takeSnapshot({ schema: {}, auth: definition }, before), {
    renames: [],
    drops: [],
  });
  await mkdir(join(root, ".svc"), { recursive: true });
  const application = await mkdtemp(join(root, ".svc/auth-tables-"));
  await mkdir(join(application, "migrations"));
  await writeFile(join(application, "migrations/0002_auth_tables.sql"), text ?? "");
  await migrate({ adminUrl: db.url("admin"), platform: root, application });
  await rm(application, { recursive: true });
  return text ?? "";
}
