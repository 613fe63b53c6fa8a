/**
 * Runs one engine on one document in a separate process, with limits on time, memory, answer, files and network. A
 * document can crash that process, but not this one.
 * Next hop: `engines/child.ts`; `prewarmed-process.ts` keeps one such process ready.
 */
import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { createRequire } from "node:module";
import { setPriority } from "node:os";
import { startConfined, usageOf } from "../kit/confined-process.ts";
import { type ErrorCode, errorCodes } from "../kit/error-codes.ts";
import { requirePackagesForCall } from "../kit/optional-packages.ts";
import { SvcError } from "../kit/svc-error.ts";
import type { EngineResult, Task } from "./types.ts";

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

/** A process that waits for its task. */
export type Child = ChildProcessWithoutNullStreams;

const largestAnswer = 64 * 1024 * 1024;
const defaultMemory = 384 * 1024 * 1024;
/** Lowers the priority: requests go first. */
const niceness = 5;

/** The engines are a package of their own: they need 250 MB of libraries. */
const enginesPackage = "@svc/documents";

/**
 * @param how `spare` loads its engines before there is a task; `addons` may load machine code, which drawing pages
 * needs (Default: neither)
 * @throws SvcError NOT_INSTALLED
 */
export function startChild({ memoryBytes = defaultMemory }: SandboxLimits = {}, how?: "spare" | "addons"): Child {
  const heap = Math.floor(memoryBytes / 1024 / 1024 / 1.5);
  // A small young generation takes the same time, and a quarter less memory for a long document.
  const flags = [`--max-old-space-size=${heap}`, "--max-semi-space-size=16"];
  if (how === "addons") flags.push("--allow-addons");
  const args = how === "spare" ? ["spare"] : [];
  requirePackagesForCall("documents");
  const program = createRequire(import.meta.url).resolve(enginesPackage);
  const started = startConfined(program, [enginesPackage], flags, args);
  try {
    if (started.pid !== undefined) setPriority(started.pid, niceness);
  } catch {
    // The process has ended already, or the system does not support priorities.
  }
  return started;
}

/**
 * @throws SvcError for faults of the document @throws EngineFailure for faults of the engine
 * @throws the reason of `limits.signal` when it was aborted; the process is ended
 */
export async function runSandboxed(
  task: Task,
  bytes: Buffer,
  limits: SandboxLimits = {},
  running: Child = startChild(limits),
): Promise<EngineResult> {
  const { timeMs = 30_000, memoryBytes = defaultMemory, signal } = limits;
  let reason: string | undefined;
  const stop = (why: string) => {
    reason ??= why;
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
      // A process that ended early stops reading; its exit explains why.
      running.stdin.on("error", () => {});
      running.on("error", reject);
      running.on("close", (code, killedBy) => {
        if (signal?.aborted) return reject(signal.reason);
        if (killedBy === "SIGKILL" && reason === undefined) return reject(new EngineKilled());
        // A process that has written its last bytes may end well before it can be killed.
        if (code !== 0 || size > largestAnswer)
          return reject(new EngineFailure(reason ?? "It broke off.", { cause: log }));
        const { result, error } = parsed(Buffer.concat(answer));
        if (result) return resolve(result);
        reject(
          error?.code ? toError(error.code, error) : new EngineFailure(error?.message ?? noAnswer, { cause: log }),
        );
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

const noAnswer = "Its answer cannot be read.";

interface Refusal {
  /** null: an error of the engine. */
  code: ErrorCode | null;
  message: string;
  hint?: string;
}

interface Answer {
  result?: EngineResult;
  error?: Refusal;
}

/** What a document has made of the process is not known: an error here would end this one. */
function parsed(answer: Buffer): Answer {
  try {
    const { result, error }: Answer = JSON.parse(answer.toString("utf8"));
    const isKnown = !error?.code || Object.hasOwn(errorCodes, error.code);
    return { ...(result && { result }), ...(error && isKnown && { error }) };
  } catch {
    return {};
  }
}

const toError = (code: ErrorCode, { message, hint }: Refusal) =>
  new SvcError(code, message, hint === undefined ? {} : { hint });
