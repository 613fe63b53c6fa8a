/** What documents say to what somebody asks or states. Next hop: `docs.ts` and `library.ts`, each with its own scope. */
import type { Context, RagScope } from "@svc/core";

/** The passages that share most with the text, and whether it is supported where it is a statement. */
export async function askIn(ctx: Pick<Context, "rag" | "grounding">, scope: RagScope, text: string) {
  const [passages, answer] = await Promise.all([
    ctx.rag.search({ query: text, scope, limit: 5 }),
    ctx.grounding?.answer({ question: text, scope, claims: [{ claimText: text }], mode: "qa" }),
  ]);
  return { passages, claim: answer?.claims[0] ?? null };
}
