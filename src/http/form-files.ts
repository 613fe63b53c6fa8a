/**
 * Temporary files of form parts. Each process has its own folder, so that a starting process can remove the folders of
 * killed ones without touching those of running ones.
 * Next hop: `form.ts` fills them.
 */
import { randomUUID } from "node:crypto";
import { openAsBlob } from "node:fs";
import { type FileHandle, open, readdir, rm, stat } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { makeFolder } from "../kit/make-folder.ts";
import { namePath } from "../kit/name-path.ts";

/** In milliseconds. Folders of other hosts that share the disk are removed after this time without a new file. */
const foreignAge = 24 * 60 * 60_000;

/** Several services may run in one process. */
const ofThisProcess = new Set<string>();

export class FormFiles {
  readonly #parent: string;
  /** The folder's name: host, process and a random id. */
  readonly #name = `${ownHost}.${process.pid}.${randomUUID()}`;
  #made: Promise<unknown> | undefined;

  /** @param parent absolute; created with the first file */
  constructor(parent: string) {
    this.#parent = parent;
    ofThisProcess.add(this.#name);
  }

  get #own(): string {
    return join(this.#parent, this.#name);
  }

  async open(): Promise<FormFile> {
    this.#made ??= makeFolder(this.#own, 0o700);
    const path = join(this.#own, randomUUID());
    try {
      await this.#made;
      return new FormFile(path, await open(path, "wx", 0o600));
    } catch (error) {
      this.#made = undefined; // the next file creates the folder again if it was removed
      throw error;
    }
  }

  /** Removes the folders of ended processes. Runs in the background at start. */
  async sweep(): Promise<void> {
    const names = await readdir(this.#parent).catch(() => []);
    for (const name of names) {
      const path = join(this.#parent, name);
      if (await isAbandoned(name, path)) await rm(path, { recursive: true, force: true });
    }
  }

  async close(): Promise<void> {
    ofThisProcess.delete(this.#name);
    await rm(this.#own, { recursive: true, force: true });
  }
}

/** A part being written to disk, and then a blob that reads from there. */
export class FormFile {
  readonly #path: string;
  readonly #handle: FileHandle;
  #isClosed = false;

  constructor(path: string, handle: FileHandle) {
    this.#path = path;
    this.#handle = handle;
  }

  /** Appends all bytes. */
  async write(bytes: Uint8Array): Promise<void> {
    await this.#handle.writeFile(bytes).catch((error) => {
      throw namePath(error, this.#path);
    });
  }

  /** The file for handlers; its bytes stay on disk. */
  async finish(name: string, type: string): Promise<File> {
    await this.#close();
    const file = new File([await openAsBlob(this.#path)], name, { type });
    paths.set(file, this.#path);
    return file;
  }

  async remove(): Promise<void> {
    await this.#close().catch(() => {});
    await rm(this.#path, { force: true }).catch(() => {});
  }

  async #close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#handle.close();
  }
}

const paths = new WeakMap<Blob, string>();

/** In bytes: how much `readFormFile` reads at once. */
const readSize = 256 * 1024;

/**
 * The bytes of a form's file, always in the same buffer: a chunk is valid until the next one is read. The file's own
 * stream allocates memory for every chunk, and much of it accumulates before it is collected.
 *
 * @returns undefined for every other blob
 */
export function readFormFile(file: Blob): AsyncIterable<Uint8Array> | undefined {
  const path = paths.get(file);
  return path === undefined ? undefined : readInto(path, Buffer.allocUnsafeSlow(Math.min(readSize, file.size)));
}

async function* readInto(path: string, buffer: Buffer): AsyncGenerator<Uint8Array> {
  const handle = await open(path, "r").catch((cause) => {
    throw new Error("The file of a form is kept until its response has closed. Store it before.", { cause });
  });
  try {
    for (;;) {
      const { bytesRead } = await handle.read(buffer, 0, buffer.length, null);
      if (bytesRead === 0) return;
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    await handle.close();
  }
}

/** Without dots, which separate the parts of a folder's name. */
const ownHost = hostname().replace(/[^\w-]/g, "_");

async function isAbandoned(name: string, path: string): Promise<boolean> {
  const [host, pid, id] = name.split(".");
  if (!id || ofThisProcess.has(name)) return false;
  if (host === ownHost && !mayRun(Number(pid))) return true;
  const known = await stat(path).catch(() => null);
  return known !== null && known.mtimeMs < Date.now() - foreignAge;
}

/** The previous process with our own id has ended, as in a restarted container. */
function mayRun(pid: number): boolean {
  if (pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
}
