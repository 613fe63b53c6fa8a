// If this file fails, a program that follows `svc dev --json` or the queue gets something else than a document a line.
import { expect, onTestFinished, test } from "vitest";
import { copiedApplication } from "../support/application-folder.ts";
import { svc as start } from "../support/cli.ts";
import { database } from "../support/database.ts";
import { documentsIn } from "./json-documents.ts";

const db = database("platform");
const app = copiedApplication(db, "examples/starter");

test("dev and what follows the queue print one document a line", async () => {
  const run = (...words: string[]) => {
    const command = start(db, app.folder, [...words, "--json"]);
    onTestFinished(() => void command.child.kill("SIGKILL"));
    return command;
  };
  const [tail, dev] = [run("jobs", "tail"), run("dev", "--no-types")];
  await expect.poll(dev.output).toContain("Ready: ");
  await expect
    .poll(
      async () => {
        await db.sql("select svc_private.enqueue_system_job('notes.tidy', '{}', interval '0', null, 'request-1')");
        return tail.output();
      },
      { timeout: 60_000, interval: 500 },
    )
    .toContain('"state":"');
  for (const { child } of [tail, dev]) child.kill("SIGTERM");
  const [followed, served] = await Promise.all([tail.ended, dev.ended]);
  expect([followed.code, served.code]).toEqual([0, 0]);
  expect(documentsIn(followed.out)).toContainEqual(expect.objectContaining({ state: expect.any(String) }));
  expect(documentsIn(served.out)).toContainEqual(expect.objectContaining({ msg: "listening" }));
});
