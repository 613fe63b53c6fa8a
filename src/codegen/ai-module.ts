/**
 * Generates `backend/generated/ai.ts`, from which an application imports the AI module. Next hop:
 * `src/ai/create-ai.ts`.
 */
export const aiModule = (): string => `// Written by svc codegen. Do not edit.
import { createAi } from "@svc/core";

/** Chat, embeddings, reranking, vision and speech, for the caller of the handler. Models and caps: svc.config.ts. */
export const ai = createAi();
`;
