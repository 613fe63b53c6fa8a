/**
 * `ctx.search`, `ctx.vectorSearch`, `ctx.hybridSearch`: the caller's best matching rows with their scores.
 * Next hop: `sql/search/search_keyword.sql`, `search_vector.sql`, `search_hybrid.sql`; the rows come by `ctx.db`.
 */
import { getTableColumns, sql } from "drizzle-orm";
import type { PgColumn } from "drizzle-orm/pg-core";
import type { z } from "zod";
import type { RequestDatabase } from "../contract/database.ts";
import type { ContextSearch, SearchItem, SearchResult, SearchSnippet } from "../contract/search.ts";
import { checkCallOptions } from "../kit/options.ts";
import { platformSql } from "../postgres/anonymous-gate.ts";
import type { RequestTransaction } from "../postgres/transaction.ts";
import { resolveScope } from "./scope.ts";
import {
  checkFields,
  checkFilters,
  checkQuery,
  checkScope,
  checkVector,
  searchOptions,
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
    const given = checkCallOptions(methods[mode], searchOptions, options);
    const { limit, offset, prefix } = given;
    const scope = checkScope(searched, resolveScope(given.scope, userId));
    const target = targetOf(searched);
    const about = [JSON.stringify(scope), JSON.stringify(checkFilters(searched, given.filters))];
    const asked =
      mode === "vector" ? null : { fields: checkFields(searched, given.fields), query: checkQuery(query), prefix };
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
      ...(asked ? [prefix] : []),
    ];
    const { rows } = await transaction.query({ name: `svc_search_${mode}`, text: statements[mode] }, values);
    const { corpus, visibility } = scope;
    const found = await items(db(), searched, rows as Found[]);
    const ids = (rows as Found[]).map((row) => row.id);
    const snippets =
      asked && given.snippets
        ? await snippetsOf(transaction, { target, ...asked }, ids)
        : new Map<string, SearchSnippet>();
    return {
      items: found.map(({ key, ...item }) => (snippets.has(key) ? { ...item, snippet: snippets.get(key) } : item)),
      meta: { mode, corpus, visibility, limit, offset },
    };
  }
  // The compiler cannot infer the table's row type from its name.
  return {
    search: (table, query, options) => run("keyword", table, options, query) as never,
    vectorSearch: (table, options) => run("vector", table, options) as never,
    hybridSearch: (table, query, options) => run("hybrid", table, options, query) as never,
  };
}

const methods = { keyword: "search", vector: "vectorSearch", hybrid: "hybridSearch" };

const statements = {
  keyword: `select id, score as keyword, null::double precision as vector, score as fused
    from svc.search_keyword($1, $2, $3, $4, $5, $6, $7, $8)`,
  vector: `select id, null::double precision as keyword, score as vector, score as fused
    from svc.search_vector($1, $2, $3, $4, $5, $6, $7)`,
  hybrid: `select id, keyword, vector_score as vector, fused
    from svc.search_hybrid($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
};

/** The database knows the rest of the table's declaration. */
const targetOf = ({ name }: SearchTable) => ({ table: name });

/** In the form that `svc.search_hybrid()` takes. @param wanted number of items that the page needs */
function tuningOf({ fusion, ...limits }: z.output<typeof searchOptions>["tuning"], wanted: number) {
  const enough = Math.min(Math.max(100, wanted), 1_000);
  const { mode, k, weights } = fusion;
  const { keywordCandidateLimit = enough, vectorCandidateLimit = enough } = limits;
  const [keywordWeight, vectorWeight] = [weights.keyword, weights.vector];
  return { keywordCandidateLimit, vectorCandidateLimit, mode, k, keywordWeight, vectorWeight };
}

/** Reads the rows, again under the caller's policies, and adds the scores. */
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
