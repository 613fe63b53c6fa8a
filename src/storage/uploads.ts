/**
 * Files that arrive over several requests, and files for signed URLs. Bytes of parts are under `uploads/<id>/` and
 * count once SQL has a row for them. Finishing joins the parts under a new key and turns the upload into a stored
 * object in one statement. Any process can continue an upload that another began.
 * Next hop: `upload-parts.ts` writes the parts, `src/storage/drivers/driver.ts` joins them; `sql/storage/`.
 */
import { createHash, randomUUID } from "node:crypto";
import type { QueryResultRow } from "pg";
import type { StorageObject } from "../contract/storage.ts";
import { tooLarge } from "../http/body.ts";
import { SvcError } from "../kit/svc-error.ts";
import { isConnectionLoss, sqlState } from "../postgres/errors.ts";
import { type Identity, identityOfUser } from "../postgres/identity.ts";
import { runStatement } from "../postgres/run-statement.ts";
import { LostPart, readParts } from "./drivers/read-parts.ts";
import type { Incoming } from "./incoming.ts";
import { quotasOf, type Reserved, requireRoom } from "./reserve.ts";
import { Measure, mayRemoveBytes, objectKey, putBytes, type Storage } from "./storage.ts";
import { type Checksum, pieceSize, type Receiving, UploadParts, uploadPrefix } from "./upload-parts.ts";

export interface Upload {
  /** Bytes received from the start. */
  received: number;
  /** In bytes. */
  size: number;
  /** Null once it is a stored object. */
  expiresAt: Date | null;
}

interface Started extends Reserved {
  expires_at: Date;
}

type Written = Pick<Measure, "size" | "sha256">;

interface Part {
  key: string;
  size: number;
  sha256: string;
}

/**
 * How long an upload waits for its first part, which takes five hours at the slowest rate. A client that has lost the answer
 * to its beginning begins another one.
 */
const firstLifetime = "6 hours";

export class Uploads {
  readonly #storage: Storage;
  readonly #parts: UploadParts;
  /** Uploads that this process is finishing. */
  readonly #finishing = new Map<string, Promise<void>>();

  constructor(storage: Storage) {
    this.#storage = storage;
    this.#parts = new UploadParts(storage);
  }

  /**
   * @throws SvcError PAYLOAD_TOO_LARGE; RATE_LIMITED when the user has too many unfinished uploads;
   *   STORAGE_QUOTA_EXCEEDED; FORBIDDEN where a policy of the stored objects refuses it
   */
  async start(
    owner: string,
    file: Omit<StorageObject, "id">,
    { setting }: Pick<Identity, "setting"> = identityOfUser(owner),
  ): Promise<{ id: string; expiresAt: Date }> {
    const { uploadBytes, uploadsPerUser } = this.#storage.limits;
    if (file.size > uploadBytes) throw tooLarge(uploadBytes);
    const [row] = await this.#ask<Started>("* from svc_private.start_upload($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)", [
      ...[owner, file.name, file.type, file.visibility, file.size, firstLifetime, uploadsPerUser],
      ...quotasOf(this.#storage.limits, owner),
      setting,
    ]);
    const { id, expires_at: expiresAt } = requireRoom(row as Started, this.#storage.limits, owner);
    // An empty file has no parts.
    if (file.size === 0) await this.#finish(id, owner);
    return { id, expiresAt };
  }

  /** @throws SvcError NOT_FOUND also for another user's upload, an expired one, and one whose bytes are gone */
  async find(id: string, owner: string): Promise<Upload> {
    const found = await this.#find(id, owner);
    if (found.expiresAt === null) return found;
    // All bytes are there, but the process that received the last part died or had no room.
    if (found.received === found.size) await this.#finish(id, owner);
    else await this.#requireNewestPart(id, owner);
    return found;
  }

  /** What `start` was given, as it is kept. @throws SvcError NOT_FOUND as `find` */
  async describe(id: string, owner: string): Promise<Pick<StorageObject, "name" | "type" | "visibility">> {
    const what = "* from svc_private.describe_upload($1, $2)";
    const [row] = await this.#ask<Pick<StorageObject, "name" | "type" | "visibility">>(what, [id, owner]);
    if (!row) throw uploadNotFound();
    return row;
  }

