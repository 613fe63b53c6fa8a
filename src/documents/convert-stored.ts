/**
 * `wf.services.document.convert`: converts a stored file as the run's user. The file is read in a separate transaction,
 * which ends before the conversion, so none stays open while a document is parsed. Stored results are reused, and a
 * conversion that another process is running is awaited.
 * Next hop: `convert.ts`, `conversion-cache.ts`.
 */
import { buffer } from "node:stream/consumers";
import { setTimeout as wait } from "node:timers/promises";
import type pg from "pg";
import { z } from "zod";
import type { Reservation } from "../ai/credits.ts";
import type { AiServices } from "../ai/services.ts";
import type { EffectiveConfig } from "../config/config.ts";
import { type ConvertOptions, type ConvertStoredInput, providers } from "../contract/documents.ts";
import { boolean, checkCallOptions, oneOf } from "../kit/options.ts";
import { SvcError } from "../kit/svc-error.ts";
import type { Fallback, TransactionLimits } from "../postgres/access.ts";
import type { Identity } from "../postgres/identity.ts";
import { RequestTransaction } from "../postgres/transaction.ts";
import { CallStorage } from "../storage/context.ts";
import type { Storage } from "../storage/storage.ts";
import {
  type Claim,
  claimConversion,
  conversionKey,
  findConversion,
  type KeptConversion,
  keepConversion,
} from "./conversion-cache.ts";
import { type Credits, convertDocument } from "./convert.ts";
import type { EngineProcesses } from "./engine-processes.ts";

/** What a conversion needs from the process. */
export interface ConversionRuntime {
  /** The pool for callers; the other one is the system's. */
  requestPool: pg.Pool;
  systemPool: pg.Pool;
  limits: TransactionLimits;
  /** Repeats a read that a standby failed. */
  fallback?: Fallback;
  storage: Storage;
  ai: AiServices;
  documents: EffectiveConfig["documents"] & { children: EngineProcesses };
}

const checkedLater = z.unknown().optional();

const optionsSchema = z.strictObject({
  ...{ storageId: checkedLater, filename: checkedLater, mimeType: checkedLater },
  ...{ corpus: checkedLater, visibility: checkedLater },
  provider: oneOf(["auto", ...providers]).optional(),
  mode: oneOf(["force-ocr", "force-external"]).optional(),
  // A text such as "false" would otherwise permit paid providers.
  paidFallback: boolean().optional(),
  maxServiceCredits: z
    .custom<number>((cap) => typeof cap === "number" && cap >= 0, "must be a number from 0")
    .optional(),
} satisfies Record<keyof ConvertStoredInput, z.ZodType>);

/** What a provider that answered is paid. */
interface Used {
  reservation: Reservation;
  amount: number;
}

/**
 * @param signal aborts the conversion: it rejects with the signal's reason, and nothing is stored
 * @throws SvcError BAD_REQUEST, NOT_FOUND for files that the user may not read, and the errors of `convertDocument`
 */
export async function convertStored(
  runtime: ConversionRuntime,
  identity: Identity,
  input: ConvertStoredInput,
  signal: AbortSignal,
): Promise<KeptConversion> {
  const { maxServiceCredits: cap } = checkCallOptions("convert", optionsSchema, input);
  const ownerId = identity.userId || null;
  for (let pause = 50; ; pause = Math.min(2 * pause, 1_000)) {
    const found = await look(runtime, identity, input);
    if ("conversionId" in found) return { conversionId: found.conversionId, creditsCharged: 0 };
    const { bytes, options, sha256, key, claim } = found;
    if (!claim) {
      // Another process converts the same file: wait for its result, or for its failure.
      await wait(pause, undefined, { signal }).catch(() => signal.throwIfAborted());
      continue;
    }
    const used: Used[] = [];
    try {
      const credits = creditsOf(runtime, ownerId, cap, used);
      const document = await convertDocument(bytes, options, { ...runtime.documents, credits, limits: { signal } });
      return await keepConversion(runtime.systemPool, ownerId, sha256, key, document, used);
    } catch (error) {
      // A refusal ends the conversion, and providers have answered with what is not readable. After other errors it is repeated.
      const isEnd = error instanceof SvcError;
      for (const { reservation, amount } of used) {
        const ending: Promise<unknown> = isEnd ? reservation.settleAmount(amount) : reservation.release();
        await ending.catch(() => {}); // without the database: the reservation expires
      }
      throw error;
    } finally {
      await claim.release();
    }
  }
}

interface Unconverted {
  /** Empty without a claim. */
  bytes: Buffer;
  options: ConvertOptions;
  sha256: string;
  key: string;
  /** Null while another process converts it. */
  claim: Claim | null;
}

/** Finds the stored result, or reads the bytes and claims the conversion. */
async function look(
  runtime: ConversionRuntime,
  identity: Identity,
  input: ConvertStoredInput,
): Promise<{ conversionId: string } | Unconverted> {
  const ownerId = identity.userId || null;
  const isSystem = identity.role === "svc_system";
  const pool = isSystem ? runtime.systemPool : runtime.requestPool;
  const fallback = isSystem ? undefined : runtime.fallback;
  const transaction = new RequestTransaction(pool, identity, "read", runtime.limits, fallback);
  let claim: Claim | null = null;
  try {
    const storage = new CallStorage(runtime.storage, transaction, "read");
    const { id, name, type, sha256 } = await storage.find(input.storageId);
    // Other formats are told by their bytes, and their results were stored without a type: some were paid for.
    const mimeType = input.mimeType ?? (type.startsWith("text/") ? type : "");
    const options = { ...input, filename: input.filename ?? name, mimeType };
    const key = conversionKey(options);
    const conversionId = await findConversion(runtime.systemPool, ownerId, sha256, key);
    if (!conversionId) claim = await claimConversion(runtime.systemPool, ownerId, sha256, key);
    const bytes = claim ? await buffer(await storage.read(id)) : Buffer.alloc(0);
    await transaction.commit();
    return conversionId ? { conversionId } : { bytes, options, sha256, key, claim };
  } catch (error) {
    await claim?.release();
    await transaction.rollback();
    throw error;
  }
}

/** The credits of the run's user. They are charged when the conversion ends, and `used` has what they are charged for. */
function creditsOf(
  { ai, documents }: ConversionRuntime,
  userId: string | null,
  cap = documents.defaultCap,
  used: Used[],
): Credits {
  return {
    async reserve(amount) {
      const request = { userId, operation: "document.convert", model: "hosted", estimate: { credits: amount }, cap };
      const reservation = await ai.credits.reserve(request);
      return { settle: async (amount) => used.push({ reservation, amount }), release: reservation.release };
    },
  };
}
