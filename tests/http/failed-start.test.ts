// If this file fails, a service that cannot start leaves connections, timers or its port open: the process hangs
// instead of ending, and a supervisor does not restart it.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, test } from "vitest";
import { loadConfig } from "../../src/config/load-config.ts";
import { defineAuth } from "../../src/contract/auth.ts";
import { startService } from "../../src/service/service.ts";
import { createLog } from "../../src/telemetry/log.ts";
import * as schema from "../fixture/backend/schema.ts";
import { database } from "../support/database.ts";
import { apiWith, secret } from "../support/service.ts";

const db = database();
const open = () =>
  db.sql(
    `select usename, application_name from pg_stat_activity
      where datname = current_database() and backend_type in ('client backend', 'walsender') and pid <> pg_backend_pid()`,
  );

async function start(broken: object): Promise<unknown> {
  const config = await loadConfig({ cwd: join(import.meta.dirname, "../fixture"), env: {} });
  return startService({
    app: { api: apiWith(), auth: defineAuth({}), schema },
    config: Object.defineProperties({ ...config, port: 0 }, Object.getOwnPropertyDescriptors(broken)),
    urls: db.urls,
    secrets: [secret],
    log: createLog("silent"),
  });
}

/** Sockets, and timers that keep the process alive: the test's own, and those of other files in this process. */
const held = () => process.getActiveResourcesInfo().filter((name) => /Timeout|TCP/.test(name)).length;

test("a start that fails behind authentication and realtime closes all of it", async () => {
  await open();
  const before = held();
  const rounds = 5;
  for (let round = 0; round < rounds; round++) {
    const failing = start({
      // Read last, where the application is put together.
      get webHeaders() {
        throw new Error("broken on purpose");
      },
    });
    await expect(failing).rejects.toThrow("broken on purpose");
  }
  await expect.poll(open).toEqual([]);
  // Each start would leave one at least.
  await expect.poll(held).toBeLessThan(before + rounds);
});

test("a start on a port that is taken closes what it had opened", async () => {
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(0, resolve));
  const { port } = other.address() as AddressInfo;
  await expect(start({ port })).rejects.toThrow("EADDRINUSE");
  await expect.poll(open).toEqual([]);
  other.close();
});
