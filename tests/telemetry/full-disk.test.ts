// If this file fails, a full disk of the log ends the process and the calls that it serves, or a process whose log nobody
// reads any more never ends.
import { spawn } from "node:child_process";
import { closeSync, existsSync, openSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
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

const exits = `
  import { createLog } from ${JSON.stringify(join(root, "src/telemetry/log.ts"))};
  const log = createLog("info");
  process.stdin.once("data", () => {
    log.info("for nobody");
    process.exit();
  });
`;
const run = ["--input-type=module", "--eval", exits];

test("a process that exits does not wait for the reader of its log, which has ended", async () => {
  const child = spawn(process.execPath, run, { stdio: ["pipe", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  const ended = new Promise((resolve) => child.once("exit", resolve));
  child.stdout?.destroy();
  child.stdin?.write("go");
  expect(await ended).toBe(0);
});

test.skipIf(!existsSync(full))("nor for room on the disk", async () => {
  const output = openSync(full, "w");
  const child = spawn(process.execPath, run, { stdio: ["pipe", output, "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  closeSync(output);
  const ended = new Promise((resolve) => child.once("exit", resolve));
  child.stdin?.write("go");
  expect(await ended).toBe(0);
});

test("the last lines are written at the exit", async () => {
  const child = spawn(process.execPath, run, { stdio: ["pipe", "pipe", "inherit"] });
  child.stdin?.write("go");
  expect(await text(child.stdout)).toContain("for nobody");
});
