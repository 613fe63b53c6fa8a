// If this file fails, `svc codegen` and `svc migrate` leave the triggers of a table whose declaration is gone, or make none.
import { existsSync } from "node:fs";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { applicationFolder, writeFiles } from "../support/application-folder.ts";
import { svc as command, svcHere } from "../support/cli.ts";
import { database } from "../support/database.ts";

const db = database("platform");
const folder = await applicationFolder({ "backend/index.ts": index(), "backend/schema.ts": schema("") });
afterAll(() => rm(folder, { recursive: true }));

function schema(more: string): string {
  return `import { audited, ownerRls } from "@svc/core";
    import { pgTable, serial, text } from "drizzle-orm/pg-core";
    void audited;
    export const bills = pgTable("bills", { id: serial("id").primaryKey(), userId: text("user_id").notNull() },
      (t) => [...ownerRls(t.userId)${more}]);`;
}
function index(): string {
  return `import { defineApi } from "@svc/core"; export default defineApi({ procedures: {} });`;
}

/** The schema changes, and modules are read once in a process. */
const svc = async (...args: string[]) => {
  const { code, text } = await (args[0] === "codegen" ? command(db, folder, args).ended : svcHere(db, folder, args));
  expect(text && code, text).toBe(0);
  return text;
};
const triggers = async () =>
  (await db.sql("select tgname from pg_trigger where tgrelid = 'bills'::regclass and tgname like '\\_svc_history%'"))
    .length;
const file = join(folder, "sql/history.sql");

test("the file comes with the first declaration, and takes the triggers away after the last", async () => {
  await svc("codegen");
  expect(existsSync(file)).toBe(false);
  await svc("migrate", "generate");
  await svc("migrate");
  await writeFiles(folder, { "backend/schema.ts": schema(", ...audited()") });
  expect(await svc("codegen")).toContain("wrote sql/history.sql");
  await svc("migrate");
  expect(await triggers()).toBe(2);

  await db.sql("drop trigger _svc_history on bills");
  const drift = await svcHere(db, folder, ["db", "drift"]);
  expect([drift.code, drift.text]).toEqual([1, expect.stringMatching(/_svc_history/)]);
  await svc("migrate", "--again");
  expect(await triggers()).toBe(2);

  await writeFiles(folder, { "backend/schema.ts": schema("") });
  await svc("codegen");
  expect(await readFile(file, "utf8")).toContain("install_history('[]'::jsonb)");
  await svc("migrate");
  expect(await triggers()).toBe(0);
});
