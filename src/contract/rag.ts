/** `ctx.rag` as handlers see it. `src/rag/context.ts` implements it. */
import type { ConvertStoredInput } from "./documents.ts";
import type { RagScope } from "./search.ts";

export const languages = [
  "simple",
  "arabic",
  "armenian",
  "basque",
  "catalan",
  "danish",
  "dutch",
  "english",
  "finnish",
  "french",
  "german",
  "greek",
  "hindi",
  "hungarian",
  "indonesian",
  "irish",
  "italian",
  "lithuanian",
  "nepali",
  "norwegian",
  "portuguese",
  "romanian",
  "russian",
  "serbian",
  "spanish",
  "swedish",
  "tamil",
  "turkish",
  "yiddish",
] as const;

/** The stemming of words. */
export type Language = (typeof languages)[number];

export interface PassagesInput {
  /** Keywords, a question or a statement, 1 to 2,000 characters. */
  query: string;
  scope: RagScope;
  /** Only these documents of the scope, at most 100. (Default: all) */
  sourceIds?: string[];
  /** The language for stemming the query's words; use that of the documents. (Default: `english`) */
  language?: Language;
  /**
   * The query's vector, from the same model as the documents' (`embed`). Passages that say the same in other words are
   * found, too, and the score adds both. (Default: words alone)
   */
  vector?: number[];
  /** 1 to 20. (Default: 10) */
  limit?: number;
}

/** A chunk, and its sentence that shares most words with the query. */
export interface Passage {
  sourceId: string;
  sourceTitle: string;
  sectionId: string;
  /** Headings, outermost first. */
  sectionPath: string[];
  chunkId: string;
  /** Starts at 1. */
  pageStart: number;
  snippet: string;
  /**
   * About the share of the query's words in the chunk, 0 to 1. Rare and repeated words count more, words of a long chunk less.
   * With a vector: as the fused score of `ctx.hybridSearch`, 1 for a passage that is the best by both.
   */
  score: number;
  /** Cosine similarity of the chunk's vector and the query's, from -1 to 1; absent for passages that words alone found. */
  similarity?: number;
}

export interface IngestInput {
  /** Shown with citations; 1 to 1,000 characters. */
  title: string;
  /** The document; its headings delimit the sections. Exactly one of `markdown`, `pages` and `text`, at most 5 MiB. */
  markdown?: string;
  /** The Markdown of each of its pages, in order. */
  pages?: string[];
  /** The document as plain text, one section. Form feeds separate pages. */
  text?: string;
  scope: RagScope;
  /** Identifies the document when it is ingested again, such as its address. (Default: its title and text) */
  sourceUri?: string;
  /** The PostgreSQL text search configuration for stemming. (Default: `english`) */
  language?: Language;
  /** The stored file of the document, so that readers can open a citation. (Default: none) */
  storageId?: string;
  /**
   * Returns one vector per chunk, in order, all of the same length. Vectors find claims in other words. Called inside
   * the transaction, for new and changed documents. (Default: no vectors)
   *
   * @param texts headings and text of each chunk
   */
  embed?: (texts: string[]) => Promise<number[][]>;
}

/** A stored file, and the options for converting and ingesting it. */
export interface IngestFileInput
  extends Pick<IngestInput, "scope" | "sourceUri" | "language">,
    Omit<ConvertStoredInput, "corpus" | "visibility"> {
  /** Shown with citations. (Default: the file's name) */
  title?: string;
}

export interface IngestResult {
  sourceId: string;
  /**
   * `unchanged`: the same title and text were already stored. `superseded`, of `ingestFile` alone: a later call with the
   * same `sourceUri` has stored its file first, and that stays.
   */
  status: "created" | "replaced" | "unchanged" | "superseded";
  sections: number;
  chunks: number;
}

export interface RagSource {
  id: string;
  title: string;
  uri: string | null;
  /** The stored file of the document. */
  storageId: string | null;
  language: string;
  /** ISO 8601. */
  createdAt: string;
  updatedAt: string;
  chunks: number;
}

/** The target of a citation. */
export interface RagSection {
  id: string;
  sourceId: string;
  sourceTitle: string;
  sourceUri: string | null;
  sourceStorageId: string | null;
  /** The heading; empty before the first one. */
  title: string;
  path: string[];
  /** From 1; null for a section without text. */
  pageStart: number | null;
  text: string;
}

/** The `rag` of a workflow's step. */
export interface RagDocuments {
  /**
   * Splits a document into sections and chunks and stores it as the caller's. A document that the system stores has no
   * owner. Ingesting the same document again changes nothing; another text with the same `sourceUri` replaces it.
   *
   * @throws SvcError BAD_REQUEST, UNAUTHORIZED without a session, FORBIDDEN for another owner, PAYLOAD_TOO_LARGE past 5
   *   MiB, DOCUMENT_UNREADABLE when reading takes longer than 30 s, UNAVAILABLE when many wait, QUERY_WROTE in a query
   */
  ingest(input: IngestInput): Promise<IngestResult>;
  /** Deletes a document of the caller. @throws SvcError NOT_FOUND when it does not exist or belongs to others */
  remove(sourceId: string): Promise<void>;
  /** The documents of a scope that the caller may read, newest first. 1 to 100 at a time. (Default: 50) */
  list(input: { scope: RagScope; limit?: number; offset?: number }): Promise<RagSource[]>;
  /**
   * The passages of a scope that share most words with the query, or are nearest to its vector, best first.
   *
   * @throws SvcError BAD_REQUEST, UNAUTHORIZED for a scope that needs a session, FORBIDDEN for another owner
   */
  search(input: PassagesInput): Promise<Passage[]>;
  /** The section of a citation, with its text; null if the caller may read none. */
  section(sectionId: string): Promise<RagSection | null>;
}

/** The `rag` of a context. */
export interface ContextRag extends RagDocuments {
  /**
   * Starts the built-in workflow `rag.ingest`, which converts a stored file and ingests the text. The run's timeline shows the
   * progress (`workflows.get`, `useWorkflow`). Its result is an `IngestResult` with the conversion's warnings.
   *
   * @returns the run's id
   * @throws SvcError as `ingest`, and NOT_FOUND for a file that the caller may not read
   */
  ingestFile(input: IngestFileInput): Promise<{ runId: string }>;
}
