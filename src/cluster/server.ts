/**
 * Creates, starts, finds and stops one PostgreSQL server on a data directory. `private.ts` calls this under
 * the cluster's lock and decides who may.
 */
import { spawn } from "node:child_process";
import {
  chownSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ClusterError } from "./error.ts";
import { bornAt } from "./lock.ts";
import type { ServerUser } from "./places.ts";
import { freePort, isFree } from "./port.ts";
import { commandLine, type Postmaster, readPostmaster } from "./postmaster.ts";
import { run, serverEnvironment } from "./run.ts";

export interface ServerFiles {
  /** The cluster's folder, with data, logs and passwords. */
  directory: string;
  data: string;
  log: string;
  user: ServerUser | null;
}

/** Settings of every cluster; a caller's own settings override them. */
const baseSettings: Record<string, string> = {
  listen_addresses: "127.0.0.1",
  unix_socket_directories: "", // a socket's path is limited to 107 bytes, and a project's path may be longer
  max_connections: "100",
  wal_level: "logical",
  max_wal_senders: "10",
  max_replication_slots: "10",
  max_slot_wal_keep_size: "1GB", // a forgotten slot must not fill the disk
  password_encryption: "scram-sha-256",
  timezone: "UTC",
  log_timezone: "UTC",
  fsync: "on",
  jit: "off", // compiling short statements costs more than it saves
};

/** The text of svc.conf. It is compared with the running server's to detect changed settings. */
export function configuration(port: number, settings: Record<string, string>): string {
  const all = Object.entries({ ...baseSettings, ...settings, port: String(port) });
  const lines = all.map(([name, value]) => `${name} = '${value.replaceAll("'", "''")}'`);
  return `# Written by svc at every start; changes here are lost.\n${lines.join("\n")}\n`;
}

/** The settings that the running server was started with. */
export function readConfiguration(files: ServerFiles): string {
  const file = join(files.data, "svc.conf");
  return existsSync(file) ? readFileSync(file, "utf8") : "";
}

/** Makes the data directory under a temporary name and renames it, so that an interrupted one is never used. */
export async function initialize(files: ServerFiles, binDir: string, password: string, sync: boolean): Promise<void> {
  const draft = `${files.data}.new`;
  const passwordFile = join(draft, "..", "initial-password");
  let problem = "";
  // Collation C orders by bytes, so a new C library never changes an index's order. The character classes are
  // Unicode's; otherwise case folding and word search would know only English letters.
  for (const characters of ["C.UTF-8", "en_US.UTF-8", "C"]) {
    rmSync(draft, { recursive: true, force: true });
    mkdirSync(draft, { mode: 0o700 });
    writeFileSync(passwordFile, password, { mode: 0o600 });
    if (files.user) for (const path of [draft, passwordFile]) chownSync(path, files.user.uid, files.user.gid);
    const made = await run(
      join(binDir, "initdb"),
      ["-D", draft, "-U", "postgres", "-A", "scram-sha-256", `--pwfile=${passwordFile}`, "-E", "UTF8"].concat(
        ["--no-locale", `--lc-ctype=${characters}`, "--no-instructions", "--text-search-config=english"],
        sync ? [] : ["--no-sync"],
      ),
      { user: files.user, env: serverEnvironment(), cwd: "/" },
    );
    rmSync(passwordFile, { force: true });
    if (made.ok) {
      const file = join(draft, "postgresql.conf");
      writeFileSync(file, `${readFileSync(file, "utf8")}\ninclude = 'svc.conf'\n`);
      renameSync(draft, files.data);
      return;
    }
    problem = made.stderr.trim();
    if (!/locale/i.test(problem)) break;
  }
  rmSync(draft, { recursive: true, force: true });
  throw new ClusterError(
    `PostgreSQL could not make a cluster in ${files.directory}: ${problem}.`,
    "Free some disk space or correct the directory's permissions, or set DATABASE_URL to use a server of your own.",
  );
}

/** Sets the superuser's password in the server's single-user mode. The server must not run. */
export async function resetPassword(files: ServerFiles, binDir: string, password: string): Promise<void> {
  const args = ["--single", "-D", files.data, "postgres"];
  const input = `alter role postgres password '${password}';\n`;
  const done = await run(join(binDir, "postgres"), args, {
    user: files.user,
    env: serverEnvironment(),
    cwd: files.data,
    input,
  });
  if (done.ok) return;
  throw new ClusterError(
    `The passwords of the cluster in ${files.directory} are lost and could not be set again: ${done.stderr.trim()}.`,
    "Restore access.json from a backup; if the data is of no value, remove that directory.",
  );
}

/** The major version that made the data directory; null if there is none. */
export function majorOf(data: string): number | null {
  const file = join(data, "PG_VERSION");
  return existsSync(file) ? Number.parseInt(readFileSync(file, "utf8"), 10) : null;
}

/** The server that runs on this data directory, or null. */
export function findRunning(data: string): Postmaster | null {
  const postmaster = readPostmaster(data);
  return postmaster && bornAt(postmaster.pid) !== null && commandLine(postmaster.pid).includes(data)
    ? postmaster
    : null;
}

