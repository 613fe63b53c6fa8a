/**
 * Shares a private cluster between processes. One process owns the server: it started it, or found it running after its
 * owner was killed. Others (`svc migrate` beside `svc dev`) join. Every change happens under a lock.
 */
import { randomUUID } from "node:crypto";
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { resolveTree } from "./binaries.ts";
import { ClusterError } from "./error.ts";
import { type Holder, isAlive, myself, withLock } from "./lock.ts";
import { type Access, ensureLogins, loginUrl, newAccess, readAccess, withEveryLogin, writeAccess } from "./logins.ts";
import { clusterDirectory, serverUser } from "./places.ts";
import type { Postmaster } from "./postmaster.ts";
import * as server from "./server.ts";
import { supervise } from "./supervise.ts";
import type { Choice, Cluster, Tree } from "./types.ts";

export interface PrivateOptions {
  /** The application's state directory. */
  directory: string;
  /** The cluster's folder. */
  name: string;
  settings: Record<string, string>;
  /** Whether the last process to leave stops the server, instead of the one that started it. */
  shared: boolean;
  /** Where server programs are kept. */
  cache: string;
  choice: Choice;
  report: (line: string) => void;
}

/** One opening of a cluster; a process may hold several. */
interface User extends Holder {
  id: string;
}

/** running.json: the state of a server, for processes that have not started it. */
interface Running {
  postmaster: number;
  owner: User;
  /** Who started it. An owner that took it over gives it to another user at its end, as if it were shared. */
  starter?: string;
  /** All users, including the owner. */
  users: User[];
  tree: Tree & { cached: boolean };
}

/** @throws ClusterError whose message ends in the remedy */
export async function openPrivate(options: PrivateOptions): Promise<Cluster> {
  const directory = clusterDirectory(options.directory, options.name);
  const data = join(directory, "data");
  const user = await serverUser(data);
  const files: server.ServerFiles = { directory, data, log: join(directory, "server.log"), user };
  const me: User = { ...myself(), id: randomUUID() };

  const work = async () => {
    const live = await settled(data);
    const before = readRunning(directory);
    const access = readAccess(directory);
    // Also if somebody has restarted the server by hand: a second owner would stop it while the first one serves.
    if (live && access && before && isAlive(before.owner)) {
      writeRunning(directory, { ...before, postmaster: live.pid, users: [...before.users.filter(isAlive), me] });
      return opened(files, before.tree, access, me, { ...options, owned: false, running: live });
    }
    return own(options, files, live, access, me);
  };
  return withLock(join(directory, "lock"), work, (pid) =>
    options.report(`waiting for process ${pid}, which is starting or stopping PostgreSQL`),
  );
}

/** Starts the server, or takes over one whose owner was killed. Restarts it if its settings differ. */
async function own(
  options: PrivateOptions,
  files: server.ServerFiles,
  live: Postmaster | null,
  known: Access | null,
  me: User,
): Promise<Cluster> {
  const tree = await treeFor(options, files);
  const settings = { ...tree.settings, ...options.settings };
  let access = known ? withEveryLogin(known) : newAccess();
  if (known && access !== known) writeAccess(files.directory, access); // before a login gets its new password

  let running = live;
  if (running && (!known || server.readConfiguration(files) !== server.configuration(running.port, settings))) {
    options.report("restarting PostgreSQL, whose settings have changed");
    await server.stop(running, files.data);
    running = null;
  }
  if (!running) {
    writeAccess(files.directory, access); // before initdb: a lost password would lock every login out
    if (server.majorOf(files.data) === null) {
      options.report(`making a PostgreSQL ${tree.serverVersion} cluster in ${files.directory}`);
      await server.initialize(files, tree.binDir, access.passwords.postgres, settings.fsync !== "off");
    } else if (!known) {
      options.report("setting new passwords, since access.json is gone");
      await server.resetPassword(files, tree.binDir, access.passwords.postgres);
    }
    running = await server.start(files, tree.binDir, access.port, settings);
  }
  const before = live?.pid === running.pid ? readRunning(files.directory) : null;
  const users = [...(before?.users.filter(isAlive) ?? []), me];
  const starter = before ? before.starter : me.id;
  writeRunning(files.directory, { postmaster: running.pid, owner: me, ...(starter && { starter }), users, tree });
  if (access.port !== running.port) {
    access = { ...access, port: running.port };
    writeAccess(files.directory, access);
  }
  try {
    await ensureLogins(access, known === null || access.passwords !== known.passwords);
  } catch (error) {
    // A server that was killed with its owner may still look alive for a moment.
    if (live && (await hasEnded(files.data))) return own(options, files, null, access, me);
    throw error;
  }
  return opened(files, tree, access, me, { ...options, owned: true, running });
}

async function treeFor(options: PrivateOptions, files: server.ServerFiles): Promise<Tree & { cached: boolean }> {
  const { cache, choice, report } = options;
  const major = server.majorOf(files.data);
  try {
    return await resolveTree({ directory: cache, user: files.user, choice, major, retryVector: false, report });
  } catch (error) {
    if (major === null || !(error instanceof ClusterError)) throw error;
    throw new ClusterError(
      `The cluster in ${files.directory} was made by PostgreSQL ${major}, and no server of that version was found.`,
      `Install PostgreSQL ${major} again${choice === "auto" ? "" : " or unset SVC_POSTGRES"}; or, to continue with another ` +
        `version, dump the data with version ${major}, move ${files.directory} away, start again and restore. If the ` +
        "data is of no value, just remove that directory.",
      { cause: error },
    );
  }
}

interface Opening extends Pick<PrivateOptions, "shared" | "report"> {
  owned: boolean;
  running: Postmaster;
}

