/** Runs one program to its end and hands back what it printed. Used for initdb, apt, dpkg, tar and cc. */
import { spawn } from "node:child_process";

export interface RunOptions {
  cwd?: string;
  env?: NodeJS.ProcessEnv;
  /** The ids to run under. Server programs refuse root. (Default: our own.) */
  user?: { uid: number; gid: number } | null;
  /** Milliseconds until the program is killed. (Default: 300 000.) */
  timeout?: number;
}

export interface RunResult {
  ok: boolean;
  stdout: string;
  stderr: string;
}

/** Never throws: a program that is missing is a result like any other, because every caller has another way to go. */
export async function run(command: string, args: readonly string[], options: RunOptions = {}): Promise<RunResult> {
  return new Promise((resolve) => {
    let stdout = "";
    let stderr = "";
    const child = spawn(command, args, {
      cwd: options.cwd,
      env: options.env ?? process.env,
      stdio: ["ignore", "pipe", "pipe"],
      timeout: options.timeout ?? 300_000,
      ...(options.user ? { uid: options.user.uid, gid: options.user.gid } : {}),
    });
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      stdout += text;
    });
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      stderr += text;
    });
    child.on("error", (error) => resolve({ ok: false, stdout, stderr: `${stderr}${error.message}` }));
    child.on("close", (code, signal) => {
      if (signal) stderr += `${command} was ended by ${signal}`;
      resolve({ ok: code === 0, stdout, stderr });
    });
  });
}

/** The environment of server programs: no PG* variable of the caller may redirect them, and messages stay English. */
export function serverEnvironment(): NodeJS.ProcessEnv {
  return { PATH: process.env.PATH ?? "/usr/bin:/bin", LC_ALL: "C", TZ: "UTC" };
}
