/**
 * The secret with which coding agents ask the Studio of `svc dev`. It outlives `svc dev`, because an agent's configuration
 * has it. The file is only for its user, and without the file no agent is answered.
 * Next hop: `src/cli/mcp.ts` makes it; `listener.ts` checks it.
 */
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { random } from "./keys.ts";

const fileIn = (cwd: string) => join(cwd, ".svc/mcp.json");
const schema = z.strictObject({ secret: z.string().regex(/^[\w-]{43}$/) });

/** @returns null if there is none, or if others may read it, as a committed one after a checkout with the usual umask */
export function readAgentSecret(cwd: string): string | null {
  try {
    if (process.platform !== "win32" && statSync(fileIn(cwd)).mode & 0o077) return null;
    return schema.parse(JSON.parse(readFileSync(fileIn(cwd), "utf8"))).secret;
  } catch {
    return null;
  }
}

/** @returns the one there is, or a new one */
export function makeAgentSecret(cwd: string): string {
  const known = readAgentSecret(cwd);
  if (known !== null) return known;
  const secret = random();
  mkdirSync(join(cwd, ".svc"), { recursive: true });
  rmSync(fileIn(cwd), { force: true });
  writeFileSync(fileIn(cwd), JSON.stringify({ secret }), { mode: 0o600, flag: "wx" });
  return secret;
}
