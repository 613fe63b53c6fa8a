/**
 * Checks a backup against its manifest: every file exists with the right size and bytes. Reads everything once.
 * Next hop: `manifest.ts`.
 */
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { DiskDriver } from "../storage/drivers/disk.ts";
import { inParallel } from "./copy-files.ts";
import {
  type BackedUpFile,
  type Checked,
  dumpName,
  filesName,
  type Manifest,
  readManifest,
  storageName,
} from "./manifest.ts";

export interface Checkup {
  manifest: Manifest;
  /** One line per problem. */
  problems: string[];
}

/** @throws BackupError when there is no readable manifest */
export async function checkBackup(folder: string): Promise<Checkup> {
  const manifest = await readManifest(folder);
  const problems: string[] = [];
  for (const [name, wanted] of [
    [dumpName, manifest.dump],
    [filesName, manifest.files],
  ] as const) {
    const problem = await compare(join(folder, name), wanted);
    if (problem) problems.push(`${name}: ${problem}`);
  }
  if (problems.some((line) => line.startsWith(filesName))) return { manifest, problems };

  const disk = new DiskDriver(join(folder, storageName));
  for await (const files of backedUpFiles(folder)) {
    const found = await inParallel(files, ({ key, ...wanted }) => compare(disk.pathOf(key), wanted), 8);
    problems.push(...found.flatMap((problem, at) => (problem ? [`${files[at]?.key}: ${problem}`] : [])));
  }
  return { manifest, problems };
}

/** The files whose bytes are in the backup, in batches. */
export async function* backedUpFiles(folder: string): AsyncGenerator<BackedUpFile[]> {
  const lines = createInterface({
    input: createReadStream(join(folder, filesName)),
    crlfDelay: Number.POSITIVE_INFINITY,
  });
  let batch: BackedUpFile[] = [];
  for await (const line of lines) {
    const file = JSON.parse(line) as BackedUpFile;
    if (file.damage === "missing") continue;
    batch.push(file);
    if (batch.length < 500) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

async function compare(path: string, { size, sha256 }: Checked): Promise<string | null> {
  const hash = createHash("sha256");
  let read = 0;
  try {
    for await (const chunk of createReadStream(path, { highWaterMark: 256 * 1024 })) {
      hash.update(chunk);
      read += chunk.length;
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    return "missing";
  }
  if (read !== size) return `${read} bytes instead of ${size}`;
  return hash.digest("hex") === sha256 ? null : "other bytes";
}
