/** How long a call waits, and when it tries again. */
import { SvcError } from "./error.ts";

/** In milliseconds. Longer waits make timers fire at once. */
const longest = 2 ** 31 - 1;

/**
 * Runs a function with a timeout.
 *
 * @param timeoutMs in milliseconds; Infinity means no timeout
 * @param signal    the caller's signal
 * @param run       gets a signal that combines both
 */
export async function withDeadline<T>(
  timeoutMs: number,
  signal: AbortSignal | undefined,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const abort = () => controller.abort(signal?.reason);
  if (signal?.aborted) abort();
  signal?.addEventListener("abort", abort);
  const late = () =>
    controller.abort(
      new SvcError("TIMEOUT", `No answer within ${timeoutMs} ms.`, { hint: "Raise timeoutMs, or retry." }),
    );
  const timer = timeoutMs < longest ? setTimeout(late, timeoutMs) : undefined;
  try {
    controller.signal.throwIfAborted();
    return await run(controller.signal);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", abort);
  }
}

/** Failures that a retry may resolve: there was no answer, or the service is busy. */
const passing: ReadonlySet<string> = new Set(["NETWORK_ERROR", "UNAVAILABLE", "RATE_LIMITED", "INVALID_ANSWER"]);

/** Repeats a read. @param retries after the first try */
export async function withRetries<T>(retries: number, signal: AbortSignal, run: () => Promise<T>): Promise<T> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await run();
    } catch (error) {
      if (attempt >= retries || !(error instanceof SvcError) || !passing.has(error.code)) throw error;
      // Jitter, so that clients stopped by one outage do not retry at the same moment.
      const delay = 200 * 2 ** attempt * (0.5 + Math.random());
      await sleep(error.retryAfter === undefined ? delay : error.retryAfter * 1000, signal);
    }
  }
}

function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      if (signal.aborted) reject(signal.reason);
      else resolve();
    };
    const timer = setTimeout(end, Math.min(ms, longest));
    signal.addEventListener("abort", end);
    if (signal.aborted) end();
  });
}

/** Whether asking again later may go better: nothing is wrong with the question, or the service says so. */
export function passes(error: unknown): boolean {
  const { status, retryAfter } = error instanceof SvcError ? error : { status: 0, retryAfter: undefined };
  return status < 400 || status >= 500 || status === 429 || retryAfter !== undefined;
}
