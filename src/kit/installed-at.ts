/** Where a package is installed. Next hop: `optional-packages.ts` and `program-files.ts` ask for it. */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";

/**
 * Node's lookup: the nearest `node_modules` above `from`.
 *
 * @returns its folder, or undefined if it is not installed
 */
export function installedAt(name: string, from: string): string | undefined {
  for (let folder = from; ; folder = dirname(folder)) {
    const candidate = join(folder, "node_modules", name);
    if (existsSync(join(candidate, "package.json"))) return candidate;
    if (folder === dirname(folder)) return undefined;
  }
}
