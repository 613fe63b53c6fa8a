/**
 * The files that a process which parses untrusted content may read: the folders of our own code that it runs, and the
 * packages that this code needs, with their dependencies. Neither the application nor other installed packages.
 * Next hop: `confined-process.ts` starts such processes.
 */
import { readFileSync, realpathSync } from "node:fs";
import { dirname, join, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { installedAt } from "./installed-at.ts";

/** Folders of `src/` that `src/documents/engines/child.ts` and `src/storage/image-child.ts` import from. */
export const ownFolders = ["contract", "documents", "kit", "storage", "text"];

/** Dependencies that packages need only for unused features: command lines, servers and models. */
const unused: Record<string, readonly string[]> = {
  kordoc: [
    "@huggingface/transformers",
    "@hyzyla/pdfium",
    "@modelcontextprotocol/sdk",
    "commander",
    "onnxruntime-node",
    "sharp",
  ],
};

const found = new Map<string, readonly string[]>();

/**
 * @param packages names; their dependencies are included
 * @returns flags of Node's permission model
 */
export function programFiles(packages: readonly string[]): readonly string[] {
  const key = packages.join();
  let flags = found.get(key);
  if (!flags) {
    const here = dirname(fileURLToPath(import.meta.url));
    const source = dirname(here);
    const folders = new Set(ownFolders.map((name) => join(source, name)));
    for (const name of packages) addPackage(name, here, folders);
    flags = [...folders].map((folder) => `--allow-fs-read=${folder}${sep}*`);
    found.set(key, flags);
  }
  return flags;
}

/** For a process that could not start: packages that are being installed were found in part, or not at all. */
export const forgetProgramFiles = (): void => found.clear();

/** Adds the folder of a package, and those of its installed dependencies. */
function addPackage(name: string, from: string, folders: Set<string>): void {
  const folder = installedAt(name, from);
  if (folder === undefined) return;
  // Some package managers link folders, and Node asks for both paths.
  const real = realpathSync(folder);
  if (folders.has(folder) && folders.has(real)) return;
  folders.add(folder).add(real);
  const { dependencies, optionalDependencies } = JSON.parse(readFileSync(join(real, "package.json"), "utf8"));
  for (const dependency of Object.keys({ ...dependencies, ...optionalDependencies })) {
    if (!unused[name]?.includes(dependency)) addPackage(dependency, real, folders);
  }
}
