/** `context.rateLimit`: limits of the application, counted for all processes together. Next hop: `src/call/rate-limit.ts`. */
import type { Duration } from "../kit/duration.ts";

export interface RateLimit {
  /** How many calls a window takes: 1 to 1,000,000. */
  calls: number;
  /** How long a window lasts: 1 second to 31 days, such as "10 minutes". It begins with its first call. */
  per: Duration;
  /** Whose calls are counted, such as an e-mail address or the id of an organization. (Default: those of the caller) */
  by?: string | undefined;
}

/**
 * Counts a call under a limit, at once: it stays counted when the call fails. A refused one is not counted.
 *
 * @param name of the limit. All calls with it and with a window of the same length are counted together
 * @throws SvcError RATE_LIMITED when the limit is reached, with the seconds until the window ends
 */
export type CountCall = (name: string, limit: RateLimit) => Promise<void>;
