/** A process that is killed while it writes files: stored files are complete, and the sweep removes the rest. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { expect, test } from "vitest";
import { DiskDriver } from "../../src/storage/drivers/disk.ts";
import { bytesFolder } from "../support/files.ts";
import { root } from "../support/global-setup.ts";

const folder = bytesFolder();
const size = 400_000;

/** Writes files for ever, each filled with the first letter of its id, and prints each id before and after. */
const writer = `
  import { randomUUID } from "node:crypto";
  const { DiskDriver } = await import(${JSON.stringify(join(root, "src/storage/drivers/disk.ts"))});
  const driver = new DiskDriver(${JSON.stringify(folder)});
  for (;;) {
    const id = randomUUID();
    await driver.put("objects/" + id, (async function* () {
      for (let at = 0; at < 8; at++) yield Buffer.alloc(${size / 8}, id[0]);
    })());
    process.stdout.write(id + "\\n");
  }
`;

test("leaves files that are whole, all that it said were safe, and nothing after a sweep", async () => {
  const said: string[] = [];
  for (let kill = 0; kill < 12; kill++) {
    const child = spawn(process.execPath, ["--input-type=module", "-e", writer], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    let text = "";
    let chunks = 0;
    const gone = once(child, "close");
    child.stdout.on("data", (chunk) => {
      text += chunk;
      // Each time at another moment: after another number of files, in the middle of one.
      if (++chunks > kill) setImmediate(() => child.kill("SIGKILL"));
    });
    await gone;
    said.push(...text.split("\n").slice(0, -1));
  }
  expect(said.length).toBeGreaterThan(12);

  const driver = new DiskDriver(folder);
  const found: string[] = [];
  for await (const { key } of driver.list("objects/")) {
    const stream = await driver.read(key);
    const bytes = stream ? await buffer(stream) : Buffer.alloc(0);
    const id = key.slice("objects/".length);
    expect(bytes.equals(Buffer.alloc(size, id[0]))).toBe(true);
    found.push(id);
  }
  expect(said.filter((id) => !found.includes(id))).toEqual([]);
  await driver.sweepLeftovers(new Date(Date.now() + 1000));
  expect(readdirSync(join(folder, "incoming"))).toEqual([]);
});
