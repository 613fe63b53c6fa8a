/**
 * The built-in workflow `rag.ingest`: converts a stored file to Markdown and makes its text citable.
 * `ctx.rag.ingestFile` starts it.
 * Next hop: `src/documents/convert-stored.ts` for the first step, `src/rag/context.ts` for the second.
 */
import { sql } from "drizzle-orm";
import type { ConvertStoredInput } from "../contract/documents.ts";
import type { IngestInput, IngestResult } from "../contract/rag.ts";
import { workflow } from "../contract/workflow.ts";
import { v } from "../kit/v.ts";

/** Input that `ctx.rag.ingestFile` has checked. */
interface IngestFileArgs {
  document: Pick<IngestInput, "title" | "scope" | "sourceUri" | "language">;
  file: ConvertStoredInput;
}

/** A run's result. */
export type IngestFileResult = IngestResult & {
  /** What was omitted or guessed. */
  warnings: string[];
};

export const ingestWorkflow = workflow("rag.ingest", {
  args: { document: v.any(), file: v.any() },
  // For all users together, because conversions take memory and processor time.
  concurrency: 2,
  handler: async (wf, args): Promise<IngestFileResult> => {
    const { document, file } = args as IngestFileArgs;
    const { markdown, pages, warnings } = await wf.services.document.convert(file);
    const body = pages.length > 0 ? { pages: pages.map((page) => page.markdown) } : { markdown };
    const result = await wf.step("rag.ingest", async () => {
      const newer = sql<IngestResult | null>`svc.find_newer_document(${wf.runId})`;
      const [found] = await wf.db.select({ newer }).from(sql`(values (1)) as one`);
      return found?.newer ?? (await wf.rag.ingest({ ...document, ...body, storageId: file.storageId }));
    });
    return { ...result, warnings };
  },
});
