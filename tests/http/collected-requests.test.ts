// If this file fails, requests that have ended fill the memory until a full collection, and each call takes a tenth more time.
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";

test("V8 collects requests when they have ended, and does not keep them as old ones", async () => {
  const script = join(import.meta.dirname, "collected-requests-child.ts");
  const { stdout } = await promisify(execFile)(process.execPath, ["--max-semi-space-size=1", script]);
  const { collected, kept } = JSON.parse(stdout) as { collected: number; kept: number };
  expect(collected).toBeGreaterThan(20_000_000);
  expect(kept).toBeLessThan(collected / 50);
});
