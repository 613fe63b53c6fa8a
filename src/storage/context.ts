/**
 * `ctx.storage`: files of the caller. Bytes are written before their row, and the row commits with the call's
 * transaction. After a rollback nobody can reach the bytes, and they are removed. A committed row always has all of
 * its bytes. A deletion removes the row first, then the bytes.
 * Next hop: `src/storage/storage.ts`; who may do what: `sql/policies/svc.storage_objects.sql`.
 */
import { randomUUID } from "node:crypto";
import { Readable } from "node:stream";
import type { QueryConfig } from "pg";
import { z } from "zod";
import type {
  ContextStorage,
  Disposition,
  StorageObject,
  StoreOptions,
  UploadUrl,
  UploadUrlOptions,
} from "../contract/storage.ts";
import { diskFailure } from "../http/errors.ts";
import { readFormFile } from "../http/form-files.ts";
import { checkCallOptions, must, oneOf, type ShapeOf } from "../kit/options.ts";
import { SvcError } from "../kit/svc-error.ts";
import { isUuid } from "../kit/uuid.ts";
import { type Access, requireWrite } from "../postgres/access.ts";
import type { RequestTransaction } from "../postgres/transaction.ts";
import type { FoundObject } from "./find-objects.ts";
import { cleanName, cleanType } from "./names.ts";
import type { Reader } from "./read-grants.ts";
import { release, reserve } from "./reserve.ts";
import { mayRemoveBytes, objectKey, putBytes, removeBytes, type Storage } from "./storage.ts";
import { lifetimeOf, reserveUpload, seconds } from "./upload-url.ts";

/** Strict: a misspelled name would leave a link open too long. */
const grantOptions = z.strictObject({
  ttlSeconds: seconds.default(300),
  disposition: oneOf(["inline", "attachment"]).default("inline"),
});

const visibilitySchema = oneOf(["private", "public"]);

const storeOptions = z.strictObject({
  name: z.string(must("a text")).optional(),
  visibility: visibilitySchema.optional(),
} satisfies ShapeOf<StoreOptions>);

/** The policies show callers their own objects, and the system all. A public object is found by its id alone. */
const find = {
  name: "svc_storage_find",
  text: 'select id, bytes_id as "bytesId", name, size, type, visibility, sha256 from svc.find_object($1)',
};

const findOwned = {
  name: "svc_storage_find_owned",
  text: "select id, name, size, type, visibility from svc.find_owned_object($1)",
};

export class CallStorage implements ContextStorage {
  readonly #storage: Storage;
  readonly #transaction: RequestTransaction;
  readonly #access: Access;
  /** Ids of bytes that were written. */
  readonly #stored: string[] = [];
  readonly #reserved: string[] = [];
  /** Reservations of files that failed. The handler may have caught the error, so that the call still succeeds. */
  readonly #unused: string[] = [];
  /** Ids of bytes whose rows were deleted. */
  readonly #deleted: string[] = [];
  /** Ids of objects that were changed or deleted. */
  readonly #changed: string[] = [];

  constructor(storage: Storage, transaction: RequestTransaction, access: Access) {
    this.#storage = storage;
    this.#transaction = transaction;
    this.#access = access;
  }

  async store(file: Blob, nameOrOptions: string | StoreOptions = {}): Promise<string> {
    if (!(file instanceof Blob)) throw invalidOption("store takes a File or a Blob; for bytes, use storeBuffer.");
    const given = typeof nameOrOptions === "string" ? { name: nameOrOptions } : nameOrOptions;
    const options = checkCallOptions("store", storeOptions, given);
    const name = options.name ?? (file instanceof File ? file.name : "file");
    const onDisk = readFormFile(file);
    const bytes = onDisk ?? file.stream();
    return this.#store(bytes, file.size, name, file.type, options.visibility, onDisk !== undefined);
  }

  async storeBuffer(buffer: Uint8Array | ArrayBuffer, name: string, mediaType: string): Promise<string> {
    const bytes = buffer instanceof ArrayBuffer ? new Uint8Array(buffer) : buffer;
    if (!(bytes instanceof Uint8Array))
      throw invalidOption("storeBuffer takes a Buffer, a Uint8Array or an ArrayBuffer.");
    return this.#store(Readable.from([bytes]), bytes.byteLength, name, mediaType);
  }

