/** The processes of the application as an operator starts them: `svc start` and `svc worker`, each with a log of its own. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, openSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { until } from "./until.ts";

const svc = resolve(import.meta.dirname, "../../src/cli/svc.ts");
const app = resolve(import.meta.dirname, "app");

export interface Processes {
  start(name: string, command: string[], env?: NodeJS.ProcessEnv): Promise<ChildProcess>;
  /** Every line of every log that holds this. */
  logged(text: string): string[];
  stop(): Promise<void>;
}

/** @param directory for the logs */
export function processes(directory: string, base: NodeJS.ProcessEnv): Processes {
  mkdirSync(directory, { recursive: true });
  const started = new Map<string, ChildProcess>();
  const log = (name: string) => join(directory, `${name}.log`);
  return {
    async start(name, command, env = {}) {
      const file = openSync(log(name), "w");
      const child = spawn(process.execPath, [svc, ...command, "--cwd", app], {
        env: { ...process.env, ...base, ...env },
        stdio: ["ignore", file, file],
      });
      started.set(name, child);
      await until(() => {
        const text = readFileSync(log(name), "utf8");
        if (child.exitCode !== null && child.exitCode !== 0) throw new Error(`${name} ended:\n${text}`);
        return child.exitCode === 0 || /Ready: |Taking jobs/.test(text);
      });
      return child;
    },
    logged: (text) =>
      [...started.keys()]
        .flatMap((name) => readFileSync(log(name), "utf8").split("\n"))
        .filter((line) => line.includes(text)),
    async stop() {
      await Promise.all(
        [...started.values()].map((child) => {
          if (child.exitCode !== null || child.signalCode !== null) return undefined;
          const ended = new Promise((done) => child.once("exit", done));
          child.kill("SIGTERM");
          return ended;
        }),
      );
    },
  };
}
