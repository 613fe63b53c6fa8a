/**
 * Files that arrive over several requests, and files for signed URLs. Bytes of parts are under `uploads/<id>/` and
 * count once SQL has a row for them. Finishing joins them under a new key and turns the upload into a stored object
 * in one statement. Any process can continue an upload that another began.
 * Next hop: `sql/storage/`, `incoming.ts`, `src/storage/drivers/driver.ts`.
 */
import { createHash, randomUUID } from "node:crypto";
import type { QueryResultRow } from "pg";
import type { StorageObject } from "../contract/storage.ts";
import { SvcError } from "../kit/svc-error.ts";
import { isConnectionLoss, sqlState } from "../postgres/errors.ts";
import { runStatement } from "../postgres/run-statement.ts";
import type { Incoming } from "./incoming.ts";
import { quotasOf, type Reserved, requireRoom } from "./reserve.ts";
import { mayRemoveBytes, objectKey, putBytes, type Storage } from "./storage.ts";

/** How long an upload waits for its next part. */
const lifetime = "1 day";

/** In bytes. Each part is flushed before the next begins; smaller parts lose less when a process dies. */
const partSize = 16 * 1024 * 1024;

export const uploadPrefix = (id: string) => `uploads/${id}/`;

export interface Upload {
  /** Bytes received from the start. */
  received: number;
  /** In bytes. */
  size: number;
  /** Null once it is a stored object. */
  expiresAt: Date | null;
}

/** Of a request's body, in the encoding of `digest`. */
export interface Checksum {
  algorithm: "sha1" | "sha256";
  digest: Buffer;
}

interface Started extends Reserved {
  expires_at: Date;
}

interface Part {
  name: string;
  start: number;
  size: number;
  sha256: string;
}

export class Uploads {
  readonly #storage: Storage;
  /** Uploads that this process is finishing. */
  readonly #finishing = new Map<string, Promise<void>>();

  constructor(storage: Storage) {
    this.#storage = storage;
  }

  /**
   * @throws SvcError PAYLOAD_TOO_LARGE; RATE_LIMITED when the user has too many unfinished uploads;
   *   STORAGE_QUOTA_EXCEEDED; FORBIDDEN where a policy of the stored objects refuses it
   */
  async start(owner: string, file: Omit<StorageObject, "id">): Promise<{ id: string; expiresAt: Date }> {
    const { uploadBytes, uploadsPerUser } = this.#storage.limits;
    if (file.size > uploadBytes) throw tooLarge(uploadBytes);
    const [row] = await this.#ask<Started>("* from svc_private.start_upload($1, $2, $3, $4, $5, $6, $7, $8, $9)", [
      ...[owner, file.name, file.type, file.visibility, file.size, lifetime, uploadsPerUser],
      ...quotasOf(this.#storage.limits, owner),
    ]);
    const { id, expires_at: expiresAt } = requireRoom(row as Started, this.#storage.limits, owner);
    // An empty file has no parts.
    if (file.size === 0) await this.#finish(id, owner);
    return { id, expiresAt };
  }

  /** @throws SvcError NOT_FOUND also for another user's upload or an expired one */
  async find(id: string, owner: string): Promise<Upload> {
    const found = await this.#find(id, owner);
    // All bytes are there, but the process that received the last part died or had no room.
    if (found.expiresAt && found.received === found.size) await this.#finish(id, owner);
    return found;
  }

  /**
   * Stores the body, and finishes the upload with its last byte.
   *
   * @param start the offset at which the sender continues
   * @returns the upload's progress; a body that broke off counts as far as it came
   * @throws SvcError CONFLICT at another offset, PAYLOAD_TOO_LARGE, CHECKSUM_MISMATCH
   */
  async append(id: string, owner: string, start: number, body: Incoming, checksum?: Checksum): Promise<Upload> {
    const { received, size } = await this.#find(id, owner);
    if (received !== start) throw new SvcError("CONFLICT", `The upload goes on at byte ${received}.`);
    let at = start;
    const unsaid: Part[] = [];
    const hash = checksum && createHash(checksum.algorithm);
    while (at < size && !(await body.isOver())) {
      const part = await this.#putPart(id, at, hashed(body.take(Math.min(partSize, size - at)), hash));
      at += part.size;
      unsaid.push(part);
      if (at === size && !(await body.isOver())) await this.#refuse(id, unsaid, tooLarge(size));
      // A checksum covers the whole body: no part counts before it is verified.
      if (!checksum) await this.#addParts(id, owner, unsaid);
    }
    if (at === start && !(await body.isOver())) throw tooLarge(size);
    if (checksum && (body.isBroken || !hash?.digest().equals(checksum.digest))) {
      await this.#refuse(id, unsaid, new SvcError("CHECKSUM_MISMATCH"));
    }
    await this.#addParts(id, owner, unsaid);
    if (at === size) await this.#finish(id, owner);
    return this.#find(id, owner);
  }

  /** @throws SvcError NOT_FOUND as `find`, and for a finished upload, which is a stored object */
  async remove(id: string, owner: string): Promise<void> {
    const [row] = await this.#ask("svc_private.remove_upload($1, $2) as removed", [id, owner]);
    if (!row?.removed) throw uploadNotFound();
    await this.#removeParts(id);
  }

