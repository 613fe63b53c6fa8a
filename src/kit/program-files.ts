/**
 * Which files a process may read that takes apart what strangers sent: the folders of our own code that it runs, and the
 * packages that this code needs, with theirs. Not the application, nor what else is installed beside it.
 * Next hop: `src/documents/sandbox.ts` and `src/storage/image-children.ts` start such processes.
 */
import { existsSync, readFileSync, realpathSync } from "node:fs";
import { dirname, join, sep } from "node:path";
import { fileURLToPath } from "node:url";

/** Of `src/`: what `src/documents/child.ts` and `src/storage/image-child.ts` import. */
export const ownFolders = ["contract", "documents", "kit", "storage", "text"];

/** Of packages that do more than we ask of them: dependencies for their command lines, servers and models. */
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
 * @param packages names; each comes with its dependencies
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

/** Adds a package's folder, and those of its dependencies that are installed. */
function addPackage(name: string, from: string, folders: Set<string>): void {
  const folder = installedAt(name, from);
  if (folder === undefined) return;
  // Some package managers link folders, and Node asks for both names.
  const real = realpathSync(folder);
  if (folders.has(folder) && folders.has(real)) return;
  folders.add(folder).add(real);
  const { dependencies, optionalDependencies } = JSON.parse(readFileSync(join(real, "package.json"), "utf8"));
  for (const dependency of Object.keys({ ...dependencies, ...optionalDependencies })) {
    if (!unused[name]?.includes(dependency)) addPackage(dependency, real, folders);
  }
}

/** Where Node would find it: in the nearest `node_modules` above. */
function installedAt(name: string, from: string): string | undefined {
  for (let folder = from; ; folder = dirname(folder)) {
    const candidate = join(folder, "node_modules", name);
    if (existsSync(join(candidate, "package.json"))) return candidate;
    if (folder === dirname(folder)) return undefined;
  }
}
