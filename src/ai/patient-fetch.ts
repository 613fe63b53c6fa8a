/**
 * `fetch` for providers: with a timeout, a limit on the answer's size, and retries when the provider is busy or cannot be
 * reached. Obeys Retry-After up to half a minute.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { limitAnswer } from "../kit/limit-answer.ts";
import { withRetry } from "../kit/retry.ts";
import { retryAfter } from "../kit/retry-after.ts";
import { providerFailed } from "./provider.ts";

const maxAttempts = 3;
/** In milliseconds. */
const longestWait = 30_000;

const worthAnother = (status: number) => status === 408 || status === 429 || status >= 500;

export const mebibyte = 1024 * 1024;

/** In bytes: an answer of this size is not a text or a recording for one call. */
export const largestAnswer = 32 * mebibyte;

/** The provider was unreachable or busy, so the call may be retried. */
class Busy extends Error {
  override readonly name = "Busy";
}

/**
 * @param timeoutMs of each attempt with its answer, in milliseconds; of a stream, until its first piece
 * @param most bytes of the answer, of a stream too. (Default: 33554432, 32 MiB)
 * @throws SvcError PROVIDER_FAILED when all attempts failed, and where a larger answer is read; the signal's reason when aborted
 */
export function patientFetch(timeoutMs: number, most = largestAnswer): typeof globalThis.fetch {
  const tooLarge = () => providerFailed(`its answer is larger than ${Math.ceil(most / mebibyte)} MiB`);
  return async (url, init = {}) => {
    const outer = init.signal ?? undefined;
    let asked = 0;
    const attempt = async () => {
      const wait = Math.min(asked, longestWait);
      asked = 0;
      if (wait > 0) await sleep(wait, undefined, { signal: outer }).catch(() => outer?.throwIfAborted());
      const limit = new AbortController();
      const timer = setTimeout(() => limit.abort(providerFailed("it did not answer in time")), timeoutMs).unref();
      const end = () => clearTimeout(timer); // a timer keeps what belongs to the request that started it
      const signal = AbortSignal.any([limit.signal, ...(outer ? [outer] : [])]);
      // Redirects are not followed: another address would receive the key and the prompt.
      const response = await fetch(url, { ...init, signal, redirect: "manual" }).catch(() => {
        end();
        if (outer?.aborted) throw outer.reason;
        throw new Busy(limit.signal.aborted ? "it did not answer in time" : "it could not be reached");
      });
      if (response.status >= 300 && response.status < 400) {
        end();
        await response.body?.cancel(); // otherwise it holds a connection until the provider closes it
        throw providerFailed("it sent the call to another address");
      }
      // A stream may take long once it has begun; its reader decides when it ends.
      const isStream = response.headers.get("content-type")?.startsWith("text/event-stream");
      if (!worthAnother(response.status)) return limitAnswer(response, most, tooLarge, isStream ? end : undefined, end);
      end();
      await response.body?.cancel();
      asked = retryAfter(response.headers.get("retry-after")) ?? 0;
      throw new Busy(`it answered ${response.status}`);
    };
    try {
      const shouldRetry = (error: unknown) => error instanceof Busy;
      return await withRetry(attempt, {
        maxAttempts,
        initialBackoffMs: 250,
        shouldRetry,
        ...(outer && { signal: outer }),
      });
    } catch (error) {
      if (error instanceof Busy) throw providerFailed(`${error.message}, after ${maxAttempts} attempts`);
      throw error;
    }
  };
}
