/**
 * Runs programs of the operating system that read their input from a pipe. There is no shell, so arguments are not
 * interpreted.
 */
import { spawn } from "node:child_process";
import { SvcError } from "../kit/svc-error.ts";
import { providerFailed } from "./provider.ts";

/** In bytes: maximum output of a program. */
const maxOutput = 64 * 1024 * 1024;

/** Debian's package names. */
const packages: Record<string, string> = {
  tesseract: "tesseract-ocr",
  "espeak-ng": "espeak-ng",
  sox: "sox",
  pocketsphinx_continuous: "pocketsphinx pocketsphinx-en-us",
};

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
    const env = { PATH, ...(LANG && { LANG }), ...(TESSDATA_PREFIX && { TESSDATA_PREFIX }) };
    const child = spawn(program, args, { stdio: ["pipe", "pipe", "ignore"], signal, env });
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
      else reject(providerFailed(`${program} could not process it`));
    });
    child.stdin.on("error", () => {}); // the program may end before it has read its input
    child.stdin.end(input ?? undefined);
  });
}

const missing = (program: string) =>
  new SvcError("AI_NOT_CONFIGURED", undefined, {
    hint: `${program} is not installed where svc runs: apt install ${packages[program] ?? program}, or choose another model in svc.config.ts.`,
  });
