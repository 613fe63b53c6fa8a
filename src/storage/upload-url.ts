/**
 * What a call reserves for a signed upload URL. The row is part of the call's transaction: no URL outlives a call that
 * failed. The token is in the URL alone; the database keeps its hash.
 * Next hop: `upload-route.ts` takes what is sent there.
 */
import { randomBytes, randomUUID } from "node:crypto";
import { SvcError } from "../errors/svc-error.ts";
import type { RequestTransaction } from "../postgres/transaction.ts";
import { cleanName, cleanType } from "./names.ts";
import type { StorageObject } from "./storage.ts";
import { sha256Of } from "./uploads.ts";

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

/** In seconds: a week. */
const longest = 604_800;

/** @throws SvcError BAD_REQUEST for a value out of range */
export async function reserveUpload(
  transaction: RequestTransaction,
  limit: number,
  options: UploadUrlOptions,
): Promise<UploadUrl> {
  const { name = "file", type = "", maxBytes = limit, ttlSeconds = 3600, visibility = "private" } = options;
  if (!Number.isInteger(maxBytes) || maxBytes < 1 || maxBytes > limit) {
    throw wrong(`maxBytes must be a whole number of bytes from 1 to ${limit}.`);
  }
  if (!Number.isFinite(ttlSeconds) || ttlSeconds < 1 || ttlSeconds > longest) {
    throw wrong(`ttlSeconds must be a number of seconds from 1 to ${longest}.`);
  }
  const id = randomUUID();
  const token = randomBytes(32).toString("base64url");
  const expiresAt = new Date(Date.now() + ttlSeconds * 1000).toISOString();
  await transaction.query(
    {
      text:
        "insert into svc.storage_uploads (id, user_id, name, type, visibility, size, token_sha256, expires_at) " +
        "values ($1, svc.current_user_id(), $2, $3, $4, $5, $6, $7)",
    },
    [id, cleanName(String(name)), cleanType(String(type)), visibility, maxBytes, sha256Of(token), expiresAt],
  );
  return { id, url: `/api/storage/uploads/${id}?token=${token}`, expiresAt };
}

const wrong = (message: string) => new SvcError("BAD_REQUEST", `createUploadUrl: ${message}`);
