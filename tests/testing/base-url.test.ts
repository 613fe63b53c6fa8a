// If this file fails, a test cannot follow the links of its application's mails: they lead to no port.
import { rm } from "node:fs/promises";
import { createTestApp } from "@svc/testing";
import { expect, test } from "vitest";
import { applicationFolder } from "../support/application-folder.ts";
import { database } from "../support/database.ts";
import { testServer } from "../support/test-server.ts";

const db = database("template0");
const index = `
import { createSvcProcedureBuilders, defineApi } from "@svc/core";
const procedure = createSvcProcedureBuilders();
const say = procedure.internal.name("links.say").handler(({ context }) => { throw new Error(context.baseUrl); });
const mail = procedure.mutation.name("links.mail").allowAnonymous()
  .handler(({ context }) => context.scheduler.runAfter(0, "links.say"));
export default defineApi({ procedures: { say, mail } });`;

test("the base of links is the same in a job as in a call", async () => {
  testServer(db);
  const cwd = await applicationFolder({ "backend/index.ts": index, "backend/schema.ts": "export {};" });
  const app = await createTestApp({ api: {}, cwd, log: "silent" });
  await fetch(`${app.url}/api/mutation`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ name: "links.mail" }),
  });
  const { failures } = await app.flushJobs({ failures: "return" });
  await app.close();
  await rm(cwd, { recursive: true, force: true });
  expect(failures.map(({ error }) => error.message)).toEqual([app.url]);
});
