/**
 * The thread in which texts are taken apart that anybody may have written; ended from outside when one takes too long.
 * Next hop: `worker-thread.ts` is the other end.
 */
import { parentPort } from "node:worker_threads";
import { cutDocument } from "./cut-document.ts";
import { neutralise } from "./neutralise.ts";

/** What there is to be done, and with what. */
export const tasks = { cut: cutDocument, neutralise };
export type Tasks = typeof tasks;

parentPort?.on("message", ({ task, args }: { task: keyof Tasks; args: never }) => {
  try {
    parentPort?.postMessage({ result: (tasks[task] as (...given: never) => unknown)(...args) });
  } catch (error) {
    // Deeply nested quotes and lists overflow the stack of the code that reads the tree.
    if (!(error instanceof RangeError)) throw error;
    parentPort?.postMessage({ refusal: "It is nested too deeply." });
  }
});
