/** Child processes under measurement: started, awaited, and asked for their CPU time and memory through /proc. */
import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";

export interface Contestant {
  url: string;
  /** Milliseconds from the spawn to the line that says it is ready. */
  readyMs: number;
  /** CPU time used so far, user and system, in microseconds. */
  cpu(): number;
  /** Resident memory, in MiB. */
  memory(): number;
  stop(): Promise<void>;
}

/** Linux counts CPU time in ticks of 10 ms. */
const microsecondsPerTick = 10_000;

/** Starts a script that prints `Ready: URL` on either stream. */
export async function contestant(argv: string[], env: NodeJS.ProcessEnv = {}): Promise<Contestant> {
  const started = performance.now();
  const child = spawn(process.execPath, argv, { env: { ...process.env, ...env }, stdio: ["ignore", "pipe", "pipe"] });
  const url = await ready(child);
  const readyMs = performance.now() - started;
  // Nobody reads the log; it must not fill the pipe.
  child.stdout?.resume();
  child.stderr?.resume();
  return {
    url,
    readyMs,
    cpu() {
      const fields = readFileSync(`/proc/${child.pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
      return (Number(fields[11]) + Number(fields[12])) * microsecondsPerTick;
    },
    memory() {
      const kibibytes = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, "utf8"))?.[1];
      return Number(kibibytes) / 1024;
    },
    stop: () =>
      new Promise((resolve) => {
        if (child.exitCode !== null) return resolve();
        child.once("exit", () => resolve());
        child.kill("SIGTERM");
      }),
  };
}

function ready(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = "";
    const read = (chunk: Buffer) => {
      text += chunk;
      const url = /Ready: (\S+)/.exec(text)?.[1];
      if (url) resolve(url);
    };
    child.stdout?.on("data", read);
    child.stderr?.on("data", read);
    child.once("exit", (code) => reject(new Error(`exited with ${code} before it was ready:\n${text}`)));
  });
}
