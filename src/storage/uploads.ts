/**
 * Files that arrive over several requests, and files for signed URLs. Bytes of parts lie under `uploads/<id>/` and count
 * once SQL knows of them; finishing puts them together under a key that is new each time and makes the upload a stored object
 * in one statement. Any process goes on with what another one began.
 * Next hop: `sql/storage/`, `incoming.ts`, `src/storage/drivers/driver.ts`.
 */
import { createHash, randomUUID } from "node:crypto";
import type { QueryResultRow } from "pg";
import type { StorageObject } from "../contract/storage.ts";
import { SvcError } from "../kit/svc-error.ts";
import { isConnectionLoss, sqlState } from "../postgres/errors.ts";
import { ask } from "./ask.ts";
import type { Incoming } from "./incoming.ts";
import { quotasOf, type Reserved, requireRoom } from "./reserve.ts";
import { mayRemoveBytes, objectKey, putBytes, type Storage } from "./storage.ts";

/** How long an upload waits for its next part. */
const lifetime = "1 day";

/** In bytes. Each part is flushed before the next one begins; more of them lose less when a process dies. */
const partSize = 16 * 1024 * 1024;

export const uploadPrefix = (id: string) => `uploads/${id}/`;

export interface Upload {
  /** In bytes, from the first one on. */
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
  /** Those that are being put together here. */
  readonly #finishing = new Map<string, Promise<void>>();

  constructor(storage: Storage) {
    this.#storage = storage;
  }

  /**
   * @throws SvcError PAYLOAD_TOO_LARGE; RATE_LIMITED when too many of the user's are unfinished; STORAGE_QUOTA_EXCEEDED;
   *   FORBIDDEN where a policy of the stored objects refuses it
   */
  async start(owner: string, file: Omit<StorageObject, "id">): Promise<{ id: string; expiresAt: Date }> {
    const { uploadBytes, uploadsPerUser } = this.#storage.limits;
    if (file.size > uploadBytes) throw tooLarge(uploadBytes);
    const [row] = await this.#ask<Started>("* from svc_private.start_upload($1, $2, $3, $4, $5, $6, $7, $8, $9)", [
      ...[owner, file.name, file.type, file.visibility, file.size, lifetime, uploadsPerUser],
      ...quotasOf(this.#storage.limits, owner),
    ]);
    const { id, expires_at: expiresAt } = requireRoom(row as Started, this.#storage.limits, owner);
    // No part of it will come.
    if (file.size === 0) await this.#finish(id, owner);
    return { id, expiresAt };
  }

  /** @throws SvcError NOT_FOUND also for what is another user's, or has expired */
  async find(id: string, owner: string): Promise<Upload> {
    const found = await this.#find(id, owner);
    // All is there, and whoever received the last part died, or had no room.
    if (found.expiresAt && found.received === found.size) await this.#finish(id, owner);
    return found;
  }

  /**
   * Keeps what comes, and finishes the upload with its last byte.
   *
   * @param start where the sender believes it goes on
   * @returns how far the upload is now; what broke off counts as far as it came
   * @throws SvcError CONFLICT when it goes on elsewhere, PAYLOAD_TOO_LARGE, CHECKSUM_MISMATCH
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
      // A checksum is about all of the body: nothing counts before.
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

  /** @throws SvcError NOT_FOUND as `find`, and for what is finished: that is a stored object */
  async remove(id: string, owner: string): Promise<void> {
    const [row] = await this.#ask("svc_private.remove_upload($1, $2) as removed", [id, owner]);
    if (!row?.removed) throw unknown();
    await this.#removeParts(id);
  }

  /**
   * Stores what is sent to a signed URL: all of it, or nothing; then the URL may be used again.
   *
   * @throws SvcError NOT_FOUND for a URL that is wrong, used or over; PAYLOAD_TOO_LARGE; BAD_REQUEST when it breaks off
   */
  async receive(id: string, token: string, body: Incoming): Promise<void> {
    const claim = [id, sha256Of(token)];
    const [row] = await this.#ask<{ most: number | null }>("svc_private.claim_upload($1, $2) as most", claim);
    const most = row?.most ?? null;
    if (most === null) throw unknown();
    try {
      await this.#store(id, whole(body, most));
    } catch (error) {
      await this.#ask("svc_private.release_upload($1)", [id]);
      throw error;
    }
  }

  async #find(id: string, owner: string): Promise<Upload> {
    const [row] = await this.#ask("* from svc_private.find_upload($1, $2)", [id, owner]);
    if (!row) throw unknown();
    return { received: row.received, size: row.size, expiresAt: row.expires_at };
  }

  async #putPart(id: string, start: number, bytes: AsyncIterable<Uint8Array>): Promise<Part> {
    const name = randomUUID();
    return { name, start, ...(await putBytes(this.#storage.driver, uploadPrefix(id) + name, bytes)) };
  }

  /** Another request may have been faster, or the upload be gone: then these bytes are nobody's. */
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

  /** Once in this process; of several processes one succeeds, and the others see its result. */
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

  /** What cannot go now, the sweep removes later. */
  async #removeParts(id: string): Promise<void> {
    if (await mayRemoveBytes(this.#storage)) await this.#storage.driver.deleteAll(uploadPrefix(id));
  }

  /** Every part is what it was when it arrived, or there is no file. */
  async *#readParts(id: string, parts: Part[]): AsyncGenerator<Uint8Array> {
    for (const { name, sha256 } of parts) {
      const hash = createHash("sha256");
      const bytes = await this.#storage.driver.read(uploadPrefix(id) + name);
      if (!bytes) throw new Error(`The part ${name} of the upload ${id} is missing.`);
      yield* hashed(bytes, hash);
      if (hash.digest("hex") !== sha256) throw new Error(`The part ${name} of the upload ${id} is damaged.`);
    }
  }

  /** Writes the bytes under an id that nothing else has, and makes the upload an object with them. */
  async #store(id: string, bytes: AsyncIterable<Uint8Array>): Promise<void> {
    const bytesId = randomUUID();
    const { size, sha256 } = await putBytes(this.#storage.driver, objectKey(bytesId), bytes);
    try {
      const values = [id, bytesId, size, sha256];
      const [row] = await this.#ask("svc_private.finish_upload($1, $2, $3, $4) as finished", values);
      if (!row?.finished) throw unknown();
    } catch (error) {
      // No row has them, no backup wants them. Unless nobody knows what became of the statement: then the sweep will.
      const isRefused = sqlState(error) !== undefined || (error as SvcError).code === "NOT_FOUND";
      if (isRefused && !isConnectionLoss(error)) await this.#storage.driver.delete(objectKey(bytesId));
      throw error;
    }
  }

  #ask<Row extends QueryResultRow = QueryResultRow>(what: string, values: unknown[]): Promise<Row[]> {
    return ask<Row>(this.#storage.pool, { text: `select ${what}`, values });
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

/** The same for what is another user's, what never was, and what has expired. */
const unknown = () => new SvcError("NOT_FOUND", "This upload does not exist, or it has expired.");
