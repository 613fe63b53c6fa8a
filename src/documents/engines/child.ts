/**
 * The process that parses documents. It reads a task and the document's bytes from standard input, writes the answer to
 * standard output, and waits for another task; `../sandbox.ts` decides whether there is one. It may read only the
 * program's own files. A spare process loads the engines before its task arrives.
 * Next hop: the engine of its task; `../sandbox.ts` is the other end.
 */
import { readFrames, writeFrame } from "../../kit/frames.ts";
import "../../kit/no-network.ts";
import { SvcError } from "../../kit/svc-error.ts";
import type { Answer, Refusal, Task } from "../types.ts";
import { runEngine } from "./run.ts";

// Libraries print to standard output, which is reserved for the answer.
globalThis.console.log = console.info = console.warn = console.debug = console.error;

if (process.argv.includes("spare")) await import("./warm-up.ts");
readFrames<Task>(process.stdin, async (task, bytes) => {
  const answer: Answer = await runEngine(task, bytes).then(
    (result) => ({ result }),
    (error) => ({ error: describe(error) }),
  );
  writeFrame(process.stdout, answer);
});
process.stdin.on("end", () => process.exit(0)); // the parent process has ended

/** Passes our own errors on unchanged. A library's message is replaced, because it may quote the document. */
function describe(error: unknown): Refusal {
  if (error instanceof SvcError) return { code: error.code, message: error.message, hint: error.hint };
  process.stderr.write(String(error instanceof Error ? error.stack : error));
  return { code: null, message: error instanceof RangeError ? "It is nested too deeply." : "It could not be read." };
}
