/**
 * `ctx.rag`: stores documents in the tables that answers are grounded on, in the call's transaction.
 * Next hop: `src/text/worker-thread.ts` runs `src/text/cut-document.ts`, then `src/rag/store-document.ts`.
 */
import { createHash } from "node:crypto";
import type { Context } from "../contract/context.ts";
import type { ContextRag, IngestFileInput, IngestInput, IngestResult, RagDocuments } from "../contract/rag.ts";
import { SvcError } from "../kit/svc-error.ts";
import { isUuid } from "../kit/uuid.ts";
import type { RequestTransaction } from "../postgres/transaction.ts";
import { partsOf, refusal, resolveScope } from "../search/scope.ts";
import { runInThread } from "../text/worker-thread.ts";
import { bodyOf, checkPlace } from "./document-input.ts";
import { ingestWorkflow } from "./ingest-workflow.ts";
import { searchPassages } from "./passages.ts";
import { storeDocument } from "./store-document.ts";
import { embedChunks } from "./vectors.ts";

/**
 * @param userId the caller, null when nobody is signed in
 * @param system whether this is the platform itself
 */
export function contextRag(transaction: RequestTransaction, userId: string | null, system = false): RagDocuments {
  return {
    async ingest(input) {
      const { title, sourceUri, storageId = null } = partsOf(input, ingestMembers);
      const { scope, language } = checkPlace(input, { userId, system });
      const [format, body] = bodyOf(input);
      if (storageId !== null && !isUuid(storageId)) throw refusal("storageId", "the id of a stored file");
      const checksum = createHash("sha256")
        .update(JSON.stringify([format, title, language, body]))
        .digest("hex");
      const document = {
        corpus: scope.corpus,
        visibility: scope.visibility,
        key: sourceUri ?? `sha256:${checksum}`,
        title,
        uri: sourceUri ?? null,
        storageId,
        language,
        checksum,
      };
      const before = await transaction.query(
        { name: "svc_find_unchanged", text: "select svc.find_unchanged($1, $2, $3, $4) as result" },
        [document.corpus, document.visibility, document.key, checksum],
      );
      const unchanged: IngestResult | null = before.rows[0].result;
      if (unchanged) {
        if (storageId !== null) {
          const text = "select svc.set_source_file($1, $2)";
          await transaction.query({ name: "svc_set_source_file", text }, [unchanged.sourceId, storageId]);
        }
        return unchanged;
      }
      const sections = await embedChunks(await runInThread("cut", [body, format], { user: userId ?? "" }), input.embed);
      return storeDocument(transaction, document, sections);
    },

    async remove(sourceId) {
      if (userId === null && !system) throw new SvcError("UNAUTHORIZED");
      if (!isUuid(sourceId)) throw new SvcError("NOT_FOUND");
      const { rows } = await transaction.query(
        { name: "svc_remove_source", text: "select svc.remove_source($1) as removed" },
        [sourceId],
      );
      if (!rows[0].removed) throw new SvcError("NOT_FOUND");
    },

    async list(input) {
      const { scope, limit = 50, offset = 0 } = partsOf(input, ["scope", "limit", "offset"]);
      const { corpus, visibility, owner } = resolveScope(scope, userId);
      const { rows } = await transaction.query(
        { name: "svc_list_sources", text: "select svc.list_sources($1, $2, $3, $4, $5) as sources" },
        [corpus, visibility, owner, clamp({ limit }, 1, 100), clamp({ offset }, 0, 1_000_000)],
      );
      return rows[0].sources;
    },

    search: (input) => searchPassages(transaction, userId, input),

    async section(sectionId) {
      if (!isUuid(sectionId)) return null;
      const { rows } = await transaction.query(
        { name: "svc_read_section", text: "select svc.read_section($1) as section" },
        [sectionId],
      );
      return rows[0].section;
    },
  };
}

const ingestMembers = [
  ...(["title", "scope", "sourceUri", "language", "storageId"] as const),
  ...(["markdown", "pages", "text", "embed"] as const),
] satisfies (keyof IngestInput)[];
const ingestFileMembers = [
  ...(["title", "scope", "sourceUri", "language", "storageId"] as const),
  ...(["filename", "mimeType", "mode", "provider", "paidFallback", "maxServiceCredits"] as const),
] satisfies (keyof IngestFileInput)[];

/** @param named a number by the name of its option @throws SvcError BAD_REQUEST for another value */
function clamp(named: Record<string, unknown>, least: number, most: number): number {
  const [[name, value] = [""]] = Object.entries(named);
  if (typeof value !== "number" || Number.isNaN(value)) throw refusal(name, "a number");
  return Math.min(Math.max(Math.trunc(value), least), most);
}

/** `ingestFile` for a call. */
export const ingestFile =
  (context: Pick<Context, "storage" | "workflows">, userId: string | null): ContextRag["ingestFile"] =>
  async (input) => {
    const { title, scope, sourceUri, language, ...file } = partsOf(input, ingestFileMembers);
    const { name } = userId === null ? { name: "-" } : await context.storage.getMeta(file.storageId);
    const document = { title: title ?? name, scope, sourceUri, language };
    checkPlace(document, { userId, system: false });
    const { corpus, visibility } = scope;
    const { id } = await context.workflows.start(ingestWorkflow, { document, file: { ...file, corpus, visibility } });
    return { runId: id };
  };
