/**
 * `ctx.rag`: puts documents into the tables that answers are grounded on, as a part of the call's transaction.
 * Next hop: `src/text/worker-thread.ts` runs `src/text/cut-document.ts`, then `src/rag/store-document.ts`.
 */
import { createHash } from "node:crypto";
import type { Context } from "../contract/context.ts";
import type { ConvertStoredInput } from "../documents/convert-stored.ts";
import { SvcError } from "../kit/svc-error.ts";
import { isUuid } from "../kit/uuid.ts";
import type { RequestTransaction } from "../postgres/transaction.ts";
import type { Language } from "../search/languages.ts";
import { partsOf, type RagScope, refusal, resolveScope } from "../search/scope.ts";
import { aside } from "../text/worker-thread.ts";
import { bodyOf, checkPlace } from "./document-input.ts";
import { ingestWorkflow } from "./ingest-workflow.ts";
import { findPassages, type Passage, type PassagesInput } from "./passages.ts";
import { storeDocument } from "./store-document.ts";
import { embedChunks } from "./vectors.ts";

export interface IngestInput {
  /** Shown with citations; 1 to 1,000 characters. */
  title: string;
  /** The document; its headings make the sections. One of this, `pages` and `text`, at most 5 MiB. */
  markdown?: string;
  /** The Markdown of each of its pages, in order. */
  pages?: string[];
  /** The document as plain text, one section. Form feeds part pages. */
  text?: string;
  scope: RagScope;
  /** What makes it the same document when it comes again, such as its address. (Default: title and text themselves) */
  sourceUri?: string;
  /** A PostgreSQL text search configuration that stems its words. (Default: `english`) */
  language?: Language;
  /** The stored file that it was made from, for those who open a citation. (Default: none) */
  storageId?: string;
  /**
   * Gives a vector for each chunk, in order, all of as many numbers: by them claims are found in other words. Called for
   * documents that are new or have changed, inside the transaction. (Default: none are kept)
   *
   * @param texts headings and text of each chunk
   */
  embed?: (texts: string[]) => Promise<number[][]>;
}

/** A stored file, and how it is converted and kept. */
export interface IngestFileInput
  extends Pick<IngestInput, "scope" | "sourceUri" | "language">,
    Omit<ConvertStoredInput, "corpus" | "visibility"> {
  /** Shown with citations. (Default: the file's name) */
  title?: string;
}

export interface IngestResult {
  sourceId: string;
  /** `unchanged`: the same title and text were there already. */
  status: "created" | "replaced" | "unchanged";
  sections: number;
  chunks: number;
}

export interface RagSource {
  id: string;
  title: string;
  uri: string | null;
  /** The stored file that it was made from. */
  storageId: string | null;
  language: string;
  /** ISO 8601. */
  createdAt: string;
  updatedAt: string;
  chunks: number;
}

/** What a citation points to. */
export interface RagSection {
  id: string;
  sourceId: string;
  sourceTitle: string;
  sourceUri: string | null;
  sourceStorageId: string | null;
  /** Of its heading; empty before the first one. */
  title: string;
  path: string[];
  /** From 1; null in a section without text. */
  pageStart: number | null;
  text: string;
}

/** The `rag` of a workflow's step. */
export interface RagDocuments {
  /**
   * Cuts a document into sections and chunks and stores it as the caller's; what the system stores belongs to nobody. The
   * same again changes nothing; another text with the same `sourceUri` replaces it.
   *
   * @throws SvcError BAD_REQUEST, UNAUTHORIZED without a session, FORBIDDEN for another owner, PAYLOAD_TOO_LARGE past
   *   5 MiB, DOCUMENT_UNREADABLE when it takes 30 s to read, UNAVAILABLE when many wait, QUERY_WROTE in a query
   */
  ingest(input: IngestInput): Promise<IngestResult>;
  /** Removes a document of the caller. @throws SvcError NOT_FOUND when there is none, or it belongs to others */
  remove(sourceId: string): Promise<void>;
  /** The documents of a scope that the caller may read, newest first. 1 to 100 at a time (Default: 50). */
  list(input: { scope: RagScope; limit?: number; offset?: number }): Promise<RagSource[]>;
  /**
   * The passages of a scope that share most with a question or some words, best first.
   *
   * @throws SvcError BAD_REQUEST, UNAUTHORIZED for a scope that needs a session, FORBIDDEN for another owner
   */
  search(input: PassagesInput): Promise<Passage[]>;
  /** The section that a citation names, with its text; null when there is none that the caller may read. */
  section(sectionId: string): Promise<RagSection | null>;
}

/** The `rag` of a context. */
export interface ContextRag extends RagDocuments {
  /**
   * Starts the built-in workflow `rag.ingest`, which converts a stored file and ingests what comes out. The run's timeline
   * is the progress (`workflows.get`, `useWorkflow`), its result an `IngestResult` with the conversion's warnings.
   *
   * @returns the run's id
   * @throws SvcError as `ingest`, and NOT_FOUND for a file that the caller may not read
   */
  ingestFile(input: IngestFileInput): Promise<{ runId: string }>;
}

/**
 * @param userId the caller, null when nobody is signed in
 * @param system whether this is the platform itself
 */
export function contextRag(transaction: RequestTransaction, userId: string | null, system = false): RagDocuments {
  return {
    async ingest(input) {
      const { title, sourceUri, storageId = null } = partsOf(input);
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
      if (before.rows[0].result) return before.rows[0].result;
      const sections = await embedChunks(await aside("cut", [body, format]), input.embed);
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
      const { scope, limit = 50, offset = 0 } = partsOf(input);
      const { corpus, visibility, owner } = resolveScope(scope, userId);
      const { rows } = await transaction.query(
        { name: "svc_list_sources", text: "select svc.list_sources($1, $2, $3, $4, $5) as sources" },
        [corpus, visibility, owner, clamp(limit, 1, 100), clamp(offset, 0, 1_000_000)],
      );
      return rows[0].sources;
    },

    search: (input) => findPassages(transaction, userId, input),

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

const clamp = (value: unknown, least: number, most: number) =>
  Math.min(Math.max(Math.trunc(Number(value)) || least, least), most);

/** `ingestFile` of a call. */
export const ingestFile =
  (context: Pick<Context, "storage" | "workflows">, userId: string | null): ContextRag["ingestFile"] =>
  async (input) => {
    const { title, scope, sourceUri, language, ...file } = partsOf(input);
    const { name } = userId === null ? { name: "-" } : await context.storage.getMeta(file.storageId);
    const document = { title: title ?? name, scope, sourceUri, language };
    checkPlace(document, { userId, system: false });
    const { corpus, visibility } = scope;
    const { id } = await context.workflows.start(ingestWorkflow, { document, file: { ...file, corpus, visibility } });
    return { runId: id };
  };
