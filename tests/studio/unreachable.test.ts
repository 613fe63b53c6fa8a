// If this file fails, Studio tells an operator of an internal error while the database is down.
import { expect, test } from "vitest";
import { openReadPool } from "../../src/studio/open-studio.ts";
import { createPanels } from "../../src/studio/panels.ts";
import { freePort } from "../support/free-port.ts";

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
