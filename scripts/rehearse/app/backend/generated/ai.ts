// Written by svc codegen. Do not edit.
import { createAi } from "@svc/core";

/** Chat, embeddings, reranking, vision and speech, for the caller of the handler. Models and caps: svc.config.ts. */
export const ai = createAi();
