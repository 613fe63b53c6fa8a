/**
 * `ctx.search`, `ctx.vectorSearch`, `ctx.hybridSearch`: the caller's rows that match best, with their scores.
 * Next hop: `sql/search/search_keyword.sql`, `search_vector.sql`, `search_hybrid.sql`; the rows come by `ctx.db`.
 */
import { getTableColumns, sql } from "drizzle-orm";
import type { PgColumn } from "drizzle-orm/pg-core";
import type { RequestDatabase } from "../contract/database.ts";
import type {
  ContextSearch,
  HybridSearchOptions,
  SearchItem,
  SearchResult,
  SearchSnippet,
} from "../contract/search.ts";
import { platformSql } from "../postgres/anonymous-gate.ts";
import type { RequestTransaction } from "../postgres/transaction.ts";
import { refusal, resolveScope } from "./scope.ts";
import {
  checkFields,
  checkFilters,
  checkNames,
  checkNumber,
  checkQuery,
  checkScope,
  checkSwitch,
  checkVector,
  searchTable,
} from "./search-input.ts";
import type { SearchTable } from "./searchable.ts";
import { snippetsOf } from "./snippets.ts";

interface Found {
  id: string;
  keyword: number | null;
  vector: number | null;
  fused: number;
}

/** @param userId the caller, null when nobody is signed in */
export function contextSearch(
  tables: ReadonlyMap<string, SearchTable>,
  transaction: RequestTransaction,
  db: () => RequestDatabase,
  userId: string | null,
): ContextSearch {
  async function run(mode: SearchResult["meta"]["mode"], table: unknown, options: unknown, query?: unknown) {
    const searched = searchTable(tables, table);
    checkNames("options", options, optionNames);
    const given = (options ?? {}) as Partial<HybridSearchOptions>;
    const scope = checkScope(searched, resolveScope(given.scope, userId));
    const limit = checkNumber("limit", given.limit, 10, 1, 100);
    const offset = checkNumber("offset", given.offset, 0, 0, 10_000);
    const target = targetOf(searched);
    const about = [JSON.stringify(scope), JSON.stringify(checkFilters(searched, given.filters))];
    const asked =
      mode === "vector"
        ? null
        : {
            fields: checkFields(searched, given.fields),
            query: checkQuery(query),
            prefix: checkSwitch("prefix", given.prefix),
            snippets: checkSwitch("snippets", given.snippets),
          };
    const words = asked ? [asked.fields, asked.query] : [];
    const vector = mode === "keyword" ? null : checkVector(searched, given.vector, given.vectorField);
    const nearest = vector ? [vector.field, vector.text] : [];
    const tuning = mode === "hybrid" ? [JSON.stringify(tuningOf(given.tuning, limit + offset))] : [];

    const values = [
      JSON.stringify(target),
      ...words,
      ...nearest,
      ...about,
      ...tuning,
      limit,
      offset,
      ...(asked ? [asked.prefix] : []),
    ];
    const { rows } = await transaction.query({ name: `svc_search_${mode}`, text: statements[mode] }, values);
    const { corpus, visibility } = scope;
    const found = await items(db(), searched, rows as Found[]);
    const snippets = asked?.snippets
      ? await snippetsOf(
          transaction,
          { target, ...asked },
          (rows as Found[]).map((row) => row.id),
        )
      : new Map<string, SearchSnippet>();
    return {
      items: found.map(({ key, ...item }) => (snippets.has(key) ? { ...item, snippet: snippets.get(key) } : item)),
      meta: { mode, corpus, visibility, limit, offset },
    };
  }
  // The rows are those of the table that was given: the compiler cannot follow that through its name.
  return {
    search: (table, query, options) => run("keyword", table, options, query) as never,
    vectorSearch: (table, options) => run("vector", table, options) as never,
    hybridSearch: (table, query, options) => run("hybrid", table, options, query) as never,
  };
}

const statements = {
  keyword: `select id, score as keyword, null::double precision as vector, score as fused
    from svc.search_keyword($1, $2, $3, $4, $5, $6, $7, $8)`,
  vector: `select id, null::double precision as keyword, score as vector, score as fused
    from svc.search_vector($1, $2, $3, $4, $5, $6, $7)`,
  hybrid: `select id, keyword, vector_score as vector, fused
    from svc.search_hybrid($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
};

/** The database knows the rest of its declaration. */
const targetOf = ({ name }: SearchTable) => ({ table: name });

/** The same for all three: one object may serve them, and hold the words too. */
const optionNames = "query scope limit offset filters fields prefix snippets vector vectorField tuning".split(" ");

function tuningOf(tuning: unknown, wanted: number) {
  checkNames("tuning", tuning, ["keywordCandidateLimit", "vectorCandidateLimit", "fusion"]);
  const { keywordCandidateLimit, vectorCandidateLimit, fusion } = (tuning ?? {}) as NonNullable<
    HybridSearchOptions["tuning"]
  >;
  checkNames("tuning.fusion", fusion, ["mode", "k", "weights"]);
  const { mode = "convex", k, weights } = fusion ?? {};
  if (mode !== "rrf" && mode !== "convex") throw refusal("tuning.fusion.mode", "rrf or convex");
  const enough = Math.min(Math.max(100, wanted), 1_000);
  const weight = (leg: "keyword" | "vector") => {
    const value = weights?.[leg] ?? 1;
    if (typeof value === "number" && value >= 0 && value <= 1_000) return value;
    throw refusal(`tuning.fusion.weights.${leg}`, "a number from 0 to 1000");
  };
  const [keywordWeight, vectorWeight] = [weight("keyword"), weight("vector")];
  if (keywordWeight + vectorWeight === 0) throw refusal("tuning.fusion.weights", "above 0 for one leg at least");
  return {
    keywordCandidateLimit: checkNumber("tuning.keywordCandidateLimit", keywordCandidateLimit, enough, 1, 1_000),
    vectorCandidateLimit: checkNumber("tuning.vectorCandidateLimit", vectorCandidateLimit, enough, 1, 1_000),
    mode,
    k: checkNumber("tuning.fusion.k", k, 60, 1, 1_000),
    keywordWeight,
    vectorWeight,
  };
}

/** Reads the rows, under the caller's policies once more, and puts the scores beside them. */
async function items(
  db: RequestDatabase,
  searched: SearchTable,
  found: Found[],
): Promise<(SearchItem<object> & { key: string })[]> {
  if (found.length === 0) return [];
  const { table, id, vectors } = searched;
  const columns = Object.entries(getTableColumns(table) as Record<string, PgColumn>);
  const key = columns.find(([property]) => property === id.property)?.[1];
  const ids = sql`${sql.param(found.map((one) => one.id))}::text[]::${platformSql(id.castType)}[]`;
  const rows = await db
    .select({
      svcKey: sql<string>`${key}::text`,
      row: Object.fromEntries(columns.filter(([, { name }]) => !vectors.has(name))),
    })
    .from(table)
    .where(sql`${key} = any (${ids})`);
  const byKey = new Map(rows.map(({ svcKey, row }) => [svcKey, row as Record<string, unknown>]));
  return found.flatMap(({ id: text, keyword, vector, fused }) => {
    const row = byKey.get(text);
    if (!row) return [];
    const scores = { ...(keyword !== null && { keyword }), ...(vector !== null && { vector }), fused };
    const matchedBy = (["keyword", "vector"] as const).filter((leg) => scores[leg] !== undefined);
    return [{ key: text, id: row[id.property], row, score: fused, scores, matchedBy }];
  });
}
