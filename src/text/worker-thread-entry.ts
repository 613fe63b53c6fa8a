/**
 * The thread that parses untrusted text. The main thread ends it when a text takes too long.
 * Next hop: `worker-thread.ts` is the other end.
 */
import { parentPort } from "node:worker_threads";
import { cutDocument } from "./cut-document.ts";
import { neutralise } from "./neutralise.ts";

/** The tasks of the thread. */
const tasks = { cut: cutDocument, neutralise };
export type Tasks = typeof tasks;

parentPort?.on("message", ({ task, args }: { task: keyof Tasks; args: never }) => {
  try {
    parentPort?.postMessage({ result: (tasks[task] as (...given: never) => unknown)(...args) });
  } catch (error) {
    // Deeply nested quotes and lists overflow the stack of the recursive reader.
    if (!(error instanceof RangeError)) throw error;
    parentPort?.postMessage({ refusal: "It is nested too deeply." });
  }
});
