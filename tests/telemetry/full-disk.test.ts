// If this file fails, a full disk of the log ends the process and the calls that it serves.
import { spawn } from "node:child_process";
import { closeSync, existsSync, openSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { root } from "../support/global-setup.ts";

/** A device whose disk is always full; only Linux has it. */
const full = "/dev/full";

const program = `
  import { createLog } from ${JSON.stringify(join(root, "src/telemetry/log.ts"))};
  const log = createLog("info");
  let left = 20;
  const timer = setInterval(() => {
    for (let line = 0; line < 1_000; line++) log.info("a line");
    if (--left > 0) return;
    clearInterval(timer);
    process.stderr.write("still serves");
  }, 5);
`;

test.skipIf(!existsSync(full))("a process whose log cannot be written continues, and ends by itself", async () => {
  const output = openSync(full, "w");
  const child = spawn(process.execPath, ["--input-type=module", "--eval", program], {
    stdio: ["ignore", output, "pipe"],
  });
  closeSync(output);
  const ended = new Promise((resolve) => child.once("close", resolve));
  expect(await text(child.stderr as NonNullable<typeof child.stderr>)).toBe("still serves");
  expect(await ended).toBe(0);
});
