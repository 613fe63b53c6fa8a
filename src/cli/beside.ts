/** Commands that run beside `svc dev`, and end with it. */
import { type ChildProcess, spawn } from "node:child_process";
import type { Writable } from "node:stream";

interface BesideOptions {
  /** (Default: inherit) */
  out?: "inherit" | "pipe";
  /** What ends it. (Default: TERM) */
  signal?: "TERM" | "KILL";
}

/** Runs in a process group of its own. It ends with this process, even after a SIGKILL, because its pipe is closed. */
export const startBeside = (
  command: string,
  cwd: string,
  env: NodeJS.ProcessEnv,
  { out = "inherit", signal = "TERM" }: BesideOptions = {},
) =>
  spawn("sh", ["-c", `(cat <&3 >/dev/null; kill -s ${signal} 0) & ${command}`], {
    cwd,
    env,
    stdio: [out === "pipe" ? "ignore" : "inherit", out, "inherit", "pipe"],
    detached: true,
  });

/** Ends its process group. An open pipe would keep this process alive. */
export const endBeside = (child: ChildProcess | undefined): void =>
  void (child?.stdio[3] as Writable | undefined)?.destroy();
