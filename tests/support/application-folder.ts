/** Folders of applications that tests change. They lie inside the project, where `@svc/core` resolves. */
import { cp, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { afterAll, afterEach, beforeAll, expect } from "vitest";
import { type Command, svc as start } from "./cli.ts";
import type { Database } from "./database.ts";
import { root } from "./global-setup.ts";

/** The caller deletes the folder. @param files text by path */
export async function applicationFolder(files: Record<string, string> = {}): Promise<string> {
  await mkdir(join(root, ".svc"), { recursive: true });
  const folder = await mkdtemp(join(root, ".svc/app-"));
  await writeFiles(folder, files);
  return folder;
}

export async function writeFiles(folder: string, files: Record<string, string>): Promise<void> {
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), text);
  }
}

/** @param from an application of this repository, such as tests/fixture */
export async function copyApplication(from: string): Promise<string> {
  const folder = await applicationFolder();
  const keep = (path: string) => !/[\\/](node_modules|\.svc|dist)$/.test(path.slice(root.length));
  await cp(join(root, from), folder, { recursive: true, filter: keep });
  return folder;
}

/** A copy for the tests of a file, and `svc` in it. Call it at the top of the file, after `database()`. */
export function copiedApplication(db: Database, from: string) {
  const running: Command[] = [];
  const app = { folder: "", svc, endsWithTest };
  beforeAll(async () => {
    app.folder = await copyApplication(from);
  });
  afterEach(async () => {
    for (const { child, ended } of running.splice(0)) {
      child.kill("SIGTERM");
      await ended;
    }
  });
  afterAll(() => rm(app.folder, { recursive: true, force: true }));

  /** Runs `svc` on the file's database, until the end of the test at the latest. */
  function svc(args: readonly string[], env: NodeJS.ProcessEnv = {}): Command {
    return endsWithTest(start(db, app.folder, args, env));
  }
  function endsWithTest(command: Command): Command {
    running.push(command);
    return command;
  }
  return app;
}

/** @returns the address at which it serves, when it has told the `count`th one */
export async function ready(command: Command, count = 1): Promise<string> {
  const urls = () => [...command.output().matchAll(/Ready: (\S+)/g)].map(([, url]) => url);
  await expect.poll(() => urls().length || command.output()).toBe(count);
  return urls()[count - 1] ?? "";
}
