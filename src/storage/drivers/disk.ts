/**
 * Stores bytes in a folder. A file is written under a temporary name, flushed and then renamed: readers see all of it
 * or nothing, and a power cut leaves one of the two.
 */
import { randomUUID } from "node:crypto";
import { createReadStream } from "node:fs";
import {
  constants,
  type FileHandle,
  lchown,
  link,
  open,
  opendir,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  truncate,
} from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { makeFolder } from "../../kit/make-folder.ts";
import { namePath } from "../../kit/name-path.ts";
import type { ByteRange, PutOptions, StorageDriver, StoredBytes, StoredPart } from "./driver.ts";
import { readParts } from "./read-parts.ts";

/** Bytes per read. Node's default of 64 KiB costs a third of the speed of a large download. */
const chunk = 256 * 1024;

/** Errors of file systems without hard links (FAT, some network drives), or with too many for one file. */
const unlinkable = new Set<string | undefined>(["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EXDEV", "EMLINK"]);

interface Seen {
  /** Whether a disk is mounted at the folder itself: without the disk an empty folder stays there. */
  isMount: boolean;
}

interface DiskOptions {
  /** Whether a write makes the folder again that is missing later, as one that a developer has removed. (Default: false) */
  remakes?: boolean;
}

/** @param folder absolute; created by the first write */
export class DiskDriver implements StorageDriver {
  readonly #folder: string;
  readonly #remakes: boolean;
  /** How the folder was when this process first saw it. */
  #seen: Promise<Seen | null>;

  constructor(folder: string, { remakes = false }: DiskOptions = {}) {
    this.#folder = folder;
    this.#remakes = remakes;
    this.#seen = this.#look();
  }

