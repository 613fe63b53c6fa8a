/**
 * Runs programs of the operating system that read their input from a pipe. There is no shell, so arguments are not interpreted.
 */
import { spawn } from "node:child_process";
import { ConcurrencyLimiter } from "../kit/concurrency-limiter.ts";
import { lowerPriority } from "../kit/confined-process.ts";
import { SvcError } from "../kit/svc-error.ts";
import { providerFailed } from "./provider.ts";

/** In bytes: maximum output of a program. */
const maxOutput = 64 * 1024 * 1024;

/** Of each program, in a process. The others wait. */
const atOnce = 2;
const mostWaiting = 100;

/** Debian's package names. */
const packages: Record<string, string> = {
  tesseract: "tesseract-ocr",
  "espeak-ng": "espeak-ng",
  sox: "sox libsox-fmt-mp3",
  pocketsphinx_continuous: "pocketsphinx pocketsphinx-en-us",
};

/** The program did not accept its input, or its output was too large. Another attempt ends in the same way. */
export class InputRefused extends SvcError {
  constructor(program: string) {
    super("PROVIDER_FAILED", undefined, { hint: `${program} could not process it.` });
  }
}

const limiters = new Map<string, ConcurrencyLimiter>();

/**
 * Does work that runs the program, when it is the user's turn.
 *
 * @throws SvcError UNAVAILABLE when too many wait; the signal's reason
 */
export async function inTurn<T>(
  program: string,
  { signal, user = "" }: { signal: AbortSignal; user?: string | undefined },
  work: () => Promise<T>,
): Promise<T> {
  const limiter = limiters.get(program) ?? new ConcurrencyLimiter(atOnce, mostWaiting);
  limiters.set(program, limiter);
  try {
    return await limiter.run(work, { key: user, signal });
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  }
}

/**
 * @returns the program's output
 * @throws SvcError AI_NOT_CONFIGURED when it is not installed, PROVIDER_FAILED when it fails; the signal's reason
 */
export function runProgram(
  program: string,
  args: string[],
  input: Uint8Array | null,
  signal: AbortSignal,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    // The program gets paths and languages from the environment, and none of the platform's keys.
    const { PATH, LANG, TESSDATA_PREFIX } = process.env;
    const paths = { PATH, ...(LANG && { LANG }), ...(TESSDATA_PREFIX && { TESSDATA_PREFIX }) };
    // More threads make tesseract slower on small pages, and take the processors from others.
    const env = { ...paths, OMP_THREAD_LIMIT: "1" };
    // A program that hangs may ignore SIGTERM.
    const ending = { signal, killSignal: "SIGKILL" as const };
    const child = spawn(program, args, { stdio: ["pipe", "pipe", "ignore"], env, ...ending });
    lowerPriority(child);
    const chunks: Buffer[] = [];
    let size = 0;
    child.stdout.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size > maxOutput) child.kill("SIGKILL");
      else chunks.push(chunk);
    });
    child.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return reject(missing(program));
      reject(signal.aborted ? signal.reason : providerFailed(`${program} could not be run`, error));
    });
    child.on("close", (code) => {
      if (code === 0) resolve(Buffer.concat(chunks));
      else if (code === null && size <= maxOutput) reject(providerFailed(`${program} was killed`));
      else reject(new InputRefused(program));
    });
    child.stdin.on("error", () => {}); // the program may end before it has read its input
    child.stdin.end(input ?? undefined);
  });
}

const missing = (program: string) =>
  new SvcError("AI_NOT_CONFIGURED", undefined, {
    hint: `${program} is not installed where svc runs: apt install ${packages[program] ?? program}, or choose another model in svc.config.ts.`,
  });
