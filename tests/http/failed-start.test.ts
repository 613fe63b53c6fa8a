// If this file fails, a service that starts gets requests that it cannot answer, or one that cannot start leaves connections, timers or its port open: the process hangs
// instead of ending, and a supervisor does not restart it.
import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, createServer as createSocketServer } from "node:net";
import { join } from "node:path";
import { expect, test } from "vitest";
import { freePort } from "../../src/cluster/port.ts";
import { loadConfig } from "../../src/config/load-config.ts";
import { defineAuth } from "../../src/contract/auth.ts";
import { type Service, startService } from "../../src/service/service.ts";
import { createLog } from "../../src/telemetry/log.ts";
import * as schema from "../fixture/backend/schema.ts";
import { database } from "../support/database.ts";
import { FlakyProxy } from "../support/flaky-proxy.ts";
import { apiWith, secret } from "../support/service.ts";

const db = database();
const open = () =>
  db.sql(
    `select usename, application_name from pg_stat_activity
      where datname = current_database() and backend_type in ('client backend', 'walsender') and pid <> pg_backend_pid()`,
  );

async function start(broken: object, urls = db.urls): Promise<Service> {
  const config = await loadConfig({ cwd: join(import.meta.dirname, "../fixture"), env: {} });
  return startService({
    app: { api: apiWith(), auth: defineAuth({}), schema },
    config: Object.defineProperties({ ...config, port: 0 }, Object.getOwnPropertyDescriptors(broken)),
    urls,
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

test("a start outlives a connection that does not open in time, as on a busy machine", async () => {
  const proxy = await FlakyProxy.start(db.url("system"));
  let first = true;
  proxy.fault = () => {
    const fault = { kind: first ? ("swallow" as const) : ("none" as const) };
    first = false;
    return fault;
  };
  const { pool } = await loadConfig({ cwd: join(import.meta.dirname, "../fixture"), env: {} });
  const service = await start({ pool: { ...pool, waitMs: 1_000 } }, { ...db.urls, system: proxy.url });
  expect(first).toBe(false);
  await service.stop();
  await proxy.stop();
});

// A balancer without health checks gave it requests of users, which it answered with 503 "The service is starting."
test("a start takes no connection before it can answer", async () => {
  const silent = createSocketServer(); // a database that takes long
  await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
  const connected = once(silent, "connection");
  const system = new URL(db.urls.system);
  system.host = `127.0.0.1:${(silent.address() as AddressInfo).port}`;
  const port = await freePort();
  const outcome = start({ port }, { ...db.urls, system: system.href }).then(
    () => "serves",
    () => "fails",
  );
  const [connection] = await connected;
  await expect(fetch(`http://localhost:${port}/healthz`)).rejects.toThrow();
  silent.close();
  connection.destroy();
  expect(await outcome).toBe("fails");
});
