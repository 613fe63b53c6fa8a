/** Runs a paid call, from its reservation to its settlement. Next hop: `credits.ts`. */
import type { Message, Usage } from "../contract/ai.ts";
import { SvcError } from "../kit/svc-error.ts";
import type { AiCall } from "./call.ts";
import type { CreditRequest, Reservation } from "./credits.ts";
import { providerFailed, type TokenCount } from "./provider.ts";

/** The cost of an answer. */
export interface Billing {
  usage: Usage;
  creditsCharged: number;
  model: string;
}

/**
 * Reserves, works, and releases the reservation when the work fails.
 *
 * @param work gets a signal that aborts at its end, for `signalFor`
 */
export async function paid<T>(
  call: Pick<AiCall, "services" | "userId">,
  request: Omit<CreditRequest, "userId">,
  work: (reservation: Reservation, over: AbortSignal) => Promise<T>,
): Promise<T> {
  const reservation = await call.services.credits.reserve({ userId: call.userId, ...request });
  const over = new AbortController();
  try {
    return await work(reservation, over.signal);
  } catch (error) {
    await reservation.release();
    throw error;
  } finally {
    over.abort();
  }
}

/**
 * The model of a call: the given one, which may come from the caller, or that of the configuration. Its name is stored
 * in the ledger.
 *
 * @throws SvcError BAD_REQUEST
 */
export function modelOf(given: unknown, configured: string): string {
  const model = given ?? configured;
  if (typeof model === "string" && /^[^\p{Cc}\p{Cs}]{1,256}$/u.test(model)) return model;
  throw new SvcError("BAD_REQUEST", "model must be a name of 1 to 256 characters.");
}

/** In milliseconds: a call ends before its reservation expires (15 minutes, `sql/ai/reserve_credits.sql`). */
const longestCall = 14 * 60_000;

/**
 * The caller's signal, plus a timeout for three attempts and the waits between them.
 *
 * @param over aborts when the call has ended: a timer keeps what belongs to the request that started it
 */
export function signalFor(
  { services }: Pick<AiCall, "services">,
  given: AbortSignal | undefined,
  over: AbortSignal,
): AbortSignal {
  const limit = new AbortController();
  const end = () => limit.abort(providerFailed("it did not end in time"));
  const timer = setTimeout(end, Math.min(services.config.timeoutMs * 3 + 60_000, longestCall)).unref();
  over.addEventListener("abort", () => clearTimeout(timer), { once: true });
  return given ? AbortSignal.any([given, limit.signal]) : limit.signal;
}

/** A token is about four bytes of most texts; dividing by three overestimates, to stay below the cap. */
export const tokensOf = (text: string) => Math.ceil(Buffer.byteLength(text) / 3);

export function tokensOfMessages(system: string | undefined, messages: Message[]): number {
  let tokens = tokensOf(system ?? "") + 8 * (messages.length + 1);
  for (const { content } of messages) {
    const parts = typeof content === "string" ? [{ type: "text" as const, text: content }] : content;
    for (const part of parts) tokens += part.type === "text" ? tokensOf(part.text) : 2000;
  }
  return tokens;
}

export function totalled({ inputTokens, outputTokens }: TokenCount): { usage: Usage } {
  return { usage: { inputTokens, outputTokens, totalTokens: inputTokens + outputTokens } };
}
