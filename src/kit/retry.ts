/**
 * `withRetry`: retries a failing operation with increasing delays. For calls that leave the process. Do not retry a
 * whole request with it (a mutation is one transaction); workflow steps have their own retries.
 */
import { setTimeout as sleep } from "node:timers/promises";

/** How often and how long. Attempts count from 1. */
export interface RetryOptions {
  /** Attempts in all, the first included; a whole number ≥ 1. (Default: 3) */
  maxAttempts?: number;
  /** Wait after the first failure, in milliseconds. (Default: 1000) */
  initialBackoffMs?: number;
  /** The longest wait, in milliseconds. (Default: 30000) */
  maxBackoffMs?: number;
  /** Each wait is this many times the one before; ≥ 1. (Default: 2) */
  base?: number;
  /** Whether to retry after this error. Not called after the last attempt. (Default: always) */
  shouldRetry?: (error: unknown, attempt: number) => boolean;
  /** Called before each wait with the error, the failed attempt, and the wait in milliseconds. (Default: none) */
  onRetry?: (error: unknown, attempt: number, delayMs: number) => void;
  /** Ends a wait, not a running attempt; the call then rejects with the signal's reason. (Default: none) */
  signal?: AbortSignal;
}

/** The longest timer, 24.8 days. Node fires a longer one after 1 ms. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * Runs `fn` until it succeeds, attempts run out, or `shouldRetry` returns false. The wait after attempt n is
 * `initialBackoffMs * base ** (n - 1)`, at most `maxBackoffMs`, without jitter.
 *
 * @param fn the operation; it gets the attempt's number, 1 first
 * @returns what `fn` returned
 * @throws the error of the last attempt, unchanged; the signal's reason when aborted; RangeError for invalid options;
 *   errors of `shouldRetry` or `onRetry`
 * @example
 * const rates = await withRetry(() => fetchRates(), { maxAttempts: 5, shouldRetry: (error) => isTemporary(error) });
 */
export async function withRetry<T>(fn: (attempt: number) => T | Promise<T>, options: RetryOptions = {}): Promise<T> {
  const { maxAttempts = 3, initialBackoffMs = 1000, maxBackoffMs = 30_000, base = 2, signal } = options;
  const { shouldRetry = () => true, onRetry } = options;
  check("maxAttempts", maxAttempts, Number.isInteger(maxAttempts) && maxAttempts >= 1, "a whole number, 1 or more");
  check("initialBackoffMs", initialBackoffMs, isDelay(initialBackoffMs), `milliseconds from 0 to ${MAX_TIMER_MS}`);
  check("maxBackoffMs", maxBackoffMs, isDelay(maxBackoffMs), `milliseconds from 0 to ${MAX_TIMER_MS}`);
  check("base", base, Number.isFinite(base) && base >= 1, "a finite number, 1 or more");

  for (let attempt = 1; ; attempt++) {
    signal?.throwIfAborted();
    try {
      return await fn(attempt);
    } catch (error) {
      if (attempt >= maxAttempts || !shouldRetry(error, attempt)) throw error;
      const delayMs = backoff(attempt, initialBackoffMs, maxBackoffMs, base);
      onRetry?.(error, attempt, delayMs);
      await wait(delayMs, signal);
    }
  }
}

function backoff(attempt: number, initialMs: number, maxMs: number, base: number): number {
  // The power overflows to Infinity after enough attempts: the maximum handles that, except for 0 * Infinity.
  return initialMs === 0 ? 0 : Math.min(initialMs * base ** (attempt - 1), maxMs);
}

async function wait(delayMs: number, signal: AbortSignal | undefined): Promise<void> {
  try {
    await sleep(delayMs, undefined, signal ? { signal } : {});
  } catch (error) {
    // The timer rejects with its own AbortError; the caller expects its signal's reason.
    signal?.throwIfAborted();
    throw error;
  }
}

const isDelay = (ms: number): boolean => Number.isFinite(ms) && ms >= 0 && ms <= MAX_TIMER_MS;

function check(name: string, value: unknown, valid: boolean, expected: string): void {
  if (!valid) throw new RangeError(`withRetry: ${name} must be ${expected}, not ${String(value)}.`);
}
