/** `ctx.search`, `ctx.vectorSearch` and `ctx.hybridSearch` as handlers see them. `src/search/context.ts` implements them. */
import type { PgTable } from "drizzle-orm/pg-core";

/** The scope of a search or an ingestion. */
export interface RagScope {
  /** The collection. */
  corpus: string;
  /** `private`: only the caller's own. `shared`: readable by any signed-in user. `public`: readable by anyone. */
  visibility: "private" | "shared" | "public";
  /** The caller's own id; other ids are refused. (Default: the caller for `private`, all owners otherwise) */
  ownerUserId?: string;
}

export interface SearchSnippet {
  /** The column with the most query words, by its name in the database. */
  field: string;
  /**
   * About 40 words. Matching parts are whole words or pairs of characters. Insert the parts into a page as text: then
   * nothing needs escaping.
   */
  parts: { text: string; match: boolean }[];
}

/**
 * Rows with a column that equals a value, is one of several, or is in a range; `null` matches missing values. Of an array
 * column also: rows whose array contains all of the values, or one of them (`overlaps`). At most 1,000 values.
 */
export type SearchFilter =
  | string
  | number
  | boolean
  | null
  | { eq: unknown }
  | { in: unknown[] }
  | { contains: unknown[] }
  | { overlaps: unknown[] }
  | { range: { gt?: unknown; gte?: unknown; lt?: unknown; lte?: unknown } };

interface Page {
  /** The collection and who may read it. `private` means the caller's own rows. */
  scope: RagScope;
  /** Maximum number of items, 1 to 100. (Default: 10) */
  limit?: number;
  /** Items to skip, 0 to 10,000. (Default: 0) */
  offset?: number;
  /** Only rows that match these columns. */
  filters?: Record<string, SearchFilter>;
}

export interface SearchOptions extends Page {
  /** Columns to search, by property or name. (Default: all that the table declares) */
  fields?: string[];
  /** The query's last word also matches as a prefix, for search while typing. (Default: false) */
  prefix?: boolean;
  /** Items include the passage with the most query words. (Default: false) */
  snippets?: boolean;
  /**
   * Words of the best rows are added to the query (pseudo-relevance feedback, RM3). It finds more rows about the same, and often
   * ranks the first ones worse. (Default: false)
   */
  feedback?: boolean | SearchFeedback;
}

export interface SearchFeedback {
  /** Best rows that give words, 1 to 20. (Default: 3) */
  documents?: number;
  /** Words that are added, 1 to 30. (Default: 30) */
  terms?: number;
  /** Their share of the query's weight, 0 to 1. (Default: 0.2) */
  weight?: number;
}

export interface VectorSearchOptions extends Page {
  /** Finite numbers, one per dimension of the column. */
  vector: number[];
  /** The column to compare. (Default: the table's only vector column) */
  vectorField?: string;
}

export interface HybridSearchOptions extends SearchOptions, VectorSearchOptions {
  tuning?: {
    /** Best keyword matches to fuse, 1 to 1,000. (Default: 100) */
    keywordCandidateLimit?: number;
    /** Nearest vectors to fuse, 1 to 1,000. (Default: 100) */
    vectorCandidateLimit?: number;
    fusion?: {
      /**
       * `convex` adds scores, and words lead unless the nearest vectors clearly stand out; `rrf` adds weight / (k
       * + rank). (Default: convex)
       */
      mode?: "rrf" | "convex";
      /** For `rrf`, 1 to 1,000. (Default: 60) */
      k?: number;
      /** 0 to 1,000 each, not both 0. (Default: 1 and 1) */
      weights?: { keyword?: number; vector?: number };
    };
  };
}

export interface SearchItem<Row, Id = unknown> {
  /** The primary key. */
  id: Id;
  /** The row as `ctx.db` returns it, without its vectors. */
  row: Row;
  /** The sort key of the items. */
  score: number;
  /** `keyword`: BM25. `vector`: cosine similarity, -1 to 1. `fused`: the score. */
  scores: { keyword?: number; vector?: number; fused: number };
  matchedBy: ("keyword" | "vector")[];
  /** Only with `snippets`. */
  snippet?: SearchSnippet;
}

export interface SearchResult<Row = Record<string, unknown>, Id = unknown> {
  items: SearchItem<Row, Id>[];
  meta: { mode: "keyword" | "vector" | "hybrid"; corpus: string; visibility: string; limit: number; offset: number };
}

type ColumnOf<T extends PgTable, K> = K extends keyof T["_"]["columns"] ? T["_"]["columns"][K] : never;
type IsVector<Column> = Column extends { _: { columnType: "PgVector" } } ? true : false;
/** A row without its vectors. */
type RowOf<T extends PgTable> = {
  [K in keyof T["$inferSelect"] as IsVector<ColumnOf<T, K>> extends true ? never : K]: T["$inferSelect"][K];
};
type KeyOf<T extends PgTable> = {
  [K in keyof T["$inferSelect"]]: ColumnOf<T, K> extends { _: { isPrimaryKey: true } } ? T["$inferSelect"][K] : never;
}[keyof T["$inferSelect"]];
/** The key is unknown where `primaryKey()` of the table declares it. */
type Found<T> = T extends PgTable
  ? SearchResult<RowOf<T>, [KeyOf<T>] extends [never] ? unknown : KeyOf<T>>
  : SearchResult;

/** The search members of a context. `table` is a Drizzle table or the name of its export. */
export interface ContextSearch {
  /**
   * By keyword, ranked by BM25.
   *
   * @throws SvcError BAD_REQUEST; UNAUTHORIZED and FORBIDDEN for a scope that is not the caller's
   */
  search<T extends PgTable | string>(table: T, query: string, options: SearchOptions): Promise<Found<T>>;
  /** By cosine distance to a vector. @throws SvcError as `search` */
  vectorSearch<T extends PgTable | string>(table: T, options: VectorSearchOptions): Promise<Found<T>>;
  /** By both. @throws SvcError as `search` */
  hybridSearch<T extends PgTable | string>(table: T, query: string, options: HybridSearchOptions): Promise<Found<T>>;
}
