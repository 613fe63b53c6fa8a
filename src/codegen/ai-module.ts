/**
 * Generates `backend/generated/ai.ts`, from which an application imports the AI module. Next hop:
 * `src/ai/create-ai.ts`.
 */
import { join, relative } from "node:path";
import type { EffectiveConfig } from "../config/config.ts";
import { writeChanged } from "./write-changed.ts";

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
  return (await writeChanged(file, text)) ? [relative(config.cwd, file)] : [];
}