  async createReadGrant(id: string, options: { ttlSeconds?: number; disposition?: Disposition } = {}) {
    const { ttlSeconds, disposition } = checkCallOptions("createReadGrant", grantOptions, options);
    // The policies show callers their own objects, and the system all.
    const text = "select $1::uuid as id where svc.is_object_listed($1)";
    const { id: own } = await this.#row<{ id: string }>({ name: "svc_storage_own", text }, id);
    const expires = Math.ceil(Date.now() / 1000 + lifetimeOf(ttlSeconds, this.#transaction.identity));
    const grant = this.#storage.grants.sign(own, { issuer: this.#reader, disposition, expires });
    const url = `${this.getPublicUrl(own)}?grant=${grant}`;
    return { url, expiresAt: new Date(expires * 1000).toISOString() };
  }

  async createUploadUrl(options: UploadUrlOptions = {}): Promise<UploadUrl> {
    this.#requireWrite();
    return reserveUpload(this.#transaction, this.#storage, options, (id) => this.#reserved.push(id));
  }

  getPublicUrl(id: string): string {
    if (typeof id !== "string" || id === "") throw invalidOption("getPublicUrl takes the id of a stored file.");
    return `/api/storage/${encodeURIComponent(id)}`;
  }

  async setVisibility(id: string, visibility: StorageObject["visibility"]): Promise<void> {
    checkCallOptions("setVisibility: visibility", visibilitySchema, visibility);
    await this.#change(id, "select svc.set_object_visibility($1, $2) as it", [visibility]);
  }

  async getMeta(id: string): Promise<StorageObject> {
    const { sha256: _sha256, bytesId: _bytesId, ...meta } = await this.find(id);
    return meta;
  }

  async requireOwned(id: string): Promise<StorageObject> {
    return this.#row(findOwned, id);
  }

  /** Metadata of the caller's own objects and of public ones. @throws SvcError NOT_FOUND for all others */
  async find(id: string): Promise<FoundObject> {
    return this.#row(find, id);
  }

  async read(id: string, from = 0): Promise<Readable> {
    if (!Number.isInteger(from) || from < 0) throw invalidOption("read: from must be a whole number of bytes from 0.");
    const { bytesId, size } = await this.find(id);
    if (from > 0 && from >= size) return Readable.from([]);
    const range = from > 0 ? { start: from, end: size - 1 } : undefined;
    const bytes = await this.#storage.driver.read(objectKey(bytesId), range).catch((error) => {
      throw diskFailure(error);
    });
    if (!bytes) throw fileNotFound();
    return bytes;
  }

  async delete(id: string): Promise<void> {
    this.#deleted.push(await this.#change(id, "select svc.delete_object($1) as it"));
  }

  /**
   * After COMMIT: forgets what was known of changed files, and removes the bytes of deleted ones. The sweep later
   * removes those that fail here or that a backup needs.
   */
  async committed(): Promise<void> {
    for (const id of this.#changed.splice(0)) this.#storage.publicObjects.forget(id);
    await this.#release(this.#unused.splice(0));
    if (this.#deleted.length === 0) return;
    const may = await mayRemoveBytes(this.#storage).catch(() => false);
    if (may) await this.#remove(this.#deleted);
  }

  /** After ROLLBACK: removes the bytes that were written and frees the room that was reserved for them. */
  async rolledBack(): Promise<void> {
    await this.#remove(this.#stored);
    await this.#release(this.#reserved.splice(0));
  }

  /** The reader whose permissions the policies check. */
  get #reader(): Reader {
    const { role, userId } = this.#transaction.identity;
    if (role === "svc_system") return "system";
    return role === "svc_anonymous" ? "anonymous" : `user ${userId}`;
  }

  async #store(
    bytes: AsyncIterable<Uint8Array>,
    most: number,
    name: string,
    type: string,
    visibility: StorageObject["visibility"] = "private",
    reused = false,
  ): Promise<string> {
    this.#requireWrite();
    const file = { name: cleanName(String(name)), type: cleanType(String(type)), visibility, size: most };
    const id = await reserve(this.#storage, this.#transaction, file);
    this.#reserved.push(id);
    const bytesId = randomUUID();
    this.#stored.push(bytesId);
    try {
      const { size, sha256 } = await putBytes(this.#storage.driver, objectKey(bytesId), bytes, { reused });
      const text = "select svc.store_object($1, $2, $3, $4)";
      await this.#transaction.asLogin({ name: "svc_store_object", text }, [id, bytesId, size, sha256]);
    } catch (error) {
      this.#unused.push(id);
      throw diskFailure(error);
    }
    return id;
  }

  /** @returns the id that the function `it` returns @throws SvcError NOT_FOUND when that is null */
  async #change(id: string, text: string, values: unknown[] = []): Promise<string> {
    this.#requireWrite();
    const { it } = await this.#row<{ it: string | null }>({ text }, id, values);
    if (!it) throw fileNotFound();
    this.#changed.push(id);
    return it;
  }

  /** @throws SvcError NOT_FOUND when the statement finds no row, and for what is no id */
  async #row<Row>(statement: QueryConfig, id: string, values: unknown[] = []): Promise<Row> {
    const { rows } = isUuid(id) ? await this.#transaction.query(statement, [id, ...values]) : { rows: [] };
    if (!rows[0]) throw fileNotFound();
    return rows[0];
  }

  /** If this fails, the reservation expires. */
  async #release(ids: string[]): Promise<void> {
    await release(this.#storage, ids).catch((err) => {
      this.#storage.log.warn({ err }, "a storage reservation could not be released; it expires in an hour");
    });
  }

  #requireWrite(): void {
    requireWrite(this.#access, "change stored files");
  }

  async #remove(ids: string[]): Promise<void> {
    for (const id of ids.splice(0)) {
      await removeBytes(this.#storage, id).catch((err) => {
        this.#storage.log.warn({ err, storageId: id }, "bytes could not be removed; the sweep will remove them");
      });
    }
  }
}

const fileNotFound = () => new SvcError("NOT_FOUND", "This file does not exist, or you may not see it.");

/** Blames the caller, whose values these often are, or the handler. */
const invalidOption = (message: string) => new SvcError("BAD_REQUEST", message);
