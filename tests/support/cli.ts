/** Runs `svc` as an operator does: in a separate process, without a terminal, on the test file's database. */
import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import type { Database } from "./database.ts";
import { root } from "./global-setup.ts";

export const fixture = join(root, "tests/fixture");

interface Ended {
  code: number | null;
  out: string;
  error: string;
  /** Both streams, in order. */
  text: string;
}

export interface Command {
  child: ChildProcess;
  /** The output so far, of both streams. */
  output(): string;
  ended: Promise<Ended>;
}

/**
 * @param cwd the application's folder
 * @param env besides the addresses of the database
 */
export function svc(db: Database, cwd: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Command {
  const end = args.includes("--") ? args.indexOf("--") : args.length;
  const all = [...args.slice(0, end), "--cwd", cwd, ...args.slice(end)];
  return launch(db, process.execPath, [...program, ...all], env);
}

/** The same in a terminal, which is closed when the child is killed. On Linux; for arguments without spaces. */
export const inTerminal = (db: Database, cwd: string, args: readonly string[], env: NodeJS.ProcessEnv): Command =>
  launch(db, "script", ["-qec", [process.execPath, ...program, ...args, "--cwd", cwd].join(" "), "/dev/null"], env);

const program = ["--import", join(root, "tests/support/warnings.ts"), join(root, "src/cli/svc.ts")];

function launch(db: Database, file: string, args: readonly string[], env: NodeJS.ProcessEnv): Command {
  const child = spawn(file, args, {
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      ...process.env,
      PORT: "0",
      DATABASE_URL: db.url("request"),
      DATABASE_SYSTEM_URL: db.url("system"),
      DATABASE_AUTH_URL: db.url("auth"),
      DATABASE_ADMIN_URL: db.url("admin"),
      DATABASE_REPLICATION_URL: db.url("replication"),
      AUTHLIB_SECRET: "a secret of at least thirty-two characters",
      ...env,
    },
  });
  const printed = { out: "", error: "", text: "" };
  for (const [stream, name] of [
    [child.stdout, "out"],
    [child.stderr, "error"],
  ] as const) {
    stream.on("data", (chunk) => {
      printed[name] += chunk;
      printed.text += chunk;
    });
  }
  const ended = new Promise<Ended>((resolve) => child.once("close", (code) => resolve({ code, ...printed })));
  return { child, output: () => printed.text, ended };
}
