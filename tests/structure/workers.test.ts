// If this file fails, workers/tasks/ no longer shows an operator what runs in the background, and the effect of a
// retry.
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { tasks } from "../../workers/tasks.ts";
import { root } from "../support/global-setup.ts";

const folder = join(root, "workers/tasks");

test("every kind of job is a file of workers/tasks/, and every file is in the list", async () => {
  const files = await readdir(folder);
  expect(files.every((file) => file.endsWith(".ts"))).toBe(true);
  expect(files.map((file) => file.replace(/\.ts$/, "")).sort()).toEqual(tasks.map(({ kind }) => kind).sort());
});

test("every one says how often it is tried, and what happens when it runs again", async () => {
  for (const file of await readdir(folder)) {
    const text = await readFile(join(folder, file), "utf8");
    expect(text, file).toMatch(/^ \* Retries: .{10,}/m);
    expect(text, file).toMatch(/^ \* Idempotency: .{10,}/m);
  }
});
