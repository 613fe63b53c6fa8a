// If this file fails, a standby that follows the server that has failed, and not the one in its place, answers with the
// rows of that one; or a backup of a standby lacks files; or an address that led to a standby for a moment costs a failed
// call for each connection; or no standby is asked any more after a switchover. Needs pg_basebackup; skipped without it.
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, inject, onTestFinished, test, vi } from "vitest";
import { canMakeStandby, startStandby } from "../../scripts/rehearse/standby.ts";
import { takeBackup } from "../../src/backup/take.ts";
import { examineReplicas } from "../../src/cli/doctor-connections.ts";
import { provision } from "../../src/cluster/open-cluster.ts";
import { sqlState } from "../../src/postgres/errors.ts";
import { createPool } from "../../src/postgres/pools.ts";
import { Replicas } from "../../src/postgres/replicas.ts";
import { DiskDriver } from "../../src/storage/drivers/disk.ts";
import { createLog } from "../../src/telemetry/log.ts";
import { database } from "../support/database.ts";
import { root } from "../support/global-setup.ts";
import { PostgresProxy } from "../support/postgres-proxy.ts";
import { until } from "../support/worker.ts";

const tree = await provision({ directory: join(root, ".svc"), env: { SVC_POSTGRES: process.env.SVC_POSTGRES } });
const missing = !tree || !canMakeStandby(tree.binDir) ? " [skipped: no pg_basebackup]" : "";

/** As in replicas.test.ts. */
const same = { max_connections: "300", max_wal_senders: "50", max_prepared_transactions: "5" };
const db = database();

async function copy(directory: string, name: string) {
  const slot = `svc_test_${name}_${process.pid}`;
  const settings = { ...tree?.settings, ...same, fsync: "off", hot_standby: "on" };
  const data = join(directory, name);
  const { admin: adminUrl } = inject("urls");
  // A slot that stays keeps all of the log that comes later.
  onTestFinished(async () => {
    await db.sql("select pg_drop_replication_slot(slot_name) from pg_replication_slots where slot_name = $1", [slot]);
  });
  const server = await startStandby({ binDir: tree?.binDir ?? "", adminUrl, data, name: slot, settings });
  onTestFinished(server.stop);
  const url = Object.assign(new URL(db.url("request")), { port: String(server.port) }).href;
  return { ...server, url };
}

test.skipIf(missing)(`connections that an address led to a standby refuse one write together${missing}`, async () => {
  const directory = mkdtempSync(join(tmpdir(), "svc-strayed-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  chmodSync(directory, 0o711);
  const standby = await copy(directory, "addressed");
  const on = (port: number) => Object.assign(new URL(db.urls.admin), { port: String(port) }).href;
  const address = await PostgresProxy.start(on(standby.port));
  onTestFinished(() => address.stop());
  const limits = { waitMs: 5_000, statementTimeoutMs: 60_000, idleInTransactionMs: 5_000 };
  const settings = { request: 1, system: 4, auth: 1, ...limits };
  const { pool, close } = createPool("system", address.url, settings, createLog("silent"));
  onTestFinished(close);
  const all = (text: string) =>
    Promise.all(Array.from({ length: 4 }, () => pool.query(text).then(() => "done", sqlState)));
  expect(await all("select pg_sleep(0.1)")).toEqual(Array(4).fill("done"));
  const meant = createPool("system", address.url, { ...settings, system: 1, standby: true }, createLog("silent"));
  onTestFinished(meant.close);
  const pid = async () => (await meant.pool.query("select pg_backend_pid() as pid")).rows[0].pid;
  const before = await pid();
  await expect(meant.pool.query("create table public.refused ()")).rejects.toMatchObject({ code: "25006" });
  expect(await pid(), "of a pool that is meant for standbys").toBe(before);
  address.retarget(db.urls.admin);
  const write = "select pg_sleep(0.1); create table if not exists public.written ()";
  await expect(pool.query(write)).rejects.toMatchObject({ code: "25006" });
  await db.sql(write);
  expect(await all(write)).toEqual(Array(4).fill("done"));
});

test.skipIf(missing)("an address that led to a promoted server is asked when it leads to a standby", async () => {
  const directory = mkdtempSync(join(tmpdir(), "svc-strayed-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  chmodSync(directory, 0o711);
  const standby = await copy(directory, "second");
  const address = await PostgresProxy.start(db.url("request"));
  onTestFinished(() => address.stop());
  const limits = { waitMs: 5_000, statementTimeoutMs: 60_000, idleInTransactionMs: 5_000 };
  const settings = { request: 2, system: 1, auth: 1, ...limits };
  const primary = createPool("request", db.url("request"), settings, createLog("silent"));
  onTestFinished(primary.close);
  const log = createLog("silent");
  const warn = vi.spyOn(log, "warn");
  const replicas = new Replicas([address.url], primary.pool, settings, log);
  onTestFinished(() => replicas.close());
  await until(() => warn.mock.calls.length > 0);
  expect(warn.mock.calls[0]?.[0]).toEqual({ reason: expect.stringContaining("it is not a standby") });
  address.retarget(standby.url); // as a name that leads to another server: connections stay
  await expect.poll(() => replicas.choose(0n, "ann")?.number).toBe(1);
});

test.skipIf(missing)(`a standby that is ahead of the primary answers nobody${missing}`, async () => {
  const directory = mkdtempSync(join(tmpdir(), "svc-strayed-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  chmodSync(directory, 0o711); // the server's user passes
  const standby = await copy(directory, "standby");
  const promoted = await copy(directory, "promoted");
  const limits = { waitMs: 5_000, statementTimeoutMs: 60_000, idleInTransactionMs: 5_000 };
  const settings = { request: 2, system: 1, auth: 1, ...limits };
  const primary = createPool("request", promoted.url, settings, createLog("silent"));
  try {
    const [ahead, behind] = [await standby.connect(), await promoted.connect()];
    // Databases that other tests drop meanwhile conflict with statements of a standby.
    await until(() => behind.query("select pg_promote()").then(Boolean, (error) => sqlState(error) !== "40001"));
    const { rows } = await behind.query("select pg_current_wal_insert_lsn() as place");
    await until(async () => {
      await db.sql("select pg_logical_emit_message(false, 'test', repeat('x', 10000))");
      const isAhead = "select pg_last_wal_replay_lsn() > $1::pg_lsn + 100000 as it";
      return (await ahead.query(isAhead, [rows[0].place])).rows[0].it;
    });
    await Promise.all([ahead.end(), behind.end()]);

    const adminUrl = Object.assign(new URL(db.url("admin")), { port: String(standby.port) }).href;
    const backup = { adminUrl, driver: new DiskDriver(directory), folder: join(directory, "backup"), version: "0.0.0" };
    await expect(takeBackup(backup)).rejects.toThrow("The server is a standby.");

    const log = createLog("silent");
    const warn = vi.spyOn(log, "warn");
    const replicas = new Replicas([standby.url], primary.pool, settings, log);
    await until(() => warn.mock.calls.length > 0);
    expect(warn.mock.calls[0]?.[0]).toEqual({ reason: expect.stringContaining("it is ahead of the primary") });
    await replicas.position();
    expect(replicas.choose(0n, "ann")).toBeNull();
    await replicas.close();
    expect(await examineReplicas([standby.url], primary.pool)).toMatchObject([
      { kind: "wrong", text: expect.stringContaining("is ahead of the primary") },
    ]);
  } finally {
    await primary.close();
  }
});
