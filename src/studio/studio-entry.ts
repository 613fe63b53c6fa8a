/**
 * How `svc mcp` reaches the Studio of `svc dev`, which alone knows the requests of its service: `svc dev` writes the
 * address and a secret into a file that only its user may read.
 * Next hop: `listener.ts` checks the secret.
 */
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { type ErrorCode, errorCodes } from "../kit/error-codes.ts";
import { SvcError } from "../kit/svc-error.ts";
import type { Entry } from "./listener.ts";

const fileIn = (cwd: string) => join(cwd, ".svc/studio.json");

/** Only this machine: the file may come from a repository. */
const schema = z.strictObject({
  origin: z.string().regex(/^http:\/\/127\.0\.0\.1:\d{1,5}$/),
  secret: z.string().regex(/^[\w-]{43}$/),
});

/** @returns a function that removes it, unless another Studio has replaced it */
export function writeEntry(cwd: string, entry: Entry): () => void {
  const file = fileIn(cwd);
  const draft = `${file}.${process.pid}`;
  mkdirSync(join(cwd, ".svc"), { recursive: true });
  rmSync(draft, { force: true });
  // A new file, because the mode of an existing one would stay.
  writeFileSync(draft, JSON.stringify(entry), { mode: 0o600, flag: "wx" });
  renameSync(draft, file);
  return () => {
    if (readEntry(cwd)?.secret === entry.secret) rmSync(file, { force: true });
  };
}

/** @returns null if there is none, or an invalid one */
export function readEntry(cwd: string): Entry | null {
  try {
    return schema.parse(JSON.parse(readFileSync(fileIn(cwd), "utf8")));
  } catch {
    return null;
  }
}

/** In milliseconds. */
const timeout = 10_000;

/** Asks a panel of the Studio of `svc dev`. @throws SvcError, as the panel does, or when no Studio answers */
export async function askStudio(cwd: string, name: string, input: unknown): Promise<unknown> {
  const entry = readEntry(cwd);
  if (!entry) throw notRunning();
  const { origin, secret } = entry;
  const response = await fetch(`${origin}/api/${name}`, {
    method: "POST",
    headers: { origin, "content-type": "application/json", authorization: `Bearer ${secret}` },
    body: JSON.stringify(input),
    redirect: "error",
    signal: AbortSignal.timeout(timeout),
  }).catch(() => {
    throw notRunning();
  });
  const result = await response.json().catch(() => undefined);
  if (response.ok && result !== undefined) return result;
  const { success, data } = failure.safeParse(result);
  // Without one of its answers, or with another secret, it is not the Studio that wrote the file.
  if (!success || data.code === "UNAUTHORIZED") throw notRunning();
  throw new SvcError(data.code, data.error, { hint: data.hint });
}

const failure = z.object({
  error: z.string(),
  code: z.enum(Object.keys(errorCodes) as ErrorCode[]),
  hint: z.string().optional(),
});

const notRunning = () =>
  new SvcError(
    "UNAVAILABLE",
    "No Studio of svc dev runs in this folder, and only it knows the requests of its service.",
    {
      hint: "Start svc dev (npm run dev). It needs the package @svc/studio and, beside DATABASE_URL, DATABASE_STUDIO_URL.",
    },
  );