  /**
   * Stores the body of a request to a signed URL: all of it, or nothing; after a failure the URL may be used again.
   *
   * @throws SvcError NOT_FOUND for an invalid, used or expired URL; PAYLOAD_TOO_LARGE; BAD_REQUEST when the body
   * breaks off
   */
  async receive(id: string, token: string, body: Incoming): Promise<void> {
    const claim = [id, sha256Of(token)];
    const [row] = await this.#ask<{ most: number | null }>("svc_private.claim_upload($1, $2) as most", claim);
    const most = row?.most ?? null;
    if (most === null) throw uploadNotFound();
    try {
      await this.#store(id, whole(body, most));
    } catch (error) {
      await this.#ask("svc_private.release_upload($1)", [id]);
      throw error;
    }
  }

  async #find(id: string, owner: string): Promise<Upload> {
    const [row] = await this.#ask("* from svc_private.find_upload($1, $2)", [id, owner]);
    if (!row) throw uploadNotFound();
    return { received: row.received, size: row.size, expiresAt: row.expires_at };
  }

  async #putPart(id: string, start: number, bytes: AsyncIterable<Uint8Array>): Promise<Part> {
    const name = randomUUID();
    return { name, start, ...(await putBytes(this.#storage.driver, uploadPrefix(id) + name, bytes)) };
  }

  /** If another request was faster or the upload is gone, these bytes are removed. */
  async #addParts(id: string, owner: string, parts: Part[]): Promise<void> {
    for (let part = parts[0]; part; part = parts[0]) {
      const { start, size, name, sha256 } = part;
      const values = [id, owner, start, size, name, sha256, lifetime];
      const [row] = await this.#ask("svc_private.add_upload_part($1, $2, $3, $4, $5, $6, $7) as added", values);
      if (!row?.added) await this.#refuse(id, parts, new SvcError("CONFLICT"));
      parts.shift();
    }
  }

  async #refuse(id: string, parts: Part[], error: SvcError): Promise<never> {
    for (const { name } of parts) await this.#storage.driver.delete(uploadPrefix(id) + name);
    throw error;
  }

  /** Runs once in this process. Of several processes one succeeds, and the others see its result. */
  async #finish(id: string, owner: string): Promise<void> {
    let finishing = this.#finishing.get(id);
    if (!finishing) {
      finishing = this.#assemble(id, owner).finally(() => this.#finishing.delete(id));
      this.#finishing.set(id, finishing);
    }
    await finishing;
  }

  async #assemble(id: string, owner: string): Promise<void> {
    const isDone = async () => (await this.#find(id, owner)).expiresAt === null;
    try {
      const parts = await this.#ask<Part>("name, sha256 from svc_private.list_upload_parts($1)", [id]);
      await this.#store(id, this.#readParts(id, parts));
    } catch (error) {
      if (!(await isDone())) throw error;
    }
    await this.#removeParts(id);
  }

  /** The sweep later removes parts that must stay now. */
  async #removeParts(id: string): Promise<void> {
    if (await mayRemoveBytes(this.#storage)) await this.#storage.driver.deleteAll(uploadPrefix(id));
  }

  /** Checks every part against its hash; a damaged part fails the whole file. */
  async *#readParts(id: string, parts: Part[]): AsyncGenerator<Uint8Array> {
    for (const { name, sha256 } of parts) {
      const hash = createHash("sha256");
      const bytes = await this.#storage.driver.read(uploadPrefix(id) + name);
      if (!bytes) throw new Error(`The part ${name} of the upload ${id} is missing.`);
      yield* hashed(bytes, hash);
      if (hash.digest("hex") !== sha256) throw new Error(`The part ${name} of the upload ${id} is damaged.`);
    }
  }

  /** Writes the bytes under a new id and turns the upload into an object with them. */
  async #store(id: string, bytes: AsyncIterable<Uint8Array>): Promise<void> {
    const bytesId = randomUUID();
    const { size, sha256 } = await putBytes(this.#storage.driver, objectKey(bytesId), bytes);
    try {
      const values = [id, bytesId, size, sha256];
      const [row] = await this.#ask("svc_private.finish_upload($1, $2, $3, $4) as finished", values);
      if (!row?.finished) throw uploadNotFound();
    } catch (error) {
      // No row or backup needs these bytes. If the result of the statement is unknown, the sweep decides later.
      const isRefused = sqlState(error) !== undefined || (error as SvcError).code === "NOT_FOUND";
      if (isRefused && !isConnectionLoss(error)) await this.#storage.driver.delete(objectKey(bytesId));
      throw error;
    }
  }

  #ask<Row extends QueryResultRow = QueryResultRow>(what: string, values: unknown[]): Promise<Row[]> {
    return runStatement<Row>(this.#storage.pool, { text: `select ${what}`, values });
  }
}

export const sha256Of = (text: string) => createHash("sha256").update(text).digest("hex");

async function* hashed(bytes: AsyncIterable<Uint8Array>, hash?: { update(chunk: Uint8Array): unknown }) {
  for await (const chunk of bytes) {
    hash?.update(chunk);
    yield chunk;
  }
}

async function* whole(body: Incoming, most: number) {
  yield* body.take(most);
  if (!(await body.isOver())) throw tooLarge(most);
  if (body.isBroken) throw new SvcError("BAD_REQUEST", "The request was cut short.");
}

export const tooLarge = (most: number) =>
  new SvcError("PAYLOAD_TOO_LARGE", undefined, { hint: `At most ${most} bytes are accepted here.` });

/** The same error for another user's, a missing and an expired upload. */
const uploadNotFound = () => new SvcError("NOT_FOUND", "This upload does not exist, or it has expired.");
