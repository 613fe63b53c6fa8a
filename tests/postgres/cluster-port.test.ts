// If this file fails, svc does not start where another program has taken the port of its PostgreSQL, or starts that one late.
import { once } from "node:events";
import { existsSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ask, open, temporary } from "./clusters.ts";

/** A program on the port of a cluster that has been stopped. */
async function takePortOf(admin: string) {
  const server = createServer().listen(Number(new URL(admin).port), "127.0.0.1");
  await once(server, "listening");
  return server;
}

test("a server whose port is taken gets another one, and keeps its data", async () => {
  const directory = temporary();
  const first = await open(directory);
  await ask(first.urls.admin, "create table kept as select 42 as n");
  await first.stop();
  const other = await takePortOf(first.urls.admin);
  const second = await open(directory);
  expect(second.urls.admin).not.toBe(first.urls.admin);
  expect(await ask(second.urls.admin, "select n from kept")).toBe(42);
  await second.stop();
  other.close();
  expect((await open(directory)).urls).toEqual(second.urls);
}, 60_000);

test("a server is started at once, not when the application that is loaded beside it lets events through", async () => {
  const directory = temporary();
  const first = await open(directory);
  await first.stop();
  const log = join(first.directory ?? "", "server.log");
  rmSync(log);
  const opening = open(directory);
  for (let step = 0; step < 50; step++) await null; // promises that are kept, and no event
  expect(existsSync(log)).toBe(true);
  await opening;
}, 60_000);
