/**
 * Reads an application's `migrations/`: numbered SQL files, and in `meta/` the snapshots of generated ones. Next hop:
 * `schema-generate.ts`.
 */
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DefinitionError } from "../../kit/definition-error.ts";
import { byNumber, numberOf, readFolder, refuseTwins } from "../migration-files.ts";
import type { Snapshot } from "./snapshot.ts";

export interface History {
  folder: string;
  /** File names, in order. */
  migrations: string[];
  /** The number of the last migration, as text; null without any. */
  last: string | null;
  /** The latest snapshot; null without any. */
  snapshot: { number: string; value: Snapshot } | null;
  /** Whether a migration may have created something that the schema declares, and not just extensions and domains. */
  hasTables: boolean;
}

const creates = /\bcreate\b[^;]*?\b(table|view|sequence|enum)\b|\b(alter\s+table|import\s+foreign)\b/i;

/** @throws DefinitionError for a migration without a number, and for two of one number that no later snapshot covers */
export async function readHistory(folder: string): Promise<History> {
  const files = await readFolder(folder);
  const migrations = files.map(({ path }) => path);
  const numbers = migrations.map(numberOf);
  const stray = migrations[numbers.indexOf(undefined)];
  if (stray) {
    throw new DefinitionError(`migrations/${stray} has no number, so nothing can be written after it.`, {
      hint: "Name it NNNN_words.sql.",
    });
  }
  const present: string[] = await readdir(join(folder, "meta")).catch(() => []);
  const snapshots = present.filter((file) => /^\d+_snapshot\.json$/.test(file)).sort(byNumber);
  const file = snapshots.at(-1);
  const known = BigInt(file?.split("_")[0] ?? 0);
  refuseTwins(migrations, (path) => BigInt(numberOf(path) ?? 0) >= known);
  return {
    folder,
    migrations,
    last: numbers.at(-1) ?? null,
    hasTables: files.some(({ text }) => creates.test(text)),
    snapshot: file ? { number: file.split("_")[0] ?? "", value: await readSnapshot(join(folder, "meta", file)) } : null,
  };
}

async function readSnapshot(path: string): Promise<Snapshot> {
  try {
    const value = JSON.parse(await readFile(path, "utf8"));
    if (value.svc && value.tables) return value;
    throw new Error("it was written by something else");
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : cause;
    throw new DefinitionError(`${path} cannot be read: ${reason}`, {
      hint: "After a merge of two branches: keep theirs, delete your SQL file, and generate it again.",
    });
  }
}

/** The next number, padded to the same width so that file names sort correctly. */
export const nextNumber = ({ last }: History): string =>
  String(BigInt(last ?? "0") + 1n).padStart(last?.length ?? 4, "0");

export const snapshotFile = (number: string): string => `meta/${number}_snapshot.json`;

export async function writeSnapshot({ folder }: History, number: string, snapshot: Snapshot): Promise<void> {
  await mkdir(join(folder, "meta"), { recursive: true });
  await writeFile(join(folder, snapshotFile(number)), `${JSON.stringify(snapshot, null, 2)}\n`);
}
