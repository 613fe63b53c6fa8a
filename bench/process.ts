/** Child processes under measurement: started, awaited, and asked for their CPU time and memory through /proc. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, openSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Cluster } from "../src/cluster/types.ts";

export interface Contestant {
  url: string;
  /** Milliseconds from the spawn to the line that says it is ready. */
  readyMs: number;
  /** CPU time used so far, user and system, in microseconds. */
  cpu(): number;
  /** Resident memory, in MiB. */
  memory(): number;
  /** The same after a garbage collection; the process was started with `peers/collect.ts`. */
  settledMemory(): Promise<number>;
  /** Stops it where it is, and lets it go on. */
  hold(): void;
  release(): void;
  stop(): Promise<void>;
}

/** The environment of a service in production on this database, which `svc migrate` has prepared. */
export const inProduction = ({ urls }: Cluster) => ({
  NODE_ENV: "production",
  DATABASE_URL: urls.request,
  DATABASE_SYSTEM_URL: urls.system,
  DATABASE_AUTH_URL: urls.auth,
  DATABASE_REPLICATION_URL: urls.replication,
  AUTHLIB_SECRET: "a-secret-of-the-benchmark-of-more-than-32-characters",
});

/** Linux counts CPU time in ticks of 10 ms. */
const microsecondsPerTick = 10_000;

/** Starts a script that prints `Ready: URL`. It writes to a file: a pipe would make it wait for us, its reader. */
export async function contestant(argv: string[], env: NodeJS.ProcessEnv = {}): Promise<Contestant> {
  const output = join(mkdtempSync(join(tmpdir(), "svc-bench-")), "output");
  const file = openSync(output, "w");
  const started = performance.now();
  const child = spawn(process.execPath, argv, { env: { ...process.env, ...env }, stdio: ["ignore", file, file] });
  const url = await ready(child, output);
  const readyMs = performance.now() - started;
  const memory = () => {
    const kibibytes = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, "utf8"))?.[1];
    return Number(kibibytes) / 1024;
  };
  return {
    url,
    readyMs,
    cpu() {
      const { user, system } = ticksOf(child.pid);
      return (user + system) * microsecondsPerTick;
    },
    memory,
    async settledMemory() {
      const before = collections(output);
      child.kill("SIGUSR2");
      while (collections(output) === before) await sleep(5);
      return memory();
    },
    hold: () => void child.kill("SIGSTOP"),
    release: () => void child.kill("SIGCONT"),
    stop: () =>
      new Promise((resolve) => {
        if (child.exitCode !== null) return resolve();
        child.once("exit", () => resolve());
        child.kill("SIGTERM");
      }),
  };
}

/** CPU time of a private server so far, in microseconds: of the processes that run, and of those that have ended. */
export function serverCpu({ directory }: Pick<Cluster, "directory">): number {
  const [main] = readFileSync(join(directory ?? "", "data/postmaster.pid"), "utf8").split("\n");
  const { user, system, ended } = ticksOf(main);
  let ticks = user + system + ended;
  for (const pid of readdirSync("/proc")) {
    if (!/^\d+$/.test(pid)) continue;
    const one = ticksOf(pid);
    if (one.parent === Number(main)) ticks += one.user + one.system;
  }
  return ticks * microsecondsPerTick;
}

/** proc(5), after the name of the program; zeros for a process that has just ended. */
function ticksOf(pid: string | number | undefined) {
  let fields: string[] = [];
  try {
    fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.split(" ") ?? [];
  } catch {
    // It has ended.
  }
  const at = (index: number) => Number(fields[index] ?? 0);
  return { parent: at(1), user: at(11), system: at(12), ended: at(13) + at(14) };
}

const collections = (output: string) => readFileSync(output, "utf8").split("Collected").length;

async function ready(child: ChildProcess, output: string): Promise<string> {
  for (;;) {
    const text = readFileSync(output, "utf8");
    const url = /Ready: (\S+)/.exec(text)?.[1];
    if (url) return url;
    if (child.exitCode !== null) throw new Error(`exited with ${child.exitCode} before it was ready:\n${text}`);
    await sleep(5);
  }
}
