// Written by svc codegen. Do not edit.
import { createAi } from "@svc/core";

/** Chat, embeddings, reranking, vision and speech, for whoever calls: models and caps stand in svc.config.ts. */
export const ai = createAi();