  /**
   * Stores the body, and finishes the upload with its last byte.
   *
   * @param start the offset at which the sender continues
   * @returns the upload's progress; a body that broke off counts as far as it came
   * @throws SvcError CONFLICT at another offset, PAYLOAD_TOO_LARGE, CHECKSUM_MISMATCH, NOT_FOUND as `find`
   */
  async append(id: string, owner: string, start: number, body: Incoming, checksum?: Checksum): Promise<Upload> {
    const { received, size } = await this.#find(id, owner);
    if (received !== start) throw new SvcError("CONFLICT", `The upload continues at byte ${received}.`);
    const isWhole = start === 0 && size > 0 && size <= pieceSize && body.length === size;
    let end: number;
    try {
      const upload = { id, owner, received, size };
      end = isWhole
        ? await this.#receiveWhole(upload, body, checksum)
        : await this.#parts.receive(upload, body, checksum);
    } catch (error) {
      // If the upload was removed meanwhile, or the disk has lost it, its parts are missing: says so.
      if (!(error instanceof SvcError)) {
        await this.#find(id, owner);
        await this.#requireNewestPart(id, owner);
      }
      throw error;
    }
    if (end < size) return this.#find(id, owner);
    if (!isWhole) await this.#finish(id, owner);
    return { received: size, size, expiresAt: null };
  }

  /** @throws SvcError NOT_FOUND as `find`, and for a finished upload, which is a stored object */
  async remove(id: string, owner: string): Promise<void> {
    const [row] = await this.#ask("svc_private.remove_upload($1, $2) as removed", [id, owner]);
    if (!row?.removed) throw uploadNotFound();
    this.#parts.forget(id);
    await this.#removeParts(id);
  }

  /**
   * Stores the body of a request to a signed URL: all of it, or nothing; after a failure the URL may be used again.
   *
   * @throws SvcError NOT_FOUND for an invalid, used or expired URL; PAYLOAD_TOO_LARGE; BAD_REQUEST when the body breaks off
   */
  async receive(id: string, token: string, body: Incoming): Promise<void> {
    const claim = [id, sha256Of(token)];
    const [row] = await this.#ask<{ most: number | null }>("svc_private.claim_upload($1, $2) as most", claim);
    const most = row?.most ?? null;
    if (most === null) throw uploadNotFound();
    try {
      await this.#store(id, (key) => putBytes(this.#storage.driver, key, whole(body, most)));
    } catch (error) {
      await this.#ask("svc_private.release_upload($1)", [id]);
      throw error;
    }
  }

