/** `ctx.storage` as handlers see it. `src/storage/context.ts` implements it. */
import type { Readable } from "node:stream";

export interface StoreOptions {
  /** What it is called. (Default: the file's own name, else "file") */
  name?: string;
  /** (Default: "private") */
  visibility?: StorageObject["visibility"];
}

export interface ContextStorage {
  /**
   * Stores a file as the caller's.
   *
   * @param nameOrOptions its name, or `{ name?, visibility? }`
   * @returns the storage id, a UUID
   * @throws SvcError QUERY_WROTE in a query; STORAGE_QUOTA_EXCEEDED
   */
  store(file: Blob, nameOrOptions?: string | StoreOptions): Promise<string>;
  /** Stores bytes as the caller's, private. @returns the storage id */
  storeBuffer(buffer: Uint8Array | ArrayBuffer, name: string, mediaType: string): Promise<string>;
  /**
   * A URL under which a private object can be read for a while by whoever has it, as long as the caller may see it.
   * Further parameters are appended with `&`.
   *
   * @param options `ttlSeconds` from 1 to 604800, a week (Default: 300); `disposition` says whether a browser shows or
   *   saves it (Default: "inline")
   * @throws SvcError NOT_FOUND for what does not exist or that no policy shows to the caller; that it is public is not
   *   enough
   */
  createReadGrant(
    id: string,
    options?: { ttlSeconds?: number; disposition?: Disposition },
  ): Promise<{ url: string; expiresAt: string }>;
  /**
   * A URL that takes one file, from whoever has it, as the caller's; for clients that do not sign in here. It may be used
   * once, and again only when what was sent broke off.
   *
   * @throws SvcError BAD_REQUEST for a value out of range; QUERY_WROTE in a query; STORAGE_QUOTA_EXCEEDED
   */
  createUploadUrl(options?: UploadUrlOptions): Promise<UploadUrl>;
  /** `/api/storage/<id>`, which answers as long as the object is public. */
  getPublicUrl(id: string): string;
  /** @throws SvcError NOT_FOUND for what does not exist or is not the caller's */
  setVisibility(id: string, visibility: StorageObject["visibility"]): Promise<void>;
  /** @throws SvcError NOT_FOUND for what does not exist or is not the caller's to see */
  getMeta(id: string): Promise<StorageObject>;
  /**
   * As `getMeta`, of the caller's own objects alone: for an id that a client sends in order to share the file with others.
   * The system owns every object. @throws SvcError NOT_FOUND also for what others have made public or have shown
   */
  requireOwned(id: string): Promise<StorageObject>;
  /** The bytes. @throws SvcError NOT_FOUND for what does not exist or is not the caller's to see */
  read(id: string): Promise<Readable>;
  /** Deletes the object and everything made of it. @throws SvcError NOT_FOUND as `setVisibility` */
  delete(id: string): Promise<void>;
}

/** What is known of an object. */
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
  /** What the file will be called. (Default: "file") */
  name?: string;
  /** Its media type, whatever the sender says. (Default: "application/octet-stream") */
  type?: string;
  /** The most that may be sent. (Default: `limits.uploadBytes`) */
  maxBytes?: number;
  /** From 1 to 604800, a week. (Default: 3600) */
  ttlSeconds?: number;
  /** (Default: "private") */
  visibility?: StorageObject["visibility"];
}

export interface UploadUrl {
  /** Of the file, once it has arrived. */
  id: string;
  /** Takes one `PUT` of the file's bytes, without further credentials. */
  url: string;
  expiresAt: string;
}
