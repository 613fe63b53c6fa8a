/** `svc start --processes 2` for the tests of a file. Its first test starts it. */
import { readFileSync } from "node:fs";
import { afterAll, expect, test } from "vitest";
import { freePort } from "../../src/cluster/port.ts";
import { type Command, fixture, svc } from "../support/cli.ts";
import type { Database } from "../support/database.ts";

export function twoProcesses(db: Database) {
  let command: Command;
  let url: string;
  afterAll(async () => {
    command.child.kill("SIGKILL");
    await command.ended;
  });
  test("start together", async () => {
    // A process opens a port that is named last, and one that the system chooses first.
    const PORT = String(await freePort());
    command = svc(db, fixture, ["start", "--processes", "2", "--json"], { PORT, SVC_METRICS_OPEN: "1" });
    const ready = () => /Ready: (\S+), 2 processes/.exec(command.output())?.[1] ?? command.output();
    await expect.poll(ready).toMatch(/^http/);
    url = ready();
  });
  return {
    /** The one that started the two. */
    command: () => command,
    url: () => url,
    /** The processes that were started, by the kernel. */
    processes(): number[] {
      const { pid } = command.child;
      return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").filter(Boolean).map(Number);
    },
    /** On a connection of its own, which the next process gets. */
    get: (path: string) => fetch(url + path, { headers: { connection: "close" } }),
    logged: () =>
      command
        .output()
        .split("\n")
        .flatMap((line) => (line.startsWith("{") ? [JSON.parse(line)] : [])),
  };
}
