/** `ctx.storage` as handlers see it. `src/storage/context.ts` implements it. */
import type { Readable } from "node:stream";

export interface StoreOptions {
  /** The stored name. (Default: the file's own name, else "file") */
  name?: string;
  /** (Default: "private") */
  visibility?: StorageObject["visibility"];
}

export interface ContextStorage {
  /**
   * Stores a file, owned by the caller.
   *
   * @param nameOrOptions its name, or `{ name?, visibility? }`
   * @returns the storage id, a UUID
   * @throws SvcError QUERY_WROTE in a query; STORAGE_QUOTA_EXCEEDED
   */
  store(file: Blob, nameOrOptions?: string | StoreOptions): Promise<string>;
  /** Stores bytes as a private object of the caller. @returns the storage id */
  storeBuffer(buffer: Uint8Array | ArrayBuffer, name: string, mediaType: string): Promise<string>;
  /**
   * A temporary URL of a private object. Anyone who has the URL can read the object, as long as the caller may see it.
   * Append further parameters with `&`.
   *
   * @param options `ttlSeconds` from 1 to 604800, a week (Default: 300); `disposition`: whether a browser shows or
   *   saves the file (Default: "inline")
   * @throws SvcError NOT_FOUND if the object does not exist or no policy shows it to the caller; being public is not enough
   */
  createReadGrant(
    id: string,
    options?: { ttlSeconds?: number; disposition?: Disposition },
  ): Promise<{ url: string; expiresAt: string }>;
  /**
   * A URL for one upload without sign-in. The file belongs to the caller. It may be used once, and again only if the
   * upload was interrupted.
   *
   * @throws SvcError BAD_REQUEST for a value out of range; QUERY_WROTE in a query; STORAGE_QUOTA_EXCEEDED
   */
  createUploadUrl(options?: UploadUrlOptions): Promise<UploadUrl>;
  /** `/api/storage/<id>`, which works while the object is public. */
  getPublicUrl(id: string): string;
  /** @throws SvcError NOT_FOUND if the object does not exist or is not the caller's */
  setVisibility(id: string, visibility: StorageObject["visibility"]): Promise<void>;
  /** @throws SvcError NOT_FOUND if the object does not exist or is not visible to the caller */
  getMeta(id: string): Promise<StorageObject>;
  /**
   * As `getMeta`, but only for the caller's own objects: checks an id that a client sends in order to share the file.
   * The system owns every object.
   *
   * @throws SvcError NOT_FOUND also for objects that others have made public or shared
   */
  requireOwned(id: string): Promise<StorageObject>;
  /**
   * The bytes.
   *
   * @param from the first byte. (Default: 0)
   * @throws SvcError NOT_FOUND if the object does not exist or is not visible to the caller; BAD_REQUEST for an invalid `from`
   */
  read(id: string, from?: number): Promise<Readable>;
  /** Deletes the object and everything derived from it. @throws SvcError NOT_FOUND as `setVisibility` */
  delete(id: string): Promise<void>;
}

/** The metadata of an object. */
export interface StorageObject {
  id: string;
  name: string;
  /** In bytes. */
  size: number;
  /** The media type that its uploader stated. */
  type: string;
  visibility: "private" | "public";
}

export type Disposition = "inline" | "attachment";

export interface UploadUrlOptions {
  /** The name of the stored file. (Default: "file") */
  name?: string;
  /** Its media type, which overrides the sender's. (Default: "application/octet-stream") */
  type?: string;
  /** The largest upload. (Default: `limits.uploadBytes`) */
  maxBytes?: number;
  /** From 1 to 604800, a week. (Default: 3600) */
  ttlSeconds?: number;
  /** (Default: "private") */
  visibility?: StorageObject["visibility"];
}

export interface UploadUrl {
  /** The file's id, valid once it has arrived. */
  id: string;
  /** Accepts one `PUT` of the file's bytes, without further credentials. */
  url: string;
  expiresAt: string;
}
