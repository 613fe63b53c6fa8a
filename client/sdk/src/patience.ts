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
  throwIfAborted(signal);
  const controller = new AbortController();
  const end = () => abort(controller, reasonOf(signal));
  signal?.addEventListener("abort", end);
  const late = () =>
    abort(
      controller,
      new SvcError("TIMEOUT", `No answer within ${timeoutMs} ms.`, { hint: "Raise timeoutMs, or retry." }),
    );
  const timer = timeoutMs < longest ? setTimeout(late, timeoutMs) : undefined;
  try {
    return await run(controller.signal);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", end);
  }
}

/** As that of a browser. React Native has no `DOMException`. */
export const abortError = () => Object.assign(new Error("Nobody waits."), { name: "AbortError" });

const reasonOf = (signal: AbortSignal | undefined): unknown => signal?.reason ?? abortError();

/** Aborts with a reason. Signals of React Native 0.86 and older do not keep it, and have no `throwIfAborted`. */
export function abort(controller: AbortController, reason: unknown): void {
  if (!("reason" in controller.signal)) Object.assign(controller.signal, { reason });
  controller.abort(reason);
}

/** @throws the signal's reason */
export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw reasonOf(signal);
}

/** Failures that a retry may resolve: there was no answer, or the service is busy. */
const passing = /^(NETWORK_ERROR|UNAVAILABLE|RATE_LIMITED|INVALID_ANSWER|OUTCOME_UNKNOWN)$/;

/** Repeats a read, or a mutation with an idempotency key. @param retries after the first try */
export async function withRetries<T>(retries: number, signal: AbortSignal, run: () => Promise<T>): Promise<T> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await run();
    } catch (error) {
      if (attempt >= retries || !(error instanceof SvcError) || !passing.test(error.code)) throw error;
      // Jitter, so that clients stopped by one outage do not retry at the same moment.
      const seconds = error.retryAfter ?? 0.2 * 2 ** attempt * (0.5 + Math.random());
      await sleep(seconds * 1000, signal);
    }
  }
}

function sleep(ms: number, signal: AbortSignal): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const end = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, Math.min(ms, longest));
  });
  return orAbort(end, signal).finally(() => clearTimeout(timer));
}

/** Waits for a promise, which others may share, until this call's own end. */
export function orAbort<T>(shared: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const end = () => reject(signal.reason);
    if (signal.aborted) return end();
    signal.addEventListener("abort", end);
    shared.then(resolve, reject).finally(() => signal.removeEventListener("abort", end));
  });
}

/** Whether asking again later may go better: nothing is wrong with the question, or the service says so. */
export function passes(error: unknown): boolean {
  const { status, retryAfter } = error instanceof SvcError ? error : { status: 0, retryAfter: undefined };
  return status < 400 || status >= 500 || status === 429 || retryAfter !== undefined;
}
