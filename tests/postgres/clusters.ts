/** Real servers in temporary directories, also as other processes open them; each is stopped and removed after its test. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Client } from "pg";
import { afterEach } from "vitest";
import { withLock } from "../../src/cluster/lock.ts";
import { type OpenOptions, openCluster } from "../../src/cluster/open-cluster.ts";
import { serverUser } from "../../src/cluster/places.ts";
import { restart, stop } from "../../src/cluster/server.ts";
import type { Cluster } from "../../src/cluster/types.ts";

const clusterModule = new URL("../../src/cluster/open-cluster.ts", import.meta.url).href;
export const fast = { fsync: "off", full_page_writes: "off" };

// Every server stops before any directory is removed, since two processes may share one.
let stops: (() => Promise<void>)[] = [];
let directories: string[] = [];
afterEach(async () => {
  const [stopping, going] = [stops, directories];
  [stops, directories] = [[], []];
  await Promise.allSettled(stopping.reverse().map((stop) => stop()));
  for (const directory of going) rmSync(directory, { recursive: true, force: true });
});

/** A directory that the server's user may also enter, when we are root. */
export function temporary(): string {
  const path = mkdtempSync(join(tmpdir(), "svc-cluster-"));
  chmodSync(path, 0o711);
  directories.push(path);
  return path;
}

export async function open(directory: string, options: Partial<OpenOptions> = {}): Promise<Cluster> {
  const env: NodeJS.ProcessEnv = { ...process.env, DATABASE_URL: "", ...options.env };
  const cluster = await openCluster({ directory, settings: fast, ...options, env });
  forget(cluster.directory);
  stops.push(() => cluster.stop());
  return cluster;
}

/** As root, clusters are outside the temporary directory. */
function forget(directory: string | null): void {
  if (directory) directories.push(dirname(directory));
}

export async function ask<T = unknown>(url: string, statement: string): Promise<T> {
  const client = new Client(url);
  client.on("error", () => {}); // the server of a test may vanish; the interrupted query reports it
  await client.connect();
  try {
    const { rows } = await client.query({ text: statement, rowMode: "array" });
    return rows[0]?.[0] as T;
  } finally {
    await client.end();
  }
}

interface Told {
  owned: boolean;
  url: string;
  reason: string;
  vector: string | null;
  directory: string;
}

/** Opens the same cluster in a separate process, which stops it when its input ends. */
export async function inAnotherProcess(directory: string, env: NodeJS.ProcessEnv = {}, cache?: string) {
  const options = JSON.stringify({ directory, settings: fast, ...(cache ? { cache } : {}) });
  const script = `
    import { openCluster } from ${JSON.stringify(clusterModule)};
    const { urls, owned, reason, vector, directory, stop } = await openCluster(${options});
    console.log(JSON.stringify({ url: urls.admin, owned, reason, vector, directory }));
    process.stdin.resume().on("end", stop);`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", script], {
    stdio: ["pipe", "pipe", "inherit"],
    env: { ...process.env, DATABASE_URL: "", ...env },
  });
  const exit = once(child, "exit");
  const [line] = (await Promise.race([once(child.stdout, "data"), exit.then(() => [""])])) as [unknown];
  const told = JSON.parse(String(line)) as Told;
  forget(told.directory);
  const end = async () => {
    child.stdin.end();
    await exit;
  };
  const kill = async () => {
    child.kill("SIGKILL");
    await exit;
  };
  stops.push(end);
  return { ...told, end, kill };
}

export function serverPid(cluster: { directory: string | null }): number {
  return Number(readFileSync(join(cluster.directory ?? "", "data/postmaster.pid"), "utf8").split("\n")[0]);
}

/** What svc knows of the running server. */
export const readRunning = (directory: string) =>
  JSON.parse(readFileSync(join(directory, "running.json"), "utf8")) as { postmaster: number; tree: { binDir: string } };

/** Restarts the server as somebody else does by pg_ctl; the lock keeps svc from being faster. @returns its process */
export function restartByHand(directory: string): Promise<number> {
  const data = join(directory, "data");
  return withLock(join(directory, "lock"), async () => {
    await stop({ pid: serverPid({ directory }) }, data);
    const files = { directory, data, log: join(directory, "server.log"), user: await serverUser(data) };
    return (await restart(files, readRunning(directory).tree.binDir)).pid;
  });
}
