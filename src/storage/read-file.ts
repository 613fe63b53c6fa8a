/**
 * Reads a whole stored file, for calls that then wait for a model. No transaction is held meanwhile: see
 * `src/postgres/own-transaction.ts`.
 * Next hop: `storage.ts`.
 */
import { buffer } from "node:stream/consumers";
import { SvcError } from "../kit/svc-error.ts";
import type { Reading } from "../postgres/own-transaction.ts";
import { CallStorage } from "./context.ts";
import type { Storage } from "./storage.ts";

/** In bytes: the most that a call holds in memory, as for a multipart body. */
const most = 52_428_800;

export interface StoredFile {
  bytes: Uint8Array;
  /** Its media type. */
  type: string;
}

/** @returns a function that throws SvcError NOT_FOUND if the caller may not read it, PAYLOAD_TOO_LARGE above 50 MiB */
export const readFileOf =
  (storage: Storage, read: <T>(work: Reading<T>) => Promise<T>) =>
  (id: string): Promise<StoredFile> =>
    read(async (reader) => {
      const files = new CallStorage(storage, reader, "read");
      const { size, type } = await files.getMeta(id);
      if (size > most) throw new SvcError("PAYLOAD_TOO_LARGE", `The file has ${size} bytes; ${most} are read at most.`);
      return { bytes: await buffer(await files.read(id)), type };
    });
