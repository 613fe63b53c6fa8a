/**
 * Credits: reserved before a paid call, settled after it. Reservations commit at once in SQL, so concurrent calls
 * cannot spend the same credits, and a call that rolls back is still charged.
 * Next hop: `sql/ai/reserve_credits.sql`.
 */
import type pg from "pg";
import type { EffectiveConfig } from "../config/config.ts";
import type { Usage } from "../contract/ai.ts";
import { SvcError } from "../kit/svc-error.ts";
import { sqlState } from "../postgres/errors.ts";

export interface Reservation {
  /** Of the ledger's row. */
  id: string;
  /** Charges the usage, at most the reserved amount. @returns the credits */
  settle(usage: Pick<Usage, "inputTokens" | "outputTokens">): Promise<number>;
  /** Charges the amount that the provider reports. @returns the credits */
  settleAmount(amount: number): Promise<number>;
  /** Charges nothing. */
  release(): Promise<void>;
}

export interface CreditRequest {
  /** Null for the system. */
  userId: string | null;
  /** For example `chat`. */
  operation: string;
  model: string;
  /** Maximum cost of the call, in tokens or in credits. */
  estimate: { inputTokens: number; outputTokens: number } | { credits: number };
  /** The cap of this request, in credits. (Default: `ai.creditsPerRequest` of the configuration) */
  cap?: number;
}

export interface Credits {
  /** @throws SvcError CREDIT_LIMIT_EXCEEDED, before a provider is called or anything charged */
  reserve(request: CreditRequest): Promise<Reservation>;
}

export function createCredits(pool: pg.Pool, config: EffectiveConfig["ai"]): Credits {
  /** Null: the model has no price. A reservation is refused then, and a settlement charges all that was reserved. */
  const price = async (model: string, { inputTokens, outputTokens }: Pick<Usage, "inputTokens" | "outputTokens">) => {
    const text = "select svc_private.price_of($1, $2, $3)::float8 as it";
    const { rows } = await pool.query({ name: "svc_price_of", text }, [model, inputTokens, outputTokens]);
    return rows[0].it as number | null;
  };
  return {
    async reserve({ userId, operation, model, estimate, cap = config.creditsPerRequest }) {
      const amount = "credits" in estimate ? estimate.credits : await price(model, estimate);
      const userCap = config.creditsPerUserPerDay === false ? null : config.creditsPerUserPerDay;
      const id = await reserve(pool, [userId, operation, model, amount, cap, userCap]);
      const settle = async (credits: number | null, input: number | null, output: number | null) => {
        const text = "select svc_private.settle_credits($1, $2, $3, $4)::float8 as it";
        const { rows } = await pool.query({ name: "svc_settle_credits", text }, [id, credits, input, output]);
        return Number(rows[0]?.it ?? 0);
      };
      return {
        id,
        settle: async (usage) => settle(await price(model, usage), usage.inputTokens, usage.outputTokens),
        settleAmount: (credits) => settle(credits, null, null),
        async release() {
          await pool.query({ name: "svc_release_credits", text: "select svc_private.release_credits($1)" }, [id]);
        },
      };
    },
  };
}

async function reserve(pool: pg.Pool, values: unknown[]): Promise<string> {
  const text = "select svc_private.reserve_credits($1, $2, $3, $4, $5, $6) as id";
  try {
    return (await pool.query({ name: "svc_reserve_credits", text }, values)).rows[0].id;
  } catch (error) {
    if (sqlState(error) !== "SV402") throw error;
    const { message, hint } = error as pg.DatabaseError;
    throw new SvcError("CREDIT_LIMIT_EXCEEDED", undefined, { hint: `${message}. ${hint}`, cause: error });
  }
}
