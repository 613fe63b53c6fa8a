/**
 * The contents of a backup. The manifest is written last; a folder without one is not a backup:
 *
 *   manifest.json   this file's `Manifest`: versions, what every table must hold, checksums of the files below database.dump   of
 *   pg_dump, in its custom format files.jsonl     a line for each file: its key, size and checksum storage/        the files'
 *   bytes, laid out as the disk driver does
 *
 * Next hop: `take.ts` writes it, `check.ts` reads it.
 */

import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { jsonIn } from "../kit/json-in.ts";
import { BackupError } from "./error.ts";

export const manifestName = "manifest.json";
export const dumpName = "database.dump";
export const filesName = "files.jsonl";
export const storageName = "storage";

/** Increased when an older svc cannot restore a newer backup. */
export const formatVersion = 1;

export interface Checked {
  /** In bytes. */
  size: number;
  /** In hex. */
  sha256: string;
}

export interface TableRows {
  name: string;
  rows: number;
  /** From svc_private.hash_rows: a sum, in decimal digits. */
  hash: string;
}

export interface Definition {
  name: string;
  hash: string;
}

export interface ClusterState {
  roles: {
    name: string;
    login: boolean;
    inherit: boolean;
    bypassrls: boolean;
    replication: boolean;
    memberOf: string[];
  }[];
  privileges: { to: string; privilege: string }[];
  settings: { role: string | null; setting: string }[];
  sequences: { name: string; last: number | null; step: number }[];
}

/** A line of files.jsonl. */
export interface BackedUpFile extends Checked {
  /** The driver's key: `objects/<id>` or `uploads/<id>/<name>`. */
  key: string;
  /** Damage that existed before the backup. */
  damage?: "missing" | "other bytes";
}

export interface Manifest {
  format: number;
  /** Version of svc. */
  version: string;
  /** When its snapshot was taken, ISO 8601. */
  takenAt: string;
  database: {
    name: string;
    serverVersion: string;
    /** Version of pg_dump. */
    dumpedBy: string;
  };
  dump: Checked;
  files: Checked & { count: number; bytes: number; damaged: number };
  tables: TableRows[];
  definitions: Definition[];
  clusterState: ClusterState;
}

export const majorOf = (version: string): number => Number.parseInt(version, 10);

/** The manifest as text, with a checksum of itself. */
export function writeManifest(manifest: Manifest): string {
  return `${JSON.stringify({ ...manifest, sha256: sha256(JSON.stringify(manifest)) }, null, 1)}\n`;
}

/** @throws BackupError when the folder has no backup, or one of an unsupported format */
export async function readManifest(folder: string): Promise<Manifest> {
  const text = await readFile(join(folder, manifestName), "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT" && error.code !== "ENOTDIR") throw error;
    throw new BackupError(`${folder} is not a backup: it has no ${manifestName}.`, {
      hint: "An interrupted backup has none; its name ends in .incomplete.",
    });
  });
  const manifest = jsonIn(text);
  if (manifest === undefined) throw new BackupError(`${manifestName} is damaged: it is not JSON.`);
  const { sha256: stated, ...rest } = manifest as Manifest & { sha256?: string };
  if (rest.format > formatVersion) {
    throw new BackupError(`This backup was taken by svc ${rest.version}, and this version cannot read its format.`, {
      hint: "Use that version, or a newer one.",
    });
  }
  if (stated !== sha256(JSON.stringify(rest)))
    throw new BackupError(`${manifestName} is damaged: its checksum differs.`);
  return rest;
}

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
