// If this file fails, readings of /metrics at once ask the other processes one by one, or get the metrics of one process.
import { fork } from "node:child_process";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { askMetrics, sharedVariable } from "../../src/server/shared-metrics.ts";

test("readings at once are one question to the other processes, and later ones another", async () => {
  const env = { ...process.env, [sharedVariable]: "1" };
  const child = fork(join(import.meta.dirname, "metrics-child.ts"), { env, silent: true, execArgv: [] });
  let questions = 0;
  child.on("message", (message) => {
    if (message === askMetrics) child.send({ [askMetrics]: `of all, ${++questions}` });
  });
  const [read, warned] = await Promise.all([text(child.stdout as never), text(child.stderr as never)]);
  expect(warned).toBe("");
  expect(JSON.parse(read)).toEqual([...Array(20).fill("of all, 1"), "of all, 2"]);
});
