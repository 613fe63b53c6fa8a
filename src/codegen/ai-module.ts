/**
 * Generates `backend/generated/ai.ts`, from which an application imports the AI module. Next hop:
 * `src/ai/create-ai.ts`.
 */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import type { EffectiveConfig } from "../config/config.ts";

const text = `// Written by svc codegen. Do not edit.
import { createAi } from "@svc/core";

/** Chat, embeddings, reranking, vision and speech, for the caller of the handler. Models and caps: svc.config.ts. */
export const ai = createAi();
`;

/**
 * Writes the file. Called before the application is loaded, which may import it.
 *
 * @returns the path, relative to the application, if the file changed
 */
export async function writeAiModule(config: EffectiveConfig): Promise<string[]> {
  const file = join(config.rootDir, "generated", "ai.ts");
  if ((await readFile(file, "utf8").catch(() => null)) === text) return [];
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text);
  return [relative(config.cwd, file)];
}
