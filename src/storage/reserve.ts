/**
 * Reserves room for a file before its bytes come: SQL counts the quotas and chooses the ids (`sql/storage/`). A
 * reservation commits at once, so that concurrent calls see each other's. Files of the system have no quota and
 * belong to their own transaction.
 * Next hop: `sql/storage/reserve_upload.sql`.
 */
import type { StorageObject } from "../contract/storage.ts";
import { SvcError } from "../kit/svc-error.ts";
import { runStatement } from "../postgres/run-statement.ts";
import type { RequestTransaction } from "../postgres/transaction.ts";
import type { Storage, UploadLimits } from "./storage.ts";

/** Maximum time from the reservation to the call's COMMIT. */
const lifetime = "1 hour";

/** The quotas of a caller, as the last arguments of the SQL functions; null means no limit. */
export const quotasOf = (limits: UploadLimits, userId: string | null): (number | null)[] => [
  (userId === null ? limits.storageBytesAnonymous : limits.storageBytesPerUser) || null,
  limits.storageBytes || null,
];

/**
 * @param file its size is the maximum
 * @returns the id of the reservation, later of the file
 * @throws SvcError STORAGE_QUOTA_EXCEEDED
 */
export async function reserve(
  { pool, limits }: Pick<Storage, "pool" | "limits">,
  transaction: RequestTransaction,
  { name, type, visibility, size }: Omit<StorageObject, "id">,
): Promise<string> {
  const { role, userId } = transaction.identity;
  const [isSystem, owner] = [role === "svc_system", userId || null];
  const text = "select id, refused from svc_private.reserve_upload($1, $2, 'call', $3, $4, $5, $6, $7, 0, $8, $9)";
  const quotas = isSystem ? [null, null] : quotasOf(limits, owner);
  const values = [isSystem ? null : owner, isSystem, name, type, visibility, size, lifetime, ...quotas];
  const question = { name: "svc_reserve_upload", text, values };
  const rows = isSystem ? (await transaction.query(question)).rows : await runStatement<Reserved>(pool, question);
  return requireRoom(rows[0] as Reserved, limits, owner).id;
}

/** The result of the SQL functions. */
export interface Reserved {
  id: string;
  refused: "unfinished" | "quota" | "total" | null;
}

/** @throws SvcError RATE_LIMITED when too many uploads are unfinished, STORAGE_QUOTA_EXCEEDED when there is no room */
export function requireRoom<Row extends Reserved>(reserved: Row, limits: UploadLimits, userId: string | null): Row {
  if (reserved.refused === null) return reserved;
  if (reserved.refused === "unfinished") {
    throw new SvcError("RATE_LIMITED", "Too many uploads are unfinished.", {
      hint: `Finish or delete one first: ${limits.uploadsPerUser} may be under way.`,
    });
  }
  if (reserved.refused === "total") {
    throw new SvcError("STORAGE_QUOTA_EXCEEDED", "This service has no room for more files.", {
      hint: "Its operator sets limits.storageBytes.",
    });
  }
  const limit = userId === null ? "storageBytesAnonymous" : "storageBytesPerUser";
  throw new SvcError("STORAGE_QUOTA_EXCEEDED", undefined, {
    hint: `At most ${limits[limit]} bytes: delete files first. The operator sets limits.${limit}.`,
  });
}

/** Releases reservations that a failed call did not use. */
export async function release({ pool }: Pick<Storage, "pool">, ids: readonly string[]): Promise<void> {
  if (ids.length > 0) await runStatement(pool, { text: "select svc_private.release_reservations($1)", values: [ids] });
}
