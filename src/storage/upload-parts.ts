/**
 * Writes what requests send to an upload, and has SQL record it. On a disk a process lengthens the part that it wrote
 * last, so most uploads have one part. `uploads.ts` joins the parts when the last byte has come.
 * Next hop: `sql/storage/add_upload_part.sql`, `incoming.ts`, `src/storage/drivers/driver.ts`.
 */
import { createHash, randomUUID } from "node:crypto";
import { tooLarge } from "../http/body.ts";
import { RecentMap } from "../kit/recent-map.ts";
import { SvcError } from "../kit/svc-error.ts";
import { runStatement } from "../postgres/run-statement.ts";
import type { Incoming } from "./incoming.ts";
import { Measure, type Storage } from "./storage.ts";

/** How long an upload waits for its next part. */
const lifetime = "1 day";

/** In bytes. Each piece is flushed before the next begins; smaller pieces lose less when a process dies. */
export const pieceSize = 16 * 1024 * 1024;

/** Uploads of which a process remembers the part that it can lengthen. The others get another part. */
const mostRemembered = 1_000;

export const uploadPrefix = (id: string) => `uploads/${id}/`;

/** Of a request's body, in the encoding of `digest`. */
export interface Checksum {
  algorithm: "sha1" | "sha256";
  digest: Buffer;
}

/** An upload to which a request sends. */
export interface Receiving {
  id: string;
  owner: string;
  /** Bytes received from the start. */
  received: number;
  /** In bytes. */
  size: number;
}

/** Bytes that were written at once: a part, or the end of one. */
interface Piece {
  /** Of the part. */
  name: string;
  /** The offset in the upload at which the part starts. */
  partStart: number;
  /** Of the part up to the end of this piece. */
  measure: Measure;
  /** Offset in the upload. */
  start: number;
  size: number;
}

/** Progress of one request. */
interface Progress {
  /** The last piece that SQL has a row for, if its part can be lengthened. */
  recorded: Piece | undefined;
  unrecorded: Piece[];
}

export class UploadParts {
  readonly #storage: Pick<Storage, "driver" | "pool">;
  /**
   * The last pieces of uploads, by the upload's id. A request takes it out while it writes, so that only one request
   * writes to a part, and no other process does.
   */
  readonly #last = new RecentMap<string, Piece>(mostRemembered);

  constructor(storage: Pick<Storage, "driver" | "pool">) {
    this.#storage = storage;
  }

  /**
   * Stores a body as far as it comes.
   *
   * @returns the offset behind its last byte
   * @throws SvcError CONFLICT, PAYLOAD_TOO_LARGE, CHECKSUM_MISMATCH
   */
  async receive(upload: Receiving, body: Incoming, checksum?: Checksum): Promise<number> {
    const { id, received } = upload;
    const last = this.#last.get(id);
    this.#last.delete(id);
    const isNext = last && last.start + last.size === received;
    const progress: Progress = { recorded: isNext ? last : undefined, unrecorded: [] };
    try {
      return await this.#receivePieces(upload, body, progress, checksum);
    } finally {
      if (progress.recorded) this.#last.set(id, progress.recorded);
    }
  }

  /**
   * Makes bytes under a key of their own the first part. The key stays.
   *
   * @throws SvcError CONFLICT
   */
  async adopt(upload: Receiving, key: string, measure: Measure): Promise<void> {
    const piece = { name: randomUUID(), partStart: 0, measure, start: 0, size: measure.size };
    await this.#storage.driver.compose(uploadPrefix(upload.id) + piece.name, [{ key, size: measure.size }]);
    await this.#record(upload, { recorded: undefined, unrecorded: [piece] });
    this.#last.set(upload.id, piece);
  }

  /** For an upload that is over. */
  forget(id: string): void {
    this.#last.delete(id);
  }

  async #receivePieces(upload: Receiving, body: Incoming, progress: Progress, checksum?: Checksum): Promise<number> {
    const { id, received, size } = upload;
    let at = received;
    const sum = checksum && new Measure(createHash(checksum.algorithm));
    while (at < size && !(await body.isOver())) {
      const taken = body.take(Math.min(pieceSize, size - at));
      const piece = await this.#putPiece(id, at, sum ? sum.pass(taken) : taken, progress);
      at += piece.size;
      progress.unrecorded.push(piece);
      if (at === size && !(await body.isOver())) await this.#refuse(id, progress, tooLarge(size));
      // A checksum covers the whole body: no piece counts before it is verified.
      if (!checksum) await this.#record(upload, progress);
    }
    if (at === received && !(await body.isOver())) throw tooLarge(size);
    if (checksum && (body.isBroken || !sum?.digest().equals(checksum.digest))) {
      await this.#refuse(id, progress, new SvcError("CHECKSUM_MISMATCH"));
    }
    await this.#record(upload, progress);
    return at;
  }

  /** Lengthens the request's part if the driver can, otherwise writes another one. */
  async #putPiece(
    id: string,
    start: number,
    bytes: AsyncIterable<Uint8Array>,
    { recorded, unrecorded }: Progress,
  ): Promise<Piece> {
    const { driver } = this.#storage;
    const last = driver.append && (unrecorded.at(-1) ?? recorded);
    const { name, partStart } = last ?? { name: randomUUID(), partStart: start };
    const measure = last?.measure.copy() ?? new Measure();
    const key = uploadPrefix(id) + name;
    const passing = measure.pass(bytes);
    await (last ? driver.append?.(key, start - partStart, passing) : driver.put(key, passing));
    return { name, partStart, measure, start, size: partStart + measure.size - start };
  }

  /** If another request was faster or the upload is gone, these bytes are removed. */
  async #record({ id, owner }: Receiving, progress: Progress): Promise<void> {
    const { unrecorded } = progress;
    for (let piece = unrecorded[0]; piece; piece = unrecorded[0]) {
      const { name, start, size, measure } = piece;
      const values = [id, owner, start, size, name, measure.sha256, lifetime];
      const text = "select svc_private.add_upload_part($1, $2, $3, $4, $5, $6, $7) as added";
      const [row] = await runStatement<{ added: boolean }>(this.#storage.pool, { text, values });
      if (!row?.added) await this.#refuse(id, progress, new SvcError("CONFLICT"));
      progress.recorded = piece;
      unrecorded.shift();
    }
  }

  /** Removes parts of which no byte counts. */
  async #refuse(id: string, { recorded, unrecorded }: Progress, error: SvcError): Promise<never> {
    for (const { name } of unrecorded) {
      if (name !== recorded?.name) await this.#storage.driver.delete(uploadPrefix(id) + name);
    }
    throw error;
  }
}
