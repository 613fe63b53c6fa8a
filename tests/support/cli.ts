/** Runs `svc` as an operator does, without a terminal, on the test file's database. */
import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { vi } from "vitest";
import { dispatch } from "../../src/cli/dispatch.ts";
import { output } from "../../src/cli/output.ts";
import type { Database } from "./database.ts";
import { root } from "./global-setup.ts";

export const fixture = join(root, "tests/fixture");

export interface Ended {
  code: number | string | null;
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
 * In a process of its own.
 *
 * @param cwd the application's folder
 * @param env besides the addresses of the database
 */
export function svc(db: Database, cwd: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Command {
  return launch(db, process.execPath, [...program, ...within(cwd, args)], env);
}

/**
 * In this process, one command at a time: a process costs a second of processor time. For commands that end by
 * themselves, in an application whose modules do not change.
 */
export const svcHere = (db: Database, cwd: string, args: readonly string[], env: NodeJS.ProcessEnv = {}) =>
  runHere(within(cwd, args), { ...variables(db), ...env });

/** The same with all arguments and variables given. @param cwd where the command runs. (Default: where the tests do) */
export function runHere(words: readonly string[], env: NodeJS.ProcessEnv, cwd = process.cwd()): Promise<Ended> {
  const ended = turn.then(() => dispatchWith(words, env, cwd));
  turn = ended.catch(() => {});
  return ended;
}
/** For commands that need no database. */
export const noDatabase = { DATABASE_URL: "postgres://nobody@127.0.0.1:1/none" };

let turn: Promise<unknown> = Promise.resolve();

async function dispatchWith(words: readonly string[], env: NodeJS.ProcessEnv, cwd: string): Promise<Ended> {
  const before = { cwd: process.cwd(), env: { ...process.env } };
  const printed = { out: "", error: "", text: "" };
  const record = (name: "out" | "error") => (chunk: string | Uint8Array) => {
    if (/^[^\n]* …\n$/.test(String(chunk))) return true; // is said of work that takes longer than a second
    printed[name] += chunk;
    printed.text += chunk;
    return true;
  };
  const spies = [
    vi.spyOn(process.stdout, "write").mockImplementation(record("out")),
    vi.spyOn(process.stderr, "write").mockImplementation(record("error")),
  ];
  Object.assign(process.env, env);
  process.chdir(cwd);
  try {
    await dispatch(words);
    return { code: process.exitCode ?? 0, ...printed };
  } finally {
    for (const spy of spies) spy.mockRestore();
    process.exitCode = undefined;
    output.json = false;
    process.chdir(before.cwd);
    // Those of .env, too.
    for (const name of Object.keys(process.env)) if (!(name in before.env)) delete process.env[name];
    Object.assign(process.env, before.env);
  }
}

function within(cwd: string, args: readonly string[]): string[] {
  const end = args.includes("--") ? args.indexOf("--") : args.length;
  return [...args.slice(0, end), "--cwd", cwd, ...args.slice(end)];
}

export const variables = (db: Database) => ({
  PORT: "0",
  ...db.environment,
  AUTHLIB_SECRET: "a secret of at least thirty-two characters",
});

/**
 * Commands one after the other in one process, which ends by itself when none of them has left anything open. For
 * commands whose programs write into the streams of the process.
 */
export function svcAll(db: Database, commands: readonly string[][], env: NodeJS.ProcessEnv = {}): Parts {
  const script = join(import.meta.dirname, "commands-child.ts");
  const { child, ended } = launch(db, process.execPath, [...fast, script, JSON.stringify(commands)], env);
  const parts = (text: string) => text.split(/^\n?\$ svc .*\n/m).slice(1);
  return {
    child,
    ended: ended.then(({ out, error }) => {
      const errors = parts(error);
      return parts(out.replace("\nthe end\n", "")).map((part, at) => {
        const [line, code] = /\n= (\d+)\n/.exec(part) ?? [];
        return { code: Number(code), out: line ? part.replace(line, "") : part, error: errors[at] ?? "" };
      });
    }),
  };
}

export type Part = Pick<Ended, "code" | "out" | "error">;
interface Parts {
  child: ChildProcess;
  /** A part for each command that ran. */
  ended: Promise<Part[]>;
}

const fast = ["--import", join(root, "src/cli/fast-imports.ts")];

/** `svc` in a terminal, which is closed when the child is killed. On Linux; for arguments without spaces. */
export const inTerminal = (db: Database, cwd: string, args: readonly string[], env: NodeJS.ProcessEnv): Command =>
  launch(db, "script", ["-qec", [process.execPath, ...program, ...args, "--cwd", cwd].join(" "), "/dev/null"], env);

/**
 * `svc` as npm runs it: below a shell, which passes no signal on. The shell is the child; the output has the id of svc's
 * process: "svc=123". For arguments without single quotes.
 */
export function byNpm(db: Database, cwd: string, args: readonly string[]): Command {
  const words = [process.execPath, ...program, ...within(cwd, args)].map((word) => `'${word}'`).join(" ");
  return launch(db, "sh", ["-c", `${words} & echo svc=$!; wait`], { npm_lifecycle_event: "dev" });
}

/** The arguments of Node for `svc`. */
export const program = ["--import", join(root, "tests/support/warnings.ts"), join(root, "src/cli/svc.ts")];

function launch(db: Database, file: string, args: readonly string[], env: NodeJS.ProcessEnv): Command {
  const child = spawn(file, args, {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, ...variables(db), ...env },
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
