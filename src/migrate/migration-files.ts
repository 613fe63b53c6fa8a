/**
 * Reads the folders that the migrator applies: every `*.sql` below one, sorted by number and path.
 * Next hop: `migrate.ts` applies them, and refuses a migration that was edited after it had been applied.
 */
import { readFileSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { basename, join, relative, sep } from "node:path";
import { DefinitionError } from "../kit/definition-error.ts";

export interface MigrationFile {
  /** Relative to the folder, with forward slashes. */
  path: string;
  text: string;
}

/**
 * @param folder may be absent: then there is nothing to apply
 * @returns files in the order of `byNumber`; the generated dump is not one of them
 */
export async function readFolder(folder: string): Promise<MigrationFile[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch((error) => {
    if (error.code === "ENOENT") return [];
    throw error;
  });
  const paths = entries
    .filter((entry) => entry.isFile() || entry.isSymbolicLink())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).split(sep).join("/"))
    // Hidden ones are those of editors, and the folders to which the links of a mounted ConfigMap lead.
    .filter((path) => path.endsWith(".sql") && !path.endsWith(".dump.sql") && !/(^|\/)\./.test(path))
    .sort(byNumber);
  // One after the other: all at once would exceed a small limit of open files.
  return paths.map((path) => ({
    path,
    // Without a byte order mark, which some editors write, and with the line ends that Git keeps: those of Windows come with a
    // checkout there.
    text: readFileSync(join(folder, path), "utf8")
      .replace(/^\uFEFF/, "")
      .replaceAll("\r\n", "\n"),
  }));
}

/** By the number that the path begins with, else as text: 9_first.sql comes before 10_second.sql. */
export function byNumber(one: string, other: string): number {
  const numbers = [one, other].flatMap((path) => (/^\d+/.exec(path) ?? []).map(BigInt));
  const [first = 0n, second = first] = numbers;
  if (first === second) return one < other ? -1 : 1;
  return first < second ? -1 : 1;
}

/** The number at the start of a migration's name; undefined without one. */
export const numberOf = (path: string): string | undefined => /^\d+/.exec(basename(path))?.[0];

/**
 * Refuses two migrations of one number, such as two branches write: their names would decide which comes first.
 *
 * @param paths  of all migrations of a scope, in order
 * @param isOpen whether a migration may still be renamed: those that were applied keep their names
 * @throws DefinitionError that names both and the next free number
 */
export function refuseTwins(paths: readonly string[], isOpen: (path: string) => boolean): void {
  const seen = new Map<bigint, string>();
  for (const path of paths) {
    const digits = numberOf(path);
    if (digits === undefined) continue;
    const twin = seen.get(BigInt(digits));
    seen.set(BigInt(digits), path);
    if (twin === undefined || !(isOpen(twin) || isOpen(path))) continue;
    const last = paths.map((one) => BigInt(numberOf(one) ?? 0)).reduce((one, other) => (one > other ? one : other));
    const later = basename(isOpen(path) ? path : twin);
    throw new DefinitionError(`migrations/${twin} and migrations/${path} have the same number.`, {
      hint:
        "Rename the one that has not been applied anywhere, such as to " +
        `${later.replace(/^\d+/, String(last + 1n).padStart(digits.length, "0"))}. If it was generated, delete it ` +
        "instead, and generate it again: its snapshot lacks the other one.",
    });
  }
}
