// If this file fails, acknowledged data is lost when the primary dies, a job is not run or run twice, or a page keeps
// showing old data. It is a short form of the rehearsal, and runs with `npm run chaos` if PgBouncer is installed.
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { findBouncer, olderMisses } from "../../scripts/rehearse/bouncer.ts";
import { root } from "../support/global-setup.ts";

const found = findBouncer(olderMisses.log);
const missing = !process.env.CHAOS_ROUNDS || "problem" in found;
const why = "problem" in found ? ` [skipped: ${found.problem}]` : "";

test.skipIf(missing)(`nothing acknowledged is lost in a failover${why}`, { timeout: 300_000 }, async () => {
  const script = join(root, "scripts/rehearse/scale.ts");
  // Rejects when the rehearsal found a problem.
  const { stdout } = await promisify(execFile)(process.execPath, [script, "--seconds", "3", "--writers", "6"]);
  expect(stdout).toMatch(/^acknowledged mutations +[1-9]\d*, lost 0$/m);
  expect(stdout).not.toContain("WRONG");
});
