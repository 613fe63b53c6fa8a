// If this file fails, Studio tells an operator of an internal error while the database is down, or keeps processes that
// never end.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runCommand } from "../../src/cli/studio.ts";
import { openReadPool } from "../../src/studio/open-studio.ts";
import { createPanels } from "../../src/studio/panels.ts";
import { database } from "../support/database.ts";
import { freePort } from "../support/free-port.ts";

const db = database();

test("a database that cannot be reached is named as such, by rows and by lists", async () => {
  const read = openReadPool(`postgres://nobody@127.0.0.1:${await freePort()}/none`, "svc studio");
  const answer = createPanels({ read, act: null, command: async () => null });
  for (const [name, input] of [
    ["status", {}],
    ["rows", { table: "public.notes", as: null }],
  ] as const) {
    await expect(answer(name, input)).rejects.toMatchObject({ code: "UNAVAILABLE" });
  }
  await read.end();
});

test("an act that waits for a lock is told to have taken too long, without the limit of a viewer's statements", async () => {
  await db.sql(`insert into auth."user" (id, name, email) values ('ann', 'Ann', 'ann@example.com')`);
  const holder = await db.connect("admin");
  await holder.query(`begin; select from auth."user" where id = 'ann' for update`);
  const [read, act] = [db.pool("studioRead"), db.pool("studioAct")];
  act.on("connect", (client) => void client.query("set statement_timeout = '300ms'"));
  const answer = createPanels({ read, act, command: async () => null });
  const error = { code: "TIMEOUT", message: "The database took too long. Nothing was changed." };
  await expect(answer("act", { act: "act_verify_email", user: "ann" })).rejects.toMatchObject(error);
  await holder.query("rollback");
});

test("a dry run whose handler never ends is ended, and so is each command when Studio stops", async () => {
  const folder = await mkdtemp(join(tmpdir(), "svc-busy-"));
  const program = join(folder, "busy.mjs");
  await writeFile(program, "while (true);");
  const [, before = ""] = process.argv;
  process.argv[1] = program;
  try {
    await expect(runCommand(folder, ["dry-run", "a.b"], { timeout: 200 })).rejects.toMatchObject({ code: "TIMEOUT" });
    const stopping = new AbortController();
    const running = runCommand(folder, ["doctor"], { signal: stopping.signal });
    stopping.abort();
    await expect(running).rejects.toThrow("svc doctor failed");
  } finally {
    process.argv[1] = before;
    await rm(folder, { recursive: true });
  }
});
