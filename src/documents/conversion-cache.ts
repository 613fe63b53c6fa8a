/**
 * Stores conversions: for each owner the same bytes with the same options are converted once, and a run's checkpoint
 * refers to the result.
 * Next hop: `sql/documents/`.
 */
import { createHash } from "node:crypto";
import { extname } from "node:path";
import type pg from "pg";
import type { Reservation } from "../ai/credits.ts";
import type { ConvertedDocument, ConvertOptions } from "../contract/documents.ts";

/** The content of a conversion's checkpoint. */
export interface KeptConversion {
  conversionId: string;
  /** Charged by this conversion; 0 when the result was already stored. */
  creditsCharged: number;
}

/** Increased when converters change their results: stored results are then no longer found. */
const generation = 5;

/** Everything that decides the result beside the bytes. Of the file name, only what determines the format. */
export function conversionKey(options: ConvertOptions): string {
  const { filename = "", mimeType = "", provider = "auto", mode = null, paidFallback = false } = options;
  const parts = [generation, extname(filename).toLowerCase(), mimeType, provider, mode, paidFallback];
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex");
}

/** What one of the functions of `sql/documents/` returns. */
async function ask<Result>(pool: pg.Pool, call: string, ...values: unknown[]): Promise<Result> {
  return (await pool.query(`select svc_private.${call} as it`, values)).rows[0].it;
}

/** @param ownerId null for the system and for anonymous runs */
export const findConversion = (pool: pg.Pool, ownerId: string | null, sha256: string, key: string) =>
  ask<string | null>(pool, "find_conversion($1, $2, $3)", ownerId, sha256, key);

/** The exclusive right to convert a file. */
export interface Claim {
  /** Ends the claim without a result, so that waiting calls convert the file. Does nothing after a result. */
  release(): Promise<void>;
}

/** Milliseconds. The claim of a dead process expires after this time; a living process renews it three times as often. */
const held = 30_000;

/** @returns null while another process converts the same, or when the result exists by now */
export async function claimConversion(
  pool: pg.Pool,
  ownerId: string | null,
  sha256: string,
  key: string,
): Promise<Claim | null> {
  const time = `${held} milliseconds`;
  const claim = await ask<string | null>(pool, "claim_conversion($1, $2, $3, $4)", ownerId, sha256, key, time);
  if (claim === null) return null;
  const renew = () => ask(pool, "renew_claim($1, $2)", claim, time);
  // While the database is unreachable the claim may expire. Then the file is converted twice, and charged once.
  const renewing = setInterval(() => void renew().catch(() => {}), held / 3).unref();
  return {
    async release() {
      clearInterval(renewing);
      // If this fails, the claim expires.
      await ask(pool, "release_claim($1)", claim).catch(() => {});
    },
  };
}

/** Stores the result and charges its cost, both or neither; charges nothing when the result was already stored. */
export async function keepConversion(
  pool: pg.Pool,
  ownerId: string | null,
  sha256: string,
  key: string,
  result: ConvertedDocument,
  used: { reservation: Pick<Reservation, "id">; amount: number }[],
): Promise<KeptConversion> {
  const text = `select conversion_id as "conversionId", charged::float8 as "creditsCharged"
    from svc_private.keep_conversion($1, $2, $3, $4, $5)`;
  const charges = used.map(({ reservation: { id }, amount }) => ({ id, amount }));
  const { rows } = await pool.query(text, [ownerId, sha256, key, JSON.stringify(result), JSON.stringify(charges)]);
  return rows[0];
}

/** @returns null when it was removed after a month without use */
export async function readConversion(
  pool: pg.Pool,
  ownerId: string | null,
  { conversionId, creditsCharged }: KeptConversion,
): Promise<ConvertedDocument | null> {
  const result = await ask<ConvertedDocument | null>(pool, "read_conversion($1, $2)", conversionId, ownerId);
  return result && { ...result, creditsCharged };
}
