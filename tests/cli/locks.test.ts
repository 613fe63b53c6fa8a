// If this file fails, `svc db locks` gives an operator a command that does not end what blocks.
import { expect, onTestFinished, test } from "vitest";
import { fixture, svcHere } from "../support/cli.ts";
import { database } from "../support/database.ts";

const db = database();

// PostgreSQL names the session 0 for it, and the output advised pg_terminate_backend(0).
test("a prepared transaction that blocks is told as one, with the command that ends it", async () => {
  const [admin, waiting] = [await db.connect("admin"), await db.connect("admin")];
  await admin.query("begin; lock table guestbook in access exclusive mode; prepare transaction 'blocks'");
  const blocked = waiting.query("insert into guestbook (message) values ('waits')");
  onTestFinished(async () => {
    await admin.query("rollback prepared 'blocks'");
    await blocked;
  });
  const waits = "select from pg_locks where not granted and relation = 'guestbook'::regclass";
  await expect.poll(async () => (await db.sql(waits)).length).toBe(1);

  const { out, code } = await svcHere(db, fixture, ["db", "locks"]);
  expect(code).toBe(0);
  expect(out).toMatch(/^A prepared transaction blocks, one of those below:\n {2}\d+ /);
  expect(out).toContain("To end the first: rollback prepared, as below.");
  expect(out).not.toContain("pg_terminate_backend(0)");
});
