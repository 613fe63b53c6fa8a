/**
 * The secret with which coding agents ask the Studio of `svc dev`. It outlives `svc dev`, because an agent's configuration
 * has it. The file is only for its user, and without the file no agent is answered.
 * Next hop: `src/cli/mcp.ts` makes it; `listener.ts` checks it.
 */
import { closeSync, fstatSync, mkdirSync, openSync, readFileSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { random } from "./keys.ts";

const fileIn = (cwd: string) => join(cwd, ".svc/mcp.json");
/** `file` says which file holds the secret. The secret of a copy, such as a committed one, is known to others. */
const schema = z.strictObject({ secret: z.string().regex(/^[\w-]{43}$/), file: z.string() });

/** Its inode. The number of a disk may change when the machine starts. */
const placeOf = (open: number): string => String(fstatSync(open, { bigint: true }).ino);

/** @returns null if there is none, if others may read it, or if another file held it */
export function readAgentSecret(cwd: string): string | null {
  let open: number | undefined;
  try {
    open = openSync(fileIn(cwd), "r");
    if (process.platform !== "win32" && fstatSync(open).mode & 0o077) return null;
    const { secret, file } = schema.parse(JSON.parse(readFileSync(open, "utf8")));
    return file === placeOf(open) ? secret : null;
  } catch {
    return null;
  } finally {
    if (open !== undefined) closeSync(open);
  }
}

/** @returns the one there is, or a new one */
export function makeAgentSecret(cwd: string): string {
  const known = readAgentSecret(cwd);
  if (known !== null) return known;
  const secret = random();
  mkdirSync(join(cwd, ".svc"), { recursive: true });
  rmSync(fileIn(cwd), { force: true });
  const open = openSync(fileIn(cwd), "wx", 0o600);
  try {
    writeSync(open, JSON.stringify({ secret, file: placeOf(open) }));
  } finally {
    closeSync(open);
  }
  return secret;
}
