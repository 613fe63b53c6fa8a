// If this file fails, rows that queries of a standby keep from vacuum slow the queue down, and no command says why. Needs
// pg_basebackup; skipped without it.
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, inject, onTestFinished, test } from "vitest";
import { canMakeStandby, startStandby } from "../../scripts/rehearse/standby.ts";
import { examineOldTransactions } from "../../src/cli/doctor-schema.ts";
import { provision } from "../../src/cluster/open-cluster.ts";
import { database } from "../support/database.ts";
import { root } from "../support/global-setup.ts";
import { until } from "../support/worker.ts";

const tree = await provision({ directory: join(root, ".svc"), env: { SVC_POSTGRES: process.env.SVC_POSTGRES } });
const missing = !tree || !canMakeStandby(tree.binDir) ? " [skipped: no pg_basebackup]" : "";
const db = database();
const name = `svc_test_holds_${process.pid}`;
/** The limits as in replicas.test.ts. */
const settings = {
  ...tree?.settings,
  ...{ max_connections: "300", max_wal_senders: "50", max_prepared_transactions: "5", fsync: "off", hot_standby: "on" },
  ...{ hot_standby_feedback: "on", wal_receiver_status_interval: "1s" },
};

test.skipIf(missing)(`a standby without a slot whose query keeps rows is told${missing}`, async () => {
  const directory = mkdtempSync(join(tmpdir(), "svc-holds-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  chmodSync(directory, 0o711); // the server's user passes
  const { admin: adminUrl } = inject("urls");
  const standby = await startStandby({
    binDir: tree?.binDir ?? "",
    adminUrl,
    data: join(directory, "data"),
    name,
    settings,
  });
  onTestFinished(standby.stop);
  const reader = await standby.connect(db.name);
  reader.on("error", () => {}); // the standby stops
  await reader.query("alter system set primary_slot_name = ''");
  await reader.query("select pg_reload_conf()");
  await until(async () => {
    await db.sql(
      "select pg_drop_replication_slot(slot_name) from pg_replication_slots where slot_name = $1 and not active",
      [name],
    );
    return (await db.sql("select from pg_replication_slots where slot_name = $1", [name])).length === 0;
  });
  await reader.query("begin isolation level repeatable read; select from notes");
  const isKnown = "select from pg_stat_replication where application_name = $1 and backend_xmin is not null";
  await until(async () => (await db.sql(isKnown, [name])).length === 1);
  const holders = `select pid, application, state, holds_back from svc_private.ops_vacuum_holders where application = $1`;
  expect(await db.sql(holders, [name])).toEqual([]); // a moment is nothing to tell
  // Each block that writes takes a transaction id.
  await db.sql(`create table numbers (n integer); do $$ begin
    for n in 1..100001 loop begin insert into numbers values (n); exception when data_exception then null; end; end loop; end $$`);
  const system = db.pool("system");
  expect(await db.sql(holders, [name])).toEqual([
    { pid: expect.any(Number), application: name, state: "standby", holds_back: expect.any(Number) },
  ]);
  const told = (await examineOldTransactions(system)).map(({ text }) => text);
  expect(told).toContainEqual(expect.stringContaining(`The standby ${name} keeps old rows for its queries`));
  await reader.query("rollback");
  await reader.end();
});
