// If this file fails, the default delays of withRetry differ from the documentation.
import { expect, test } from "vitest";
import { withRetry } from "../../src/index.ts";

test("each wait is twice the one before, and onRetry is told error, attempt and delay", async () => {
  const told: unknown[][] = [];
  const errors = [new Error("first"), new Error("second"), new Error("third")];
  const operation = (attempt: number) => {
    const error = errors[attempt - 1];
    if (error) throw error;
    return attempt;
  };
  const options = { maxAttempts: 4, initialBackoffMs: 1, onRetry: (...given: unknown[]) => void told.push(given) };
  expect(await withRetry(operation, options)).toBe(4);
  expect(told).toEqual([
    [errors[0], 1, 1],
    [errors[1], 2, 2],
    [errors[2], 3, 4],
  ]);
});