  async put(key: string, bytes: AsyncIterable<Uint8Array> | Uint8Array, options: PutOptions = {}): Promise<void> {
    const { durable = true, reused = false } = options;
    const passing = join(this.#folder, "incoming", randomUUID());
    const path = this.pathOf(key);
    try {
      const file = await this.#inFolder(passing, () => open(passing, "wx", 0o600));
      // Each of these closes the file, also when the source fails.
      if (bytes instanceof Uint8Array) await writeAndClose(file, [bytes], durable);
      else if (reused) await writeAndClose(file, bytes, durable);
      else await pipeline(bytes, file.createWriteStream({ flush: durable }));
      await this.#giveToOwner([passing]);
      await this.#inFolder(path, () => rename(passing, path));
    } catch (error) {
      await rm(passing, { force: true }).catch(() => {}); // the sweep removes it; the first error tells the cause
      throw namePath(error, passing);
    }
    if (durable) await syncFolder(dirname(path));
  }

  async append(key: string, at: number, bytes: AsyncIterable<Uint8Array>): Promise<void> {
    const path = this.pathOf(key);
    await truncate(path, at);
    try {
      await writeAndClose(await open(path, constants.O_WRONLY | constants.O_APPEND), bytes, true);
    } catch (error) {
      await truncate(path, at).catch(() => {}); // frees the room; the next call would do it too
      throw namePath(error, path);
    }
  }

  async compose(key: string, parts: readonly StoredPart[]): Promise<void> {
    const [only] = parts;
    if (parts.length === 1 && only && (await this.#link(only, key))) return;
    await this.put(key, readParts(this, parts));
  }

  /** Gives the part's file a second name. @returns false where the file system cannot do so */
  async #link(part: StoredPart, key: string): Promise<boolean> {
    const [from, path] = [this.pathOf(part.key), this.pathOf(key)];
    const file = await open(from, "r+");
    try {
      await file.truncate(part.size);
      // The sweep must not take it for an old file without a row.
      await file.utimes(new Date(), new Date());
      await file.sync();
    } finally {
      await file.close();
    }
    try {
      await this.#inFolder(path, () => link(from, path));
    } catch (error) {
      if (unlinkable.has((error as NodeJS.ErrnoException).code)) return false;
      throw error;
    }
    await syncFolder(dirname(path));
    return true;
  }

  async read(key: string, range?: ByteRange): Promise<Readable | null> {
    const file = await open(this.pathOf(key), "r").catch((error) => this.#missing(error));
    return file && createReadStream("", { fd: file, highWaterMark: chunk, ...range });
  }

  async readWhole(key: string): Promise<Buffer | null> {
    return readFile(this.pathOf(key)).catch((error) => this.#missing(error));
  }

  async delete(key: string): Promise<void> {
    await rm(this.pathOf(key), { force: true });
  }

  async deleteAll(prefix: string): Promise<void> {
    // Retries, in case a file is added to the folder while it is being emptied.
    await rm(this.pathOf(prefix), { recursive: true, force: true, maxRetries: 10, retryDelay: 5 });
  }

  async *list(prefix: string): AsyncIterable<StoredBytes> {
    const [area = "", id = "", rest] = prefix.split("/");
    // The files of one object are in their own folder, so those of other objects need not be listed.
    const isOne = rest !== undefined;
    const shards = isOne ? [id.slice(0, 2)] : await readdir(join(this.#folder, area)).catch(orNull);
    for (const shard of shards ?? []) {
      const folder = join(this.#folder, area, shard);
      const entries = await opendir(isOne ? join(folder, id) : folder, { recursive: true }).catch(orNull);
      for await (const entry of entries ?? []) {
        if (!entry.isFile()) continue;
        const path = join(entry.parentPath, entry.name);
        const key = `${area}/${path.slice(folder.length + 1)}`;
        if (!key.startsWith(prefix)) continue;
        const known = await stat(path).catch(orNull);
        if (known) yield { key, size: known.size, modifiedAt: known.mtime };
      }
    }
  }

  async sweepLeftovers(before: Date): Promise<number> {
    let removed = 0;
    for (const name of (await readdir(join(this.#folder, "incoming")).catch(orNull)) ?? []) {
      const path = join(this.#folder, "incoming", name);
      const known = await stat(path).catch(orNull);
      if (!known || known.mtime >= before) continue;
      await rm(path, { force: true });
      removed++;
    }
    return removed;
  }

  /** `objects/<id>` becomes `objects/<its first two letters>/<id>`, which limits the size of each folder. */
  pathOf(key: string): string {
    const [area = "", id = "", ...rest] = key.split("/");
    return join(this.#folder, area, id.slice(0, 2), id, ...rest);
  }

  /**
   * Runs `work` in a path's folder; creates the folder and tries again if it is missing. Deleting by prefix removes
   * folders, also one that was just created for this file, hence the attempts.
   */
  async #inFolder<T>(path: string, work: () => Promise<T>, attempts = 10): Promise<T> {
    try {
      const result = await work();
      if (!(await this.#seen)) {
        this.#seen = this.#look();
        await this.#seen;
      }
      return result;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT" || attempts === 1) throw error;
      await this.requireFolder();
      const made = await makeFolder(dirname(path));
      if (made) await this.#giveToOwner(upTo(made, dirname(path)));
      return this.#inFolder(path, work, attempts - 1);
    }
  }

  /** @throws Error for a file of a folder that is gone for a time: nobody knows whether the file exists */
  async #missing(error: NodeJS.ErrnoException): Promise<null> {
    orNull(error);
    await this.requireFolder();
    return null;
  }

  /** Files in a new folder would be hidden once the disk is mounted again. */
  async requireFolder(): Promise<void> {
    const [seen, now] = [await this.#seen, await lookAt(this.#folder)];
    if (this.#remakes || !seen || (now && (now.isMount || !seen.isMount))) return;
    const text = `The folder ${this.#folder} was there and is gone: mount its disk, or move it back. After a restart svc makes it.`;
    throw Object.assign(new Error(text), { code: "FOLDER_GONE" });
  }

  /** Without access to the folder, a write fails with the reason. */
  #look(): Promise<Seen | null> {
    return lookAt(this.#folder).catch(() => null);
  }

  /**
   * Root restores and sweeps for a service that runs as the owner of the folder, and could not use files of root. Follows
   * no link: the owner might put one there.
   */
  async #giveToOwner(paths: readonly string[]): Promise<void> {
    if (process.getuid?.() !== 0) return;
    const { uid, gid } = await stat(this.#folder);
    if (uid !== 0) for (const path of paths) await lchown(path, uid, gid).catch(orNull);
  }
}

async function lookAt(folder: string): Promise<Seen | null> {
  const [here, above] = await Promise.all([folder, dirname(folder)].map((path) => stat(path).catch(orNull)));
  return here ? { isMount: here.dev !== above?.dev } : null;
}

/** @returns the folder and those above it, up to `top`, which comes first */
const upTo = (top: string, folder: string): string[] =>
  folder.length > top.length ? [...upTo(top, dirname(folder)), folder] : [folder];

/** Writes one chunk after the other. */
async function writeAndClose(
  file: FileHandle,
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  flush: boolean,
): Promise<void> {
  try {
    for await (const chunk of chunks) await file.writeFile(chunk);
    if (flush) await file.sync();
  } finally {
    await file.close();
  }
}

/** A rename survives a power cut only after its folder was flushed. A missing folder was deleted with the file. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, "r").catch(orNull);
  try {
    await folder?.sync();
  } finally {
    await folder?.close();
  }
}

function orNull(error: NodeJS.ErrnoException): null {
  if (error.code === "ENOENT" || error.code === "ENOTDIR") return null;
  throw error;
}
