/**
 * `svc dev`: generates, migrates and serves, and does so again when a file changes. A mistake is printed, and the last
 * good version keeps serving until it is mended.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { watch } from "node:fs";
import { join } from "node:path";
import { defineCommand } from "citty";
import { cwdArgument, openDatabase, readConfig, run, say } from "./command.ts";

const watched = /^(backend|migrations|sql|svc\.config\.)/;
const generated = /^sql\/crud\//;

export const dev = defineCommand({
  meta: { name: "dev", description: "Serve, and follow every change." },
  args: cwdArgument,
  run: ({ args }) => run(() => develop(args.cwd)),
});

async function develop(cwd: string): Promise<void> {
  const config = await readConfig(cwd);
  const cluster = await openDatabase(config);
  let server: ChildProcess | undefined;
  let queue = Promise.resolve();

  const reload = async () => {
    if (!(await succeeds("codegen", cwd)) || !(await succeeds("migrate", cwd))) {
      return say("Mend it and save. The last good version keeps serving.");
    }
    await stop(server);
    server = command("start", cwd);
  };
  const schedule = () => {
    queue = queue.then(reload);
  };

  schedule();
  const watcher = watchFolder(config.cwd, schedule);
  await new Promise((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, resolve);
  });
  watcher.close();
  await queue;
  await stop(server);
  await cluster.stop();
}

/** Calls back once per burst of changes: an editor's save is several events. */
function watchFolder(folder: string, changed: () => void) {
  let timer: NodeJS.Timeout | undefined;
  const watcher = watch(folder, { recursive: true }, (_event, file) => {
    if (!file || !watched.test(file) || generated.test(file)) return;
    clearTimeout(timer);
    timer = setTimeout(() => {
      say(`\n${file} changed`);
      changed();
    }, 100);
  });
  return {
    close() {
      watcher.close();
      clearTimeout(timer);
    },
  };
}

const command = (name: string, cwd: string) =>
  spawn(process.execPath, [join(import.meta.dirname, "svc.ts"), name, "--cwd", cwd], { stdio: "inherit" });

const exited = (child: ChildProcess) =>
  new Promise<number | null>((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) resolve(child.exitCode);
    else child.once("exit", resolve);
  });

const succeeds = async (name: string, cwd: string) => (await exited(command(name, cwd))) === 0;

async function stop(child: ChildProcess | undefined): Promise<void> {
  if (!child) return;
  child.kill("SIGTERM");
  await exited(child);
}
