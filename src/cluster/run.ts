/** Runs one program to its end and returns its output: initdb, apt, dpkg, tar and cc. */
import { spawn } from "node:child_process";

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
export async function run(command: string, args: readonly string[], options: RunOptions = {}): Promise<RunResult> {
  return new Promise((resolve) => {
    let stdout = "";
    let stderr = "";
    const child = spawn(command, args, {
      cwd: options.cwd,
      env: options.env ?? process.env,
      stdio: ["pipe", "pipe", "pipe"],
      ...(options.user ? { uid: options.user.uid, gid: options.user.gid } : {}),
    });
    // Not spawn's own `timeout`: its timer continues after a program that could not be started, and delays our exit.
    const timer = setTimeout(() => child.kill("SIGKILL"), longest);
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      stdout += text;
    });
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      stderr += text;
    });
    child.stdin.on("error", () => {}); // the program may end before it has read its input
    child.stdin.end(options.input ?? "");
    child.on("error", (error) => {
      clearTimeout(timer);
      resolve({ ok: false, stdout, stderr: `${stderr}${error.message}` });
    });
    child.on("close", (code, signal) => {
      clearTimeout(timer);
      if (signal) stderr += `${command} was ended by ${signal}`;
      resolve({ ok: code === 0, stdout, stderr });
    });
  });
}

/**
 * The environment of server programs. It excludes the caller's PG* variables, which could redirect them, and keeps
 * messages in English.
 */
export function serverEnvironment(): NodeJS.ProcessEnv {
  return { PATH: process.env.PATH ?? "/usr/bin:/bin", LC_ALL: "C", TZ: "UTC" };
}
