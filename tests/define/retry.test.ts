/** If these fail, an application overloads a failing service with retries, or gives up too early. */
import { describe, expect, it } from "vitest";
import { type RetryOptions, withRetry } from "../../src/kit/retry.ts";

/** Fails the given number of times, then answers with the attempt's number. */
const failing = (times: number) => (attempt: number) => {
  if (attempt <= times) throw new Error(`failure ${attempt}`);
  return attempt;
};
const quick = { initialBackoffMs: 0 };

/** The wait after the first failure: `onRetry` reports it, and the test aborts instead of waiting. */
const firstWait = async (options: RetryOptions) => {
  const abort = new AbortController();
  let wait: number | undefined;
  const onRetry = (_: unknown, __: number, delayMs: number) => {
    wait = delayMs;
    abort.abort();
  };
  await withRetry(failing(9), { ...options, onRetry, signal: abort.signal }).catch(() => {});
  return wait;
};

describe("withRetry", () => {
  it("returns the first success and tells the operation which attempt it is", async () => {
    expect(await withRetry(failing(0))).toBe(1);
    expect(await withRetry(failing(2), quick)).toBe(3);
    expect(await withRetry(async (attempt) => attempt)).toBe(1);
  });

  it("gives up after 3 attempts by default, with the very error of the last one", async () => {
    const errors: unknown[] = [];
    const operation = () => {
      errors.push({ not: "even an Error" });
      throw errors.at(-1);
    };
    const caught = await withRetry(operation, quick).catch((error: unknown) => error);
    expect(errors).toHaveLength(3);
    expect(caught).toBe(errors[2]);
  });

  it("asks shouldRetry with error and attempt, and stops at its no", async () => {
    const asked: [string, number][] = [];
    const shouldRetry = (error: unknown, attempt: number) => {
      asked.push([(error as Error).message, attempt]);
      return attempt < 2;
    };
    await expect(withRetry(failing(9), { ...quick, maxAttempts: 9, shouldRetry })).rejects.toThrow("failure 2");
    expect(asked).toEqual([
      ["failure 1", 1],
      ["failure 2", 2],
    ]);
  });

  it("does not ask or announce after the last attempt, when nothing is left to decide", async () => {
    const told: number[] = [];
    const note = (_: unknown, attempt: number) => told.push(attempt) > 0;
    const options = {
      ...quick,
      maxAttempts: 2,
      shouldRetry: note,
      onRetry: (e: unknown, n: number) => void note(e, n),
    };
    await expect(withRetry(failing(9), options)).rejects.toThrow("failure 2");
    expect(told).toEqual([1, 1]);
  });

  it("multiplies each wait by the base, up to the cap", async () => {
    const waits: number[] = [];
    const onRetry = (_: unknown, __: number, delayMs: number) => void waits.push(delayMs);
    const options = { maxAttempts: 6, initialBackoffMs: 1, maxBackoffMs: 10, base: 3, onRetry };
    await expect(withRetry(failing(9), options)).rejects.toThrow("failure 6");
    expect(waits).toEqual([1, 3, 9, 10, 10]);
  });

  it("survives a power that overflows, since a long-running poller reaches it", async () => {
    const waits: number[] = [];
    const onRetry = (_: unknown, __: number, delayMs: number) => void waits.push(delayMs);
    const base = 1e300;
    await withRetry(failing(3), { maxAttempts: 4, initialBackoffMs: 1, maxBackoffMs: 2, base, onRetry });
    await withRetry(failing(3), { maxAttempts: 4, initialBackoffMs: 0, base, onRetry });
    expect(waits).toEqual([1, 2, 2, 0, 0, 0]);
  });
});

describe("defaults", () => {
  it("wait 1000 ms first, and never longer than 30000 ms", async () => {
    expect(await firstWait({})).toBe(1000);
    expect(await firstWait({ initialBackoffMs: 60_000 })).toBe(30_000);
  });
});

describe("the signal", () => {
  it("ends a wait with its own reason, so that a shutdown is not held up by a backoff", async () => {
    const abort = new AbortController();
    const reason = new Error("shutting down");
    const onRetry = () => setImmediate(() => abort.abort(reason));
    const call = withRetry(failing(9), {
      initialBackoffMs: 2 ** 31 - 1,
      maxBackoffMs: 2 ** 31 - 1,
      onRetry,
      signal: abort.signal,
    });
    await expect(call).rejects.toBe(reason);
  });

  it("prevents the first attempt when it is already aborted", async () => {
    let ran = false;
    const call = withRetry(() => (ran = true), { signal: AbortSignal.abort("no") });
    await expect(call).rejects.toBe("no");
    expect(ran).toBe(false);
  });
});

describe("invalid options are refused before the first attempt", () => {
  it.each([
    [{ maxAttempts: 0 }, "withRetry: maxAttempts must be a whole number, 1 or more, not 0."],
    [{ maxAttempts: 1.5 }, "withRetry: maxAttempts must be a whole number, 1 or more, not 1.5."],
    [{ initialBackoffMs: -1 }, "withRetry: initialBackoffMs must be milliseconds from 0 to 2147483647, not -1."],
    [{ maxBackoffMs: 2 ** 31 }, "withRetry: maxBackoffMs must be milliseconds from 0 to 2147483647, not 2147483648."],
    [{ base: 0.5 }, "withRetry: base must be a finite number, 1 or more, not 0.5."],
    [{ base: "2" as never }, "withRetry: base must be a finite number, 1 or more, not 2."],
  ])("%j", async (options, message) => {
    let ran = false;
    await expect(withRetry(() => (ran = true), options)).rejects.toThrow(new RangeError(message));
    expect(ran).toBe(false);
  });
});
