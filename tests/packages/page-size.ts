/** How much a visitor of a built page downloads as JavaScript. */
import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";

/** Takes the built page away. @returns bytes, compressed */
export async function takeBuiltPage(app: string): Promise<number> {
  const assets = join(app, "dist/assets");
  const [script = ""] = (await readdir(assets)).filter((name) => name.endsWith(".js"));
  const { length } = gzipSync(await readFile(join(assets, script)));
  await rm(join(app, "dist"), { recursive: true });
  return length;
}
