/**
 * The interface between storage and a folder or a bucket. Drivers do not know the meaning of the bytes, their readers
 * or their lifetime.
 * Next hop: `disk.ts`, `s3.ts`. Every driver passes `tests/storage/driver-conformance.ts`.
 */
import type { Readable } from "node:stream";

/** Only storage makes keys: `objects/<uuid>`, `transforms/<uuid>/<name>` and `uploads/<uuid>/<name>`. */
export interface StorageDriver {
  /**
   * Writes all of the bytes or nothing; after it returns they survive a power cut. Pass bytes that are in memory as a
   * whole as such: a stream costs a disk twice as much.
   *
   * @param options `durable: false` for bytes that can be made again: a power cut may leave any part of them. (Default: true)
   *   `reused: true` if the source uses the memory of a chunk again for the next one. (Default: false)
   * @throws errors of the source or the store; then `read` and `list` show nothing of the bytes
   */
  put(key: string, bytes: AsyncIterable<Uint8Array> | Uint8Array, options?: PutOptions): Promise<void>;
  /**
   * Keeps the first `at` bytes under a key and writes these behind them; after it returns they survive a power cut. An
   * error may leave any bytes behind `at`. The caller makes one call at a time for a key. Stores that only replace
   * whole objects do not have it.
   *
   * @throws errors of the source or the store, also when there is nothing under the key
   */
  append?(key: string, at: number, bytes: AsyncIterable<Uint8Array>): Promise<void>;
  /**
   * Joins the first bytes of each part under a new key: all or nothing. The parts stay. Where the store can, it does not write
   * the bytes again; on a disk, the only part and the new key are then the same file, which must not be appended to any more.
   */
  compose(key: string, parts: readonly StoredPart[]): Promise<void>;
  /**
   * @param range first and last byte, both included. (Default: everything)
   * @returns null when there is nothing under the key
   */
  read(key: string, range?: ByteRange): Promise<Readable | null>;
  /** Reads all of it into memory. @returns null when there is nothing under the key */
  readWhole(key: string): Promise<Buffer | null>;
  /** @throws Error where all of the store is gone for a time, as with a disk that was unmounted: it tells nothing of single keys */
  requireFolder?(): Promise<void>;
  /** The path of the bytes, also before they exist, if the store is a file system of this machine. */
  pathOf?(key: string): string;
  /** Deletes a key. A missing key is not an error. */
  delete(key: string): Promise<void>;
  deleteAll(prefix: string): Promise<void>;
  /** Lists all keys with this prefix, with the store's data about them. */
  list(prefix: string): AsyncIterable<StoredBytes>;
  /** Removes leftovers of failed writes that `list` does not show. @param before only remove older ones */
  sweepLeftovers(before: Date): Promise<number>;
}

export interface PutOptions {
  durable?: boolean;
  reused?: boolean;
}

export interface StoredPart {
  key: string;
  /** In bytes, more than 0; bytes behind them do not count. */
  size: number;
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
