/**
 * Conversions that are kept: the same bytes with the same options are converted once for each owner, and a run's checkpoint
 * names the result instead of holding it.
 * Next hop: `sql/documents/`.
 */
import { createHash } from "node:crypto";
import { extname } from "node:path";
import type pg from "pg";
import type { ConvertedDocument, ConvertOptions } from "../contract/documents.ts";

/** What the checkpoint of a conversion holds. */
export interface KeptConversion {
  conversionId: string;
  /** By this conversion; 0 when the result was there already. */
  creditsCharged: number;
}

/** Raised when converters give other results than before: what was kept is then not found any more. */
const generation = 1;

/** What decides the result beside the bytes. Of the name only what tells the format. */
export function conversionKey(options: ConvertOptions): string {
  const { filename = "", mimeType = "", provider = "auto", mode = null, paidFallback = false } = options;
  const parts = [generation, extname(filename).toLowerCase(), mimeType, provider, mode, paidFallback];
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex");
}

/** @param ownerId null for what runs as the system, or as nobody */
export async function findConversion(pool: pg.Pool, ownerId: string | null, sha256: string, key: string) {
  const { rows } = await pool.query("select svc_private.find_conversion($1, $2, $3) as id", [ownerId, sha256, key]);
  return rows[0].id as string | null;
}

/** A conversion that this process does, and nobody else. */
export interface Claim {
  /** Ends it without a result: those that wait convert the file themselves. Does nothing once there is a result. */
  release(): Promise<void>;
}

/** Milliseconds. Of a process that died the claim ends after them; one that lives renews it three times as often. */
const held = 30_000;

/** @returns null while somebody else converts the same, or when the result is there by now */
export async function claimConversion(
  pool: pg.Pool,
  ownerId: string | null,
  sha256: string,
  key: string,
): Promise<Claim | null> {
  const { rows } = await pool.query("select svc_private.claim_conversion($1, $2, $3, $4) as claim", [
    ownerId,
    sha256,
    key,
    `${held} milliseconds`,
  ]);
  const { claim } = rows[0];
  if (claim === null) return null;
  const renew = () => pool.query("select svc_private.renew_claim($1, $2)", [claim, `${held} milliseconds`]);
  // Where the database is away, the claim may run out: then somebody converts it once more, and no more than that.
  const renewing = setInterval(() => void renew().catch(() => {}), held / 3).unref();
  return {
    async release() {
      clearInterval(renewing);
      // Where this fails, the claim runs out.
      await pool.query("select svc_private.release_claim($1)", [claim]).catch(() => {});
    },
  };
}

export async function keepConversion(
  pool: pg.Pool,
  ownerId: string | null,
  sha256: string,
  key: string,
  result: ConvertedDocument,
) {
  const { rows } = await pool.query("select svc_private.keep_conversion($1, $2, $3, $4) as id", [
    ownerId,
    sha256,
    key,
    JSON.stringify(result),
  ]);
  return rows[0].id as string;
}

/** @returns null when it was swept: it was not used for a month */
export async function readConversion(
  pool: pg.Pool,
  ownerId: string | null,
  { conversionId, creditsCharged }: KeptConversion,
): Promise<ConvertedDocument | null> {
  const { rows } = await pool.query("select svc_private.read_conversion($1, $2) as result", [conversionId, ownerId]);
  return rows[0].result && { ...rows[0].result, creditsCharged };
}
