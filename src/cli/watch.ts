/**
 * Watches an application's folders for `svc dev`. A watch on a file follows its inode, which an editor replaces when it
 * saves by rename; so directories are watched, each by itself.
 * Next hop: `dev.ts` prepares and starts the new version.
 */
import { type FSWatcher, readdirSync, watch } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import type { EffectiveConfig } from "../config/config.ts";

/** Files and folders of the application's folder itself that matter. */
const isOwn = /^(svc\.config\.|\.env$|migrations$|sql$)/;
/** `.git`, `.svc`, and temporary files of editors. */
const isForeign = (name: string) => name === "node_modules" || (name.startsWith(".") && name !== ".env");

/**
 * Calls back once per burst of changes: one save emits several events.
 *
 * @param isIgnored gets paths relative to the application's folder, as `changed` does
 * @returns a function that ends it
 */
export function watchApplication(
  { cwd, rootDir, schema }: Pick<EffectiveConfig, "cwd" | "rootDir" | "schema">,
  isIgnored: (file: string) => boolean,
  changed: (file: string) => void,
): () => void {
  const roots = [rootDir, ...schema.map((file) => dirname(file)), join(cwd, "migrations"), join(cwd, "sql")];
  const watchers = new Map<string, FSWatcher>();
  let timer: NodeJS.Timeout | undefined;

  const isWatched = (path: string) => roots.some((root) => path === root || path.startsWith(root + sep));
  const note = (folder: string, event: string, name: string | null) => {
    if (name === null || isForeign(name)) return;
    const path = join(folder, name);
    if (!isWatched(path) && !(folder === cwd && isOwn.test(name))) return;
    if (event === "rename") {
      // It is new, gone, or another folder of this name.
      for (const [one, watcher] of watchers) {
        if (one !== path && !one.startsWith(path + sep)) continue;
        watcher.close();
        watchers.delete(one);
      }
      if (isWatched(path)) watchAll(path);
    }
    const file = relative(cwd, path);
    if (isIgnored(file)) return;
    clearTimeout(timer);
    timer = setTimeout(() => changed(file), 30);
  };
  const watchOne = (folder: string) => {
    if (watchers.has(folder)) return;
    const watcher = watch(folder, (event, name) => note(folder, event, name));
    watcher.on("error", () => {}); // the folder is gone, which its parent's watcher tells
    watchers.set(folder, watcher);
  };
  /** A folder and those below it; nothing for a file. */
  const watchAll = (folder: string) => {
    try {
      const below = readdirSync(folder, { withFileTypes: true });
      watchOne(folder);
      for (const one of below) if (one.isDirectory() && !isForeign(one.name)) watchAll(join(folder, one.name));
    } catch (error) {
      if (!["ENOTDIR", "ENOENT"].includes((error as NodeJS.ErrnoException).code ?? "")) throw error;
    }
  };

  watchOne(cwd);
  for (const root of roots) watchAll(root);
  return () => {
    clearTimeout(timer);
    for (const watcher of watchers.values()) watcher.close();
  };
}
