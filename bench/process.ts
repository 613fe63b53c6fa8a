/** Child processes under measurement: started, awaited, and asked for their CPU time and memory through /proc. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, openSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

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
      const fields = readFileSync(`/proc/${child.pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
      return (Number(fields[11]) + Number(fields[12])) * microsecondsPerTick;
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
