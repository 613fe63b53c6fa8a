/** Runs one program to its end and returns its output: initdb, apt, dpkg, tar, cc and lsof. */
import { execFile } from "node:child_process";

/** In milliseconds; then the program is killed. */
const longest = 300_000;

export interface RunOptions {
  cwd?: string;
  env?: NodeJS.ProcessEnv;
  /** The user and group to run as. Server programs refuse root. (Default: the current ones.) */
  user?: { uid: number; gid: number } | null;
  /** The program's input. (Default: nothing.) */
  input?: string;
}

export interface RunResult {
  ok: boolean;
  stdout: string;
  stderr: string;
}

/** Never throws: a missing program is a normal result, because every caller has an alternative. */
export function run(command: string, args: readonly string[], options: RunOptions = {}): Promise<RunResult> {
  const { input = "", user, ...place } = options;
  return new Promise((resolve) => {
    const limits = { maxBuffer: Number.POSITIVE_INFINITY, timeout: longest, killSignal: "SIGKILL" } as const;
    const child = execFile(command, args, { ...place, ...user, ...limits }, (error, stdout, stderr) => {
      const isStarted = child.pid !== undefined;
      const end = error?.signal ? `${command} was ended by ${error.signal}` : error && !isStarted ? error.message : "";
      resolve({ ok: error === null, stdout, stderr: stderr + end });
    });
    child.stdin?.on("error", () => {}); // the program may end before it has read its input
    child.stdin?.end(input);
  });
}

/**
 * The environment of server programs. It excludes the caller's PG* variables, which could redirect them, and keeps
 * messages in English.
 */
export function serverEnvironment(): NodeJS.ProcessEnv {
  return { PATH: process.env.PATH ?? "/usr/bin:/bin", LC_ALL: "C", TZ: "UTC" };
}
