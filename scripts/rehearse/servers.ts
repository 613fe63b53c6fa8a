/**
 * A primary with a synchronous standby: whatever the primary acknowledges, the standby has on its disk. And the failure:
 * every process of the primary killed at once, as when its machine dies.
 */
import { execFileSync } from "node:child_process";
import { rmSync } from "node:fs";
import { dirname, join } from "node:path";
import type pg from "pg";
import { openCluster, provision } from "../../src/cluster/open-cluster.ts";
import { readPostmaster } from "../../src/cluster/postmaster.ts";
import type { Cluster } from "../../src/cluster/types.ts";
import { canMakeStandby, connected, startStandby } from "./standby.ts";
import { until } from "./until.ts";

const standbyName = "svc_standby";

export interface Servers {
  primary: Cluster;
  /** The standby's port. */
  port: number;
  /** Kills the primary without a goodbye. */
  kill(): void;
  /** Makes the standby the primary. Resolves when it takes writes. */
  promote(): Promise<void>;
  /** A connection as the administrator, to the standby. */
  connect(): Promise<pg.Client>;
  stop(): Promise<void>;
}

/** @param directory of the rehearsal's own; emptied before and after */
export async function startServers(directory: string): Promise<Servers> {
  const tree = await provision({ directory, env: {} });
  if (!tree || !canMakeStandby(tree.binDir)) {
    throw new Error("pg_basebackup is missing: install PostgreSQL with its client programs.");
  }
  const settings = { max_connections: "200", max_wal_senders: "20", max_replication_slots: "20", hot_standby: "on" };
  const primary = await openCluster({ directory, name: "rehearsal", env: {}, settings });
  const folder = primary.directory as string;
  const standby = await startStandby({
    binDir: tree.binDir,
    adminUrl: primary.urls.admin,
    data: join(folder, "standby"),
    name: standbyName,
    settings: { ...tree.settings, ...settings },
  });

  const client = await connected(primary.urls.admin);
  await client.query(`alter system set synchronous_standby_names = '${standbyName}'`);
  await client.query("select pg_reload_conf()");
  const isSynchronous = "select from pg_stat_replication where application_name = $1 and sync_state = 'sync'";
  await until(async () => (await client.query(isSynchronous, [standbyName])).rowCount === 1);
  await client.end();
  const database = new URL(primary.urls.admin).pathname.slice(1);

  return {
    primary,
    port: standby.port,
    kill() {
      const postmaster = readPostmaster(join(folder, "data"))?.pid as number;
      const backends = execFileSync("ps", ["-o", "pid=", "--ppid", String(postmaster)], { encoding: "utf8" });
      for (const pid of [postmaster, ...backends.trim().split(/\s+/).map(Number)]) {
        try {
          process.kill(pid, "SIGKILL");
        } catch {
          // It has ended by itself in between.
        }
      }
    },
    async promote() {
      const client = await standby.connect();
      await client.query("select pg_promote()");
      await client.end();
    },
    connect: () => standby.connect(database),
    async stop() {
      await standby.stop();
      await primary.stop();
      rmSync(dirname(folder), { recursive: true, force: true }); // made for this directory alone
    },
  };
}
