// If this file fails, a test run ends by a rejection that does not say which handler left out an await.
import { execFile } from "node:child_process";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { applicationFolder } from "../support/application-folder.ts";
import { database } from "../support/database.ts";
import { testServer } from "../support/test-server.ts";

const db = database("template0");
const index = `
import { createSvcProcedureBuilders, defineApi } from "@svc/core";
import { sql } from "drizzle-orm";
import { pgTable, text } from "drizzle-orm/pg-core";
const things = pgTable("no_such_table", { id: text("id") });
const procedure = createSvcProcedureBuilders();
const read = async (db: any) => {
  await db.select().from(things);
};
const early = procedure.mutation.name("early").allowAnonymous().handler(({ context }) => void read(context.db));
const late = procedure.mutation.name("late").allowAnonymous()
  .handler(({ context }) => void setTimeout(() => void read(context.db), 50));
export default defineApi({ procedures: { early, late } });`;

const own = `
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { createTestApp } from "@svc/testing";
for (const name of ["early", "late"])
  test(name, async () => {
    const app = await createTestApp({ api: {}, cwd: process.argv[2], log: "silent" });
    const rejected = new Promise((resolve) => process.once("unhandledRejection", resolve));
    const headers = { "content-type": "application/json" };
    await fetch(app.url + "/api/mutation", { method: "POST", headers, body: JSON.stringify({ name }) });
    await rejected;
    await sleep(0);
    await app.close();
  });`;

test("a statement that nobody awaits and that fails early or late fails the run, which says where it is", async () => {
  testServer(db);
  const cwd = await applicationFolder({
    "backend/index.ts": index,
    "backend/schema.ts": "export {};",
    "own.test.ts": own,
  });
  onTestFinished(() => rm(cwd, { recursive: true, force: true }));
  const run = promisify(execFile)(process.execPath, ["--test-reporter=tap", join(cwd, "own.test.ts"), cwd]);
  const { stdout, stderr, code } = await run.then(
    () => ({ stdout: "", stderr: "", code: 0 }),
    (error) => error,
  );
  const where =
    "A statement of ctx.db failed, and nobody awaited it: an await or a return is missing.\nbackend/index.ts:8:3";
  const [, early, late] = stderr.split(where);
  expect(early, stderr).toContain('PostgreSQL: relation "no_such_table" does not exist (42P01)');
  expect(late, stderr).toContain("Error: ctx.db was used after its call had ended: await every statement");
  expect(stdout).toMatch(/^not ok 1 - early\n[\s\S]*^not ok 2 - late\n/m);
  expect(code).toBe(1);
});
