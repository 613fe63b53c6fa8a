/** Reads the folders that the migrator applies: every `*.sql` below one, sorted by path. */
import { readdir, readFile } from "node:fs/promises";
import { join, relative, sep } from "node:path";

export interface MigrationFile {
  /** Relative to the folder, with forward slashes. */
  path: string;
  text: string;
}

/**
 * @param folder may be absent: then there is nothing to apply
 * @returns files in the order of their paths; the generated dump is not one of them
 */
export async function readFolder(folder: string): Promise<MigrationFile[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch((error) => {
    if (error.code === "ENOENT") return [];
    throw error;
  });
  const paths = entries
    .filter((entry) => entry.isFile() && entry.name.endsWith(".sql") && !entry.name.endsWith(".dump.sql"))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
  return Promise.all(
    paths.map(async (path) => ({
      path: relative(folder, path).split(sep).join("/"),
      text: await readFile(path, "utf8"),
    })),
  );
}
