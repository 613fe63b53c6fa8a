/** Generated files are written only when they change: `svc dev` and bundlers watch them. */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname } from "node:path";

/** Writes a generated file, unless it has this text already. @returns whether it was written */
export async function writeChanged(file: string, text: string): Promise<boolean> {
  if ((await readFile(file, "utf8").catch(() => null)) === text) return false;
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text);
  return true;
}
