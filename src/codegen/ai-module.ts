/**
 * Generates `backend/generated/ai.ts`, from which an application imports the AI module. Next hop:
 * `src/ai/create-ai.ts`.
 */
export const aiModule = (): string => `// Written by svc codegen. Do not edit.
import { createAi } from "@svc/core";

/** Chat, embeddings, reranking, vision and speech, for whoever calls: models and caps stand in svc.config.ts. */
export const ai = createAi();
`;
