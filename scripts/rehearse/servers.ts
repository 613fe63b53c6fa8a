/**
 * A primary with a synchronous standby: whatever the primary acknowledges, the standby has on its disk. And the failure:
 * every process of the primary killed at once, as when its machine dies.
 */
import { execFileSync, spawn } from "node:child_process";
import { chownSync, existsSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { serverUser } from "../../src/postgres/cluster/places.ts";
import { freePort } from "../../src/postgres/cluster/port.ts";
import { readPostmaster } from "../../src/postgres/cluster/postmaster.ts";
import { run, serverEnvironment } from "../../src/postgres/cluster/run.ts";
import { configuration, stop } from "../../src/postgres/cluster/server.ts";
import { type Cluster, openCluster, provision } from "../../src/postgres/cluster.ts";

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
  if (!tree) throw new Error("no server programs");
  const baseBackup = join(tree.binDir, "pg_basebackup");
  if (!existsSync(baseBackup))
    throw new Error(`${baseBackup} is missing: install PostgreSQL with its client programs.`);
  const settings = { max_connections: "200", max_wal_senders: "20", max_replication_slots: "20", hot_standby: "on" };
  const primary = await openCluster({ directory, name: "rehearsal", env: {}, settings });
  const folder = primary.directory as string;
  const user = await serverUser(join(folder, "data"));
  const admin = new URL(primary.urls.admin);

  const data = join(folder, "standby");
  mkdirSync(data, { mode: 0o700 });
  if (user) chownSync(data, user.uid, user.gid);
  const connection = `host=127.0.0.1 port=${admin.port} user=postgres application_name=${standbyName}`;
  const copied = await run(
    baseBackup,
    ["-d", connection, "-D", data, "-R", "-C", "-S", standbyName, "--checkpoint=fast", "--no-sync"],
    { user, env: { ...serverEnvironment(), PGPASSWORD: decodeURIComponent(admin.password) }, cwd: "/" },
  );
  if (!copied.ok) throw new Error(`pg_basebackup: ${copied.stderr}`);
  const port = await freePort();
  writeFileSync(join(data, "svc.conf"), configuration(port, { ...tree.settings, ...settings }));
  const log = openSync(join(folder, "standby.log"), "w");
  const child = spawn(join(tree.binDir, "postgres"), ["-D", data], {
    cwd: data,
    env: serverEnvironment(),
    stdio: ["ignore", log, log],
    ...(user && { uid: user.uid, gid: user.gid }),
  });

  const url = new URL(primary.urls.admin);
  url.port = String(port);
  const connect = () => connected(url.href);
  await until(async () => {
    if (child.exitCode !== null) throw new Error(readFileSync(join(folder, "standby.log"), "utf8"));
    return connect().then(
      (client) => client.end().then(() => true),
      () => false,
    );
  });
  const client = await connected(primary.urls.admin);
  await client.query(`alter system set synchronous_standby_names = '${standbyName}'`);
  await client.query("select pg_reload_conf()");
  const isSynchronous = "select from pg_stat_replication where application_name = $1 and sync_state = 'sync'";
  await until(async () => (await client.query(isSynchronous, [standbyName])).rowCount === 1);
  await client.end();

  return {
    primary,
    port,
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
      const standby = await connect();
      await standby.query("select pg_promote()");
      await standby.end();
    },
    connect,
    async stop() {
      const postmaster = readPostmaster(data);
      if (postmaster) await stop(postmaster, data);
      await primary.stop();
      rmSync(dirname(data), { recursive: true, force: true });
    },
  };
}

async function connected(connectionString: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString });
  client.on("error", () => {}); // killed on purpose
  await client.connect();
  return client;
}

export async function until(holds: () => Promise<boolean> | boolean, limitMs = 60_000): Promise<void> {
  const giveUp = Date.now() + limitMs;
  while (!(await holds())) {
    if (Date.now() > giveUp) throw new Error(`it did not come to pass within ${limitMs / 1000} s: ${holds}`);
    await sleep(20);
  }
}
