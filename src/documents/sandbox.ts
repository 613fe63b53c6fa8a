/**
 * Runs one engine over one document in a process of its own, with limits on time, memory, answer, files and network.
 * A document can harm that process, but not this one.
 * Next hop: `src/documents/engines/child.ts`; `prewarmed-process.ts` keeps one such process ready.
 */
import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { createRequire } from "node:module";
import { setPriority } from "node:os";
import { startConfined, usageOf } from "../kit/confined-process.ts";
import type { ErrorCode } from "../kit/error-codes.ts";
import { requirePackagesForCall } from "../kit/optional-packages.ts";
import { SvcError } from "../kit/svc-error.ts";
import type { EngineResult, Task } from "./types.ts";

export interface SandboxLimits {
  /** Milliseconds for one engine. (Default: 30000) */
  timeMs?: number;
  /** Bytes of resident memory. Watched on Linux; elsewhere the heap's limit holds. (Default: 402653184, 384 MiB) */
  memoryBytes?: number;
  /** Ends the conversion: it then rejects with the signal's reason. (Default: nothing does) */
  signal?: AbortSignal | undefined;
}

/** An engine that could not do it. The next provider may. */
export class EngineFailure extends Error {}

/** A process that waits for its task. */
export type Child = ChildProcessWithoutNullStreams;

const largestAnswer = 64 * 1024 * 1024;
const defaultMemory = 384 * 1024 * 1024;
/** Requests come first where both want a processor. */
const niceness = 5;

/** The engines are a package of their own: they need 250 MB of libraries. */
const enginesPackage = "@svc/documents";

/**
 * @param how `spare` loads its engines before there is a task; `addons` may load machine code, which drawing pages needs
 *   (Default: neither)
 * @throws SvcError NOT_INSTALLED
 */
export function startChild({ memoryBytes = defaultMemory }: SandboxLimits = {}, how?: "spare" | "addons"): Child {
  const heap = Math.floor(memoryBytes / 1024 / 1024 / 1.5);
  // A small nursery: the time is the same, and a long document takes a quarter less memory.
  const flags = [`--max-old-space-size=${heap}`, "--max-semi-space-size=16"];
  if (how === "addons") flags.push("--allow-addons");
  const args = how === "spare" ? ["spare"] : [];
  requirePackagesForCall("documents");
  const program = createRequire(import.meta.url).resolve(enginesPackage);
  const started = startConfined(program, [enginesPackage], { flags, args });
  try {
    if (started.pid !== undefined) setPriority(started.pid, niceness);
  } catch {
    // It has ended already, or the system has no such thing.
  }
  return started;
}

/**
 * @throws SvcError what the document is at fault for @throws EngineFailure what the engine is
 * @throws the reason of `limits.signal`, when that was aborted; the process is ended
 */
export async function runSandboxed(
  task: Task,
  bytes: Buffer,
  limits: SandboxLimits = {},
  running: Child = startChild(limits),
): Promise<EngineResult> {
  const { timeMs = 30_000, memoryBytes = defaultMemory, signal } = limits;
  let reason = "It broke off.";
  const stop = (why: string) => {
    reason = why;
    running.kill("SIGKILL");
  };
  const abort = () => stop("It was ended.");
  signal?.addEventListener("abort", abort);
  if (signal?.aborted) abort();
  const clock = setTimeout(() => stop("It took too long."), timeMs);
  const watch = setInterval(async () => {
    if ((await usageOf(running.pid)).memoryBytes > memoryBytes) stop("It took too much memory.");
  }, 50);
  try {
    return await new Promise<EngineResult>((resolve, reject) => {
      const answer: Buffer[] = [];
      let size = 0;
      let log = "";
      running.stdout.on("data", (chunk: Buffer) => {
        size += chunk.length;
        if (size > largestAnswer) return stop("Its text is larger than is kept here.");
        answer.push(chunk);
      });
      running.stderr.on("data", (chunk: Buffer) => {
        log = (log + chunk).slice(-4_000);
      });
      // A process that ended early does not read on: its end says why.
      running.stdin.on("error", () => {});
      running.on("error", reject);
      running.on("close", (code) => {
        if (signal?.aborted) return reject(signal.reason);
        if (code !== 0) return reject(new EngineFailure(reason, { cause: log }));
        const { result, error } = JSON.parse(Buffer.concat(answer).toString("utf8"));
        if (result) return resolve(result);
        reject(error.code ? toError(error) : new EngineFailure(error.message, { cause: log }));
      });
      running.stdin.write(`${JSON.stringify(task)}\n`);
      running.stdin.end(bytes);
    });
  } finally {
    signal?.removeEventListener("abort", abort);
    clearTimeout(clock);
    clearInterval(watch);
  }
}

const toError = ({ code, message, hint }: { code: ErrorCode; message: string; hint?: string }) =>
  new SvcError(code, message, hint === undefined ? {} : { hint });
