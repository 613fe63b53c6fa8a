// If this file fails, calls fail during a rolling restart: a process that only starts takes them from those that serve.
import { readFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { fixture, svc } from "../support/cli.ts";
import { database } from "../support/database.ts";

const db = database();

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

test("a process that replaces another gets no connection before it can answer", async () => {
  const port = await freePort();
  const command = svc(db, fixture, ["start", "--processes", "2"], { PORT: String(port) });
  onTestFinished(async () => {
    command.child.kill("SIGTERM");
    await command.ended;
  });
  await expect.poll(command.output).toMatch(/Ready: \S+, 2 processes/);
  /** On a connection of its own, which the next process gets. */
  const get = () => fetch(`http://localhost:${port}/healthz`, { headers: { connection: "close" } });

  // A start reads the keys that sign tokens: it waits here for as long as the test wants.
  const admin = await db.connect("admin");
  await admin.query("begin; lock table auth.jwks in access exclusive mode");
  const { pid } = command.child;
  const [killed = 0] = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").map(Number);
  process.kill(killed, "SIGKILL");
  const waiting = "select from pg_locks where relation = 'auth.jwks'::regclass and not granted";
  await expect.poll(async () => (await db.sql(waiting)).length).toBeGreaterThan(0);

  const statuses = new Set<number>();
  for (let number = 0; number < 20; number++) statuses.add((await get()).status);
  expect([...statuses]).toEqual([200]);
  await admin.query("commit");
});
