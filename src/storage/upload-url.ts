/**
 * Reserves a signed upload URL for a call. Room is reserved first; the URL becomes usable when the call's transaction
 * commits, so a failed call leaves none. Only the URL contains the token; the database keeps its hash.
 * Next hop: `reserve.ts`, `sql/storage/open_upload_url.sql`; `upload-route.ts` takes what is sent there.
 */
import { randomBytes } from "node:crypto";
import { z } from "zod";
import type { UploadUrl, UploadUrlOptions } from "../contract/storage.ts";
import { checkCallOptions, integer, must, number, oneOf, type ShapeOf } from "../kit/options.ts";
import { SvcError } from "../kit/svc-error.ts";
import type { Identity } from "../postgres/identity.ts";
import type { RequestTransaction } from "../postgres/transaction.ts";
import { cleanName, cleanType } from "./names.ts";
import { reserve } from "./reserve.ts";
import type { Storage } from "./storage.ts";
import { sha256Of } from "./uploads.ts";

/** Up to a week. */
export const seconds = number(1, 604_800, "a number of seconds from 1 to 604800");

/** In seconds. A link outlives the session of its maker, and should not outlive the visit of an administrator. */
const mostInVisit = 300;

/** The lifetime of a link, in seconds. */
export const lifetimeOf = (ttlSeconds: number, { isVisit }: Pick<Identity, "isVisit">): number =>
  isVisit ? Math.min(ttlSeconds, mostInVisit) : ttlSeconds;

const optionsSchema = z.strictObject({
  name: z.string(must("a text")).default("file"),
  type: z.string(must("a media type")).default(""),
  maxBytes: integer(1).optional(),
  ttlSeconds: seconds.default(3600),
  visibility: oneOf(["private", "public"]).default("private"),
} satisfies ShapeOf<UploadUrlOptions>);

/**
 * @param reserved receives the id of the reservation, to release it when the call fails
 * @throws SvcError BAD_REQUEST for a value out of range, STORAGE_QUOTA_EXCEEDED, FORBIDDEN where a policy refuses the file
 */
export async function reserveUpload(
  transaction: RequestTransaction,
  storage: Storage,
  options: UploadUrlOptions,
  reserved: (id: string) => void,
): Promise<UploadUrl> {
  const limit = storage.limits.uploadBytes;
  const { maxBytes = limit, ...given } = checkCallOptions("createUploadUrl", optionsSchema, options);
  if (maxBytes > limit) {
    throw new SvcError("BAD_REQUEST", `createUploadUrl: maxBytes: must be a whole number of bytes from 1 to ${limit}`);
  }
  const { ttlSeconds, visibility } = given;
  const file = { name: cleanName(given.name), type: cleanType(given.type), visibility, size: maxBytes };
  const id = await reserve(storage, transaction, file);
  reserved(id);
  const token = randomBytes(32).toString("base64url");
  const text = "select svc.open_upload_url($1, $2, make_interval(secs => $3)) as expires_at";
  const values = [id, sha256Of(token), lifetimeOf(ttlSeconds, transaction.identity)];
  const { rows } = await transaction.asLogin({ name: "svc_open_upload_url", text }, values);
  return { id, url: `/api/storage/uploads/${id}?token=${token}`, expiresAt: rows[0].expires_at.toISOString() };
}
