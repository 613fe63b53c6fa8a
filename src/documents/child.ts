/**
 * The process that parses a document. It reads one line of JSON and the bytes from standard input, writes one JSON
 * answer to standard output, and ends. It may read only the program's own files. A spare process loads the engines
 * before its task arrives.
 * Next hop: the engine of its task; `sandbox.ts` is the other end.
 */
import "../kit/no-network.ts";
import { buffer } from "node:stream/consumers";
import { SvcError } from "../kit/svc-error.ts";
import { runEngine, type Task } from "./engines/run.ts";

// Libraries print to standard output, which is reserved for the answer.
globalThis.console.log = console.info = console.warn = console.debug = console.error;

if (process.argv.includes("spare")) await (await import("./warm-up.ts")).warmUp();
const input = await buffer(process.stdin);
if (input.length === 0) process.exit(0); // the process was not needed
const end = input.indexOf(10);
const task: Task = JSON.parse(input.toString("utf8", 0, end));
const answer = await runEngine(task, input.subarray(end + 1)).then(
  (result) => ({ result }),
  (error) => ({ error: describe(error) }),
);
process.stdout.write(JSON.stringify(answer), () => process.exit(0));

/** Passes our own errors on unchanged. A library's message is replaced, because it may quote the document. */
function describe(error: unknown) {
  if (error instanceof SvcError) return { code: error.code, message: error.message, hint: error.hint };
  process.stderr.write(String(error instanceof Error ? error.stack : error));
  return { code: null, message: error instanceof RangeError ? "It is nested too deeply." : "It could not be read." };
}
