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

/** How words are stemmed. */
export type Language = (typeof languages)[number];

export interface PassagesInput {
  /** Words, a question or a statement, 1 to 2,000 characters. */
  query: string;
  scope: RagScope;
  /** Only these documents of the scope, at most 100. (Default: all) */
  sourceIds?: string[];
  /** How its words are stemmed: as those of the documents were. (Default: `english`) */
  language?: Language;
  /** 1 to 20. (Default: 10) */
  limit?: number;
}

/** A chunk, and the sentence of it that shares most with the query. */
export interface Passage {
  sourceId: string;
  sourceTitle: string;
  sectionId: string;
  /** Headings from the top down. */
  sectionPath: string[];
  chunkId: string;
  /** From 1. */
  pageStart: number;
  snippet: string;
  /** Share of the query's words in it, the rare ones counting more, seven tenths by the sentence; 0 to 1. */
  score: number;
}

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
