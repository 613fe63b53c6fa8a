// If this file fails, svc does not end while the application keeps something open: neither after SIGTERM nor after a command.
import { appendFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { copiedApplication, ready } from "../support/application-folder.ts";
import { database } from "../support/database.ts";

const db = database();
const app = copiedApplication(db, "tests/fixture");

test("an application that keeps a timer lets svc end", async () => {
  await appendFile(join(app.folder, "backend/index.ts"), "\nsetInterval(() => {}, 1_000);\n");
  expect((await app.svc(["openapi"]).ended).code).toBe(0);
  const start = app.svc(["start"], { PORT: "0" });
  await ready(start);
  start.child.kill("SIGTERM");
  expect((await start.ended).code).toBe(0);
});
