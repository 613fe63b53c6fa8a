/** The secrets that protect sessions and tokens: AUTHLIB_SECRET, or a generated one stored in `.svc/`. */
import { randomBytes } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { EffectiveConfig } from "../config/config.ts";
import { DefinitionError } from "../kit/definition-error.ts";

/** @returns newest first; never empty @throws DefinitionError when the file is empty */
export async function readSecrets(config: EffectiveConfig): Promise<readonly string[]> {
  if (config.auth.secrets.length > 0) return config.auth.secrets;

  const folder = join(config.cwd, ".svc");
  const file = join(folder, "secret");
  await mkdir(folder, { recursive: true });
  try {
    // Exclusive: two concurrent first starts use the same secret.
    await writeFile(file, randomBytes(32).toString("hex"), { flag: "wx", mode: 0o600 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
  for (let reads = 1; reads <= 10; reads++) {
    const secret = (await readFile(file, "utf8")).trim();
    if (secret !== "") return [secret];
    await sleep(50); // another first start is about to write it
  }
  // A full disk, or a stop in between, has left it so.
  throw new DefinitionError(`${file} is empty.`, { hint: "Delete it, and start again: svc then makes another one." });
}
