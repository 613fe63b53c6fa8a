/**
 * Where bytes lie: the few things that storage asks of a folder or a bucket. What they mean, who may read them and how
 * long they stay is not known here.
 * Next hop: `disk.ts`, `s3.ts`. Every driver passes `tests/storage/driver-conformance.ts`.
 */
import type { Readable } from "node:stream";

/** Keys are made by storage alone: `objects/<uuid>`, `transforms/<uuid>/<name>` and `uploads/<uuid>/<name>`. */
export interface StorageDriver {
  /**
   * Writes the bytes, in one piece or not at all; on its return they outlive a power cut. What is in memory as a whole is
   * better given so: as a stream it costs a disk twice as much.
   *
   * @param options `durable: false` for what can be made again: a power cut may leave anything of it. (Default: true)
   *   `reused: true` when the source uses the memory of a chunk again for the next one. (Default: false)
   * @throws what the source or the store threw; nothing is left behind then that `read` or `list` would show
   */
  put(key: string, bytes: AsyncIterable<Uint8Array> | Uint8Array, options?: PutOptions): Promise<void>;
  /**
   * @param range first and last byte, both included. (Default: everything)
   * @returns null when there is nothing under the key
   */
  read(key: string, range?: ByteRange): Promise<Readable | null>;
  /** All of it, for what fits into memory. @returns null when there is nothing under the key */
  readWhole(key: string): Promise<Buffer | null>;
  /** Where the bytes lie, whether they do or not, when they are a file of this machine. */
  pathOf?(key: string): string;
  /** What is not there is deleted already. */
  delete(key: string): Promise<void>;
  /** Deletes all keys that begin so. */
  deleteAll(prefix: string): Promise<void>;
  /** All keys that begin so, with what the store knows of them. */
  list(prefix: string): AsyncIterable<StoredBytes>;
  /** Removes what broken writes left where `list` does not show it. @param before only what is older */
  sweepLeftovers(before: Date): Promise<number>;
}

export interface PutOptions {
  durable?: boolean;
  reused?: boolean;
}

export interface ByteRange {
  start: number;
  end: number;
}

export interface StoredBytes {
  key: string;
  size: number;
  modifiedAt: Date;
}
