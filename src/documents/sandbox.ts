/**
 * Runs one engine on one document in a separate process, with limits on time, memory, answer, files and network. A
 * document can crash that process, but not this one.
 * Next hop: `engines/child.ts`; `engine-processes.ts` keeps one such process ready.
 */
import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { createRequire } from "node:module";
import { lowerPriority, startConfined, usageOf } from "../kit/confined-process.ts";
import { ConfinedWorker } from "../kit/confined-worker.ts";
import { errorCodes } from "../kit/error-codes.ts";
import { requirePackagesForCall } from "../kit/optional-packages.ts";
import { SvcError } from "../kit/svc-error.ts";
import type { Answer, EngineResult, Task } from "./types.ts";

export interface SandboxLimits {
  /** Milliseconds for one engine. (Default: 30000) */
  timeMs?: number;
  /** Bytes of resident memory. Measured on Linux; elsewhere the heap's limit applies. (Default: 402653184, 384 MiB) */
  memoryBytes?: number;
  /** Aborts the conversion: it then rejects with the signal's reason. (Default: none) */
  signal?: AbortSignal | undefined;
}

/** An engine's failure. The next provider may succeed. */
export class EngineFailure extends Error {}

/** Something else killed its process, such as the kernel without memory. That says little about the document. */
export class EngineKilled extends EngineFailure {
  constructor() {
    super("Its process was killed, as when the machine has no memory left.");
  }
}

/** A process of engines. It waits for a task. */
export class Child extends ConfinedWorker<Task, Answer> {
  constructor(started: ChildProcessWithoutNullStreams) {
    super(started, largestAnswer);
  }
}

const largestAnswer = 64 * 1024 * 1024;
const defaultMemory = 384 * 1024 * 1024;

/** The engines are a package of their own, because their libraries are large. */
const enginesPackage = "@svc/documents";

/**
 * @param isSpare whether it loads its engines before there is a task (Default: false)
 * @throws SvcError NOT_INSTALLED
 */
export function startChild({ memoryBytes = defaultMemory }: SandboxLimits = {}, isSpare = false): Child {
  const heap = Math.floor(memoryBytes / 1024 / 1024 / 1.5);
  // A small young generation takes the same time, and a quarter less memory for a long document.
  const flags = [`--max-old-space-size=${heap}`, "--max-semi-space-size=16"];
  requirePackagesForCall("documents");
  const program = createRequire(import.meta.url).resolve(enginesPackage);
  const started = startConfined(program, [enginesPackage], flags, isSpare ? ["spare"] : []);
  lowerPriority(started);
  return new Child(started);
}

/**
 * @param release is given the process when it can have another document (Default: ends it)
 * @throws SvcError for faults of the document @throws EngineFailure for faults of the engine
 * @throws the reason of `limits.signal` when it was aborted; the process is ended
 */
export async function runSandboxed(
  task: Task,
  bytes: Buffer,
  limits: SandboxLimits = {},
  running: Child = startChild(limits),
  release: (child: Child) => void = (child) => child.end(),
): Promise<EngineResult> {
  const { timeMs = 30_000, memoryBytes = defaultMemory, signal } = limits;
  let reason: string | undefined;
  const stop = (why: string) => {
    reason ??= why;
    running.end();
  };
  const abort = () => stop("It was ended.");
  signal?.addEventListener("abort", abort);
  if (signal?.aborted) abort();
  const clock = setTimeout(() => stop("It took too long."), timeMs);
  let isOver = false;
  const watch = setInterval(async () => {
    const { memoryBytes: used } = await usageOf(running.process.pid);
    // It may have another document by now.
    if (used > memoryBytes && !isOver) stop("It took too much memory.");
  }, 50);
  try {
    const answered = await running.ask(task, bytes);
    signal?.throwIfAborted();
    if (!answered) throw failureOf(running, reason);
    const { result, error } = checked(answered[0]);
    // After a failure of the engine it may be the process that is at fault.
    if (result || error?.code) release(running);
    else running.end();
    if (result) return result;
    if (error?.code) throw new SvcError(error.code, error.message, { hint: error.hint });
    throw new EngineFailure(error?.message ?? noAnswer, { cause: running.log });
  } finally {
    signal?.removeEventListener("abort", abort);
    clearTimeout(clock);
    clearInterval(watch);
    isOver = true;
  }
}

function failureOf({ process, isTooLarge, log }: Child, reason: string | undefined): EngineFailure {
  if (isTooLarge) return new EngineFailure("Its text is larger than is kept here.");
  if (process.signalCode === "SIGKILL" && reason === undefined) return new EngineKilled();
  return new EngineFailure(reason ?? (process.exitCode === 0 ? noAnswer : "It broke off."), { cause: log });
}

const noAnswer = "Its answer cannot be read.";

/** What a document has made of the process is not known: an error here would end this one. */
function checked(answer: Answer | null): Answer {
  const { result, error } = answer ?? {};
  const isKnown = !error?.code || Object.hasOwn(errorCodes, error.code);
  return { ...(result && { result }), ...(error && isKnown && { error }) };
}
