/** `ctx.search`, `ctx.vectorSearch` and `ctx.hybridSearch` as handlers see them. `src/search/context.ts` implements them. */
import type { InferSelectModel } from "drizzle-orm";
import type { PgTable } from "drizzle-orm/pg-core";

/** What a search or an ingestion names. */
export interface RagScope {
  /** The collection. */
  corpus: string;
  /** `private`: the caller's own. `shared`: any signed-in user reads it. `public`: anyone does. */
  visibility: "private" | "shared" | "public";
  /** The caller's own id, and no other. (Default: the caller for `private`, everybody's documents otherwise) */
  ownerUserId?: string;
}

export interface SearchSnippet {
  /** The column with the most words of the query, by its name in the database. */
  field: string;
  /**
   * About 40 words. Parts that match are whole words, or pairs of characters. Put the parts into a page as text, and
   * nothing needs escaping.
   */
  parts: { text: string; match: boolean }[];
}

/** Rows of which a column equals a value, is one of some, or lies in a range; `null` asks for missing values. */
export type SearchFilter =
  | string
  | number
  | boolean
  | null
  | { eq: unknown }
  | { in: unknown[] }
  | { range: { gt?: unknown; gte?: unknown; lt?: unknown; lte?: unknown } };

export interface Page {
  /** The collection and who may read it. `private` means the caller's own rows. */
  scope: RagScope;
  /** Items at most, 1 to 100. (Default: 10) */
  limit?: number;
  /** Items to leave out at the start, 0 to 10,000. (Default: 0) */
  offset?: number;
  /** Only rows whose columns are so. */
  filters?: Record<string, SearchFilter>;
}

export interface SearchOptions extends Page {
  /** Columns to look into, by property or name. (Default: all that the table declares) */
  fields?: string[];
  /** The query's last word also finds words that begin with it, as while somebody types. (Default: false) */
  prefix?: boolean;
  /** Items carry the passage with the most words of the query. (Default: false) */
  snippets?: boolean;
}

export interface VectorSearchOptions extends Page {
  /** As many finite numbers as the column has dimensions. */
  vector: number[];
  /** The column that is compared. (Default: the table's only vector column) */
  vectorField?: string;
}

export interface HybridSearchOptions extends SearchOptions, VectorSearchOptions {
  tuning?: {
    /** Best keyword matches that are fused, 1 to 1,000. (Default: 100) */
    keywordCandidateLimit?: number;
    /** Nearest vectors that are fused, 1 to 1,000. (Default: 100) */
    vectorCandidateLimit?: number;
    fusion?: {
      /**
       * `convex` keeps distances, and a leg that is sure of few candidates counts more; `rrf` adds weight / (k + rank).
       * (Default: convex)
       */
      mode?: "rrf" | "convex";
      /** Of rrf, 1 to 1,000. (Default: 60) */
      k?: number;
      /** 0 to 1,000 each, not both 0. (Default: 1 and 1) */
      weights?: { keyword?: number; vector?: number };
    };
  };
}

export interface SearchItem<Row> {
  /** The primary key. */
  id: unknown;
  /** The row as `ctx.db` gives it, without its vectors. */
  row: Row;
  /** What the items are ordered by. */
  score: number;
  /** `keyword`: BM25. `vector`: cosine similarity, -1 to 1. `fused`: the score. */
  scores: { keyword?: number; vector?: number; fused: number };
  matchedBy: ("keyword" | "vector")[];
  /** With `snippets`. */
  snippet?: SearchSnippet;
}

export interface SearchResult<Row = Record<string, unknown>> {
  items: SearchItem<Row>[];
  meta: { mode: "keyword" | "vector" | "hybrid"; corpus: string; visibility: string; limit: number; offset: number };
}

export type RowOf<T> = T extends PgTable ? Partial<InferSelectModel<T>> : Record<string, unknown>;

/** The search members of a context. `table` is a Drizzle table or the name of its export. */
export interface ContextSearch {
  /**
   * By keyword, ranked by BM25.
   *
   * @throws SvcError BAD_REQUEST; UNAUTHORIZED and FORBIDDEN for a scope that is not the caller's
   */
  search<T extends PgTable | string>(table: T, query: string, options: SearchOptions): Promise<SearchResult<RowOf<T>>>;
  /** By cosine distance to a vector. @throws SvcError as `search` */
  vectorSearch<T extends PgTable | string>(table: T, options: VectorSearchOptions): Promise<SearchResult<RowOf<T>>>;
  /** By both. @throws SvcError as `search` */
  hybridSearch<T extends PgTable | string>(
    table: T,
    query: string,
    options: HybridSearchOptions,
  ): Promise<SearchResult<RowOf<T>>>;
}