  /**
   * A body that should be the whole upload is written under the key of the stored object: nothing is joined or read again.
   * What has come of a body that broke off becomes the first part.
   *
   * @returns the number of bytes that count
   */
  async #receiveWhole(upload: Receiving, body: Incoming, checksum?: Checksum): Promise<number> {
    const { driver } = this.#storage;
    const bytesId = randomUUID();
    const key = objectKey(bytesId);
    const sum = checksum && new Measure(createHash(checksum.algorithm));
    const taken = body.take(upload.size);
    const measure = new Measure();
    await driver.put(key, measure.pass(sum ? sum.pass(taken) : taken));
    const isSound = !sum || (!body.isBroken && sum.digest().equals(checksum.digest));
    if (isSound && measure.size === upload.size) {
      await this.#turnIntoObject(upload.id, bytesId, measure, new SvcError("CONFLICT"));
      return measure.size;
    }
    try {
      if (!isSound) throw new SvcError("CHECKSUM_MISMATCH");
      if (measure.size > 0) await this.#parts.adopt(upload, key, measure);
    } finally {
      await driver.delete(key);
    }
    return measure.size;
  }

  async #find(id: string, owner: string): Promise<Upload> {
    const [row] = await this.#ask("* from svc_private.find_upload($1, $2)", [id, owner]);
    if (!row) throw uploadNotFound();
    return { received: row.received, size: row.size, expiresAt: row.expires_at };
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
      const parts = await this.#listParts(id);
      await this.#store(id, async (key) => {
        const whole = await this.#verify(parts);
        await this.#storage.driver.compose(key, parts);
        return whole;
      });
    } catch (error) {
      if (!(await isDone())) {
        if (error instanceof LostPart) await this.#dropLost(id, owner, error);
        throw error;
      }
    }
    this.#parts.forget(id);
    await this.#removeParts(id);
  }

  #listParts(id: string): Promise<Part[]> {
    const parts = "$2 || name as key, size::float8 as size, sha256 from svc_private.list_upload_parts($1)";
    return this.#ask<Part>(parts, [id, uploadPrefix(id)]);
  }

  /** A database that was restored may know parts of an upload that was finished later, and the folder may be another one. */
  async #requireNewestPart(id: string, owner: string): Promise<void> {
    const { key, size } = (await this.#listParts(id)).at(-1) ?? {};
    if (key === undefined || size === undefined) return;
    const bytes = await this.#storage.driver.read(key, { start: size - 1, end: size - 1 });
    bytes?.destroy();
    if (!bytes) await this.#dropLost(id, owner, new LostPart(`The part ${key} is missing.`));
  }

  /** Frees its room, so that the sender can begin again. An upload that was finished meanwhile stays. */
  async #dropLost(id: string, owner: string, cause: LostPart): Promise<void> {
    await this.#storage.driver.requireFolder?.();
    const [row] = await this.#ask("svc_private.remove_upload($1, $2) as removed", [id, owner]);
    if (!row?.removed) return;
    this.#storage.log.warn({ err: cause, uploadId: id }, "an unfinished upload was removed: its bytes are gone");
    this.#parts.forget(id);
    await this.#removeParts(id);
    throw new SvcError("NOT_FOUND", "The received bytes of this upload are gone.", { hint: "Begin it again.", cause });
  }

  /** The sweep later removes parts that must stay now. */
  async #removeParts(id: string): Promise<void> {
    if (await mayRemoveBytes(this.#storage)) await this.#storage.driver.deleteAll(uploadPrefix(id));
  }

  /** Reads every part and checks it against its hash; a damaged part fails the whole file. */
  async #verify(parts: readonly Part[]): Promise<Measure> {
    const whole = new Measure();
    for (const part of parts) {
      const own = new Measure();
      for await (const _ of whole.pass(own.pass(readParts(this.#storage.driver, [part]))));
      if (own.sha256 !== part.sha256) throw new LostPart(`The part ${part.key} is damaged.`);
    }
    return whole;
  }

  /** Writes the bytes under a new id and turns the upload into an object with them. */
  async #store(id: string, write: (key: string) => Promise<Written>): Promise<void> {
    const bytesId = randomUUID();
    await this.#turnIntoObject(id, bytesId, await write(objectKey(bytesId)), uploadNotFound());
  }

  /** @throws `refused` if the upload is over, or waits for other bytes */
  async #turnIntoObject(id: string, bytesId: string, { size, sha256 }: Written, refused: SvcError): Promise<void> {
    try {
      const values = [id, bytesId, size, sha256];
      const [row] = await this.#ask("svc_private.finish_upload($1, $2, $3, $4) as finished", values);
      if (!row?.finished) throw refused;
    } catch (error) {
      // No row or backup needs these bytes. If the result of the statement is unknown, the sweep decides later.
      const isRefused = sqlState(error) !== undefined || error === refused;
      if (isRefused && !isConnectionLoss(error)) await this.#storage.driver.delete(objectKey(bytesId));
      throw error;
    }
  }

  #ask<Row extends QueryResultRow = QueryResultRow>(what: string, values: unknown[]): Promise<Row[]> {
    return runStatement<Row>(this.#storage.pool, { text: `select ${what}`, values });
  }
}

export const sha256Of = (text: string) => createHash("sha256").update(text).digest("hex");

async function* whole(body: Incoming, most: number) {
  yield* body.take(most);
  if (!(await body.isOver())) throw tooLarge(most);
  if (body.isBroken) throw new SvcError("BAD_REQUEST", "The request was cut short.");
}

/** The same error for another user's, a missing and an expired upload. */
export const uploadNotFound = () => new SvcError("NOT_FOUND", "This upload does not exist, or it has expired.");