/**
 * Starts the server and waits until it accepts connections, through crash recovery if need be.
 *
 * @returns the server and its port: another port if the requested one was taken
 */
export async function start(
  files: ServerFiles,
  binDir: string,
  port: number,
  settings: Record<string, string>,
): Promise<Postmaster> {
  let wanted = port;
  let isFirst = true;
  return launchUntilReady(files, binDir, async () => {
    // The port of the last time needs no probe, which would end when the application is loaded: a server that cannot have it
    // says so.
    if (!wanted || (!isFirst && !(await isFree(wanted, "127.0.0.1")))) wanted = await freePort();
    isFirst = false;
    writeConfiguration(files, configuration(wanted, settings));
  });
}

/** Restarts a dead server with its settings and at its port, because clients reconnect there. */
export function restart(files: ServerFiles, binDir: string): Promise<Postmaster> {
  return launchUntilReady(files, binDir, async () => {});
}

/** @param prepare runs before each attempt */
async function launchUntilReady(files: ServerFiles, binDir: string, prepare: () => Promise<void>): Promise<Postmaster> {
  const giveUp = Date.now() + 15_000;
  for (;;) {
    await prepare();
    disarmStalePid(files);
    const outcome = await launch(files, binDir);
    if (typeof outcome !== "string") return outcome;
    if (!passes.test(outcome) || Date.now() > giveUp) throw notStarted(files, outcome);
    await sleep(100);
  }
}

/**
 * Errors that pass. Backends of a killed server need a moment to notice and leave; until then the new server refuses to
 * start. The same holds when another process takes the port after we found it free.
 */
const passes = /pre-existing shared memory block|could not bind|could not create any TCP/;

const notStarted = (files: ServerFiles, log: string) =>
  new ClusterError(
    `PostgreSQL did not start in ${files.directory}: ${lastLines(log)}`,
    `The whole log is ${files.log}. If the data is of no value, remove ${files.directory} and start again.`,
  );

/** Fast shutdown: open transactions are rolled back, and all data is on disk when this returns. */
export async function stop(postmaster: { pid: number }, data: string): Promise<void> {
  const born = bornAt(postmaster.pid);
  const began = Date.now();
  let signal: NodeJS.Signals | null = "SIGINT";
  while (born !== null && bornAt(postmaster.pid) === born) {
    // A replication client that does not answer can block a fast shutdown for ever. An immediate shutdown is as safe:
    // the log is replayed at the next start.
    if (signal === null && Date.now() - began > 20_000 && findRunning(data)) signal = "SIGQUIT";
    if (signal) send(postmaster.pid, signal);
    signal = null;
    await sleep(10);
  }
}

export function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // The process is already gone.
  }
}

async function launch(files: ServerFiles, binDir: string): Promise<Postmaster | string> {
  if (existsSync(files.log)) renameSync(files.log, `${files.log}.1`);
  const log = openSync(files.log, "a", 0o600);
  const child = spawn(join(binDir, "postgres"), ["-D", files.data], {
    cwd: files.data,
    env: serverEnvironment(),
    stdio: ["ignore", log, log],
    // In its own session: Ctrl-C in a terminal must reach only this process, which lets requests finish before it stops
    // the server.
    detached: true,
    ...(files.user ? { uid: files.user.uid, gid: files.user.gid } : {}),
  });
  closeSync(log);
  child.unref();
  let failure: string | null = null;
  child.once("error", (error) => {
    failure = error.message;
  });
  while (failure === null && child.exitCode === null && child.signalCode === null) {
    const postmaster = readPostmaster(files.data);
    if (postmaster && postmaster.pid === child.pid && postmaster.ready) return postmaster;
    await sleep(10);
  }
  return failure ?? readFileSync(files.log, "utf8");
}

/**
 * Replaces the pid that a server killed with -9 left behind. That number may belong to another process by now, which
 * PostgreSQL takes for a living server. With a pid that no process can have, PostgreSQL checks the shared memory
 * instead, which protects the data. Removing the file would skip that check.
 */
function disarmStalePid(files: ServerFiles): void {
  const file = join(files.data, "postmaster.pid");
  if (!existsSync(file) || findRunning(files.data)) return;
  const [, ...rest] = readFileSync(file, "utf8").split("\n");
  if (rest.length < 7) rmSync(file);
  else writeFileSync(file, ["99999999", ...rest].join("\n"));
}

/** Owned by the server's user. */
function writeConfiguration(files: ServerFiles, text: string): void {
  const path = join(files.data, "svc.conf");
  writeFileSync(path, text, { mode: 0o600 });
  if (files.user) chownSync(path, files.user.uid, files.user.gid);
}

function lastLines(log: string): string {
  const lines = log.trim().split("\n");
  const fatal = lines.filter((line) => /FATAL|PANIC|ERROR|HINT|DETAIL/.test(line));
  return (fatal.length > 0 ? fatal : lines).slice(-4).join(" ");
}