function opened(
  files: server.ServerFiles,
  tree: Tree & { cached: boolean },
  access: Access,
  me: User,
  { owned, shared, running: { pid }, report }: Opening,
): Cluster {
  // Stops the server when a process ends without calling stop(). After SIGKILL the server stays; the next process to
  // open it takes it over.
  const atExit = () => {
    const running = readRunning(files.directory);
    if (running?.owner.id !== me.id) return;
    const next = heirOf(running, me, shared);
    if (next) writeRunning(files.directory, { ...running, owner: next });
    else server.send(running.postmaster, "SIGINT");
  };
  // A process that joined becomes the owner when it restarts the server.
  process.once("exit", atExit);
  const supervision = supervise({ pid, revive: () => revive(files, tree, me, report), report });

  const leave = async () => {
    await supervision.close();
    // A server whose directory was removed stops by itself within a minute; no coordination is needed.
    if (existsSync(files.directory)) await withLock(join(files.directory, "lock"), () => release(files, me, shared));
  };
  let stopping: Promise<void> | null = null;
  return {
    urls: {
      request: loginUrl(access, "svc_request"),
      system: loginUrl(access, "svc_system"),
      queue: loginUrl(access, "svc_system"),
      auth: loginUrl(access, "svc_auth"),
      admin: loginUrl(access, "postgres"),
      replication: loginUrl(access, "svc_replicator"),
    },
    // Absent in a cluster that an older version runs.
    studio: access.passwords.svc_studio_read
      ? { read: loginUrl(access, "svc_studio_read"), act: loginUrl(access, "svc_studio_act") }
      : null,
    serverVersion: tree.serverVersion,
    origin: tree.cached ? "cached" : tree.origin,
    reason: [tree.reason, tree.vectorNote].filter(Boolean).join(" "),
    vector: tree.vector,
    binDir: tree.binDir,
    directory: files.directory,
    owned,
    failed: supervision.failed,
    stop() {
      stopping ??= leave().finally(() => process.removeListener("exit", atExit));
      return stopping;
    },
  };
}

/** Restarts a server that has died, if this process is responsible. As `Supervised.revive`. */
async function revive(
  files: server.ServerFiles,
  { binDir }: Tree,
  me: User,
  report: PrivateOptions["report"],
): Promise<number | null | Error> {
  if (!existsSync(files.data)) {
    return new ClusterError(
      `PostgreSQL has ended, and its data in ${files.data} is gone.`,
      "Start again: that makes a new cluster.",
    );
  }
  /** Null if it was stopped on purpose, or its owner will restart it. */
  const ours = () => {
    const running = readRunning(files.directory);
    return running && (running.owner.id === me.id || !isAlive(running.owner)) ? running : null;
  };
  if (!ours()) return server.findRunning(files.data)?.pid ?? null;
  return withLock(join(files.directory, "lock"), async () => {
    const live = await settled(files.data);
    const running = ours();
    if (live) {
      // Somebody has restarted it by hand: its owner still stops it.
      if (running) writeRunning(files.directory, { ...running, postmaster: live.pid });
      return live.pid;
    }
    if (!running) return null;
    report("PostgreSQL has ended unexpectedly; starting it again");
    const { pid } = await server.restart(files, binDir);
    writeRunning(files.directory, { ...running, postmaster: pid, owner: me });
    report("PostgreSQL runs again");
    return pid;
  });
}

/**
 * The owner stops the server, or hands it over if it is shared or was taken over. Other processes only leave, unless the
 * owner is dead and no process is left to stop it.
 */
async function release(files: server.ServerFiles, me: User, shared: boolean): Promise<void> {
  const running = readRunning(files.directory);
  if (!running) return;
  const others = othersOf(running, me);
  const next = heirOf(running, me, shared);
  if (next && running.owner.id === me.id) {
    return writeRunning(files.directory, { ...running, owner: next, users: others });
  }
  const last = others.length === 0 && !isAlive(running.owner);
  if (running.owner.id !== me.id && !last) {
    if (running.users.some((user) => user.id === me.id)) writeRunning(files.directory, { ...running, users: others });
    return;
  }
  const live = server.findRunning(files.data);
  if (live?.pid === running.postmaster) await server.stop(live, files.data);
  rmSync(runningFile(files.directory), { force: true });
}

const othersOf = (running: Running, me: User) => running.users.filter((user) => user.id !== me.id && isAlive(user));

/**
 * Who owns the server after me. If it was taken over, the others were there before: a short command that took it over must
 * not stop it beneath them.
 */
const heirOf = (running: Running, me: User, shared: boolean) =>
  shared || running.starter !== me.id ? othersOf(running, me)[0] : undefined;

/** The running server, after its start-up or shutdown; null if none is left. */
async function settled(data: string): Promise<Postmaster | null> {
  for (;;) {
    const live = server.findRunning(data);
    if (!live || live.ready) return live;
    await sleep(20);
  }
}

async function hasEnded(data: string): Promise<boolean> {
  for (let waited = 0; waited < 1000 && server.findRunning(data); waited += 50) await sleep(50);
  return server.findRunning(data) === null;
}

const runningFile = (directory: string): string => join(directory, "running.json");

function readRunning(directory: string): Running | null {
  try {
    return JSON.parse(readFileSync(runningFile(directory), "utf8")) as Running;
  } catch {
    return null;
  }
}

function writeRunning(directory: string, running: Running): void {
  const file = runningFile(directory);
  writeFileSync(`${file}.new`, JSON.stringify(running), { mode: 0o600 });
  renameSync(`${file}.new`, file);
}
