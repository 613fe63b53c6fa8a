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
    const { feedback } = given;
    const tuning = mode === "hybrid" ? [JSON.stringify({ ...tuningOf(given.tuning, limit + offset), feedback })] : [];

    const values = [
      JSON.stringify(target),
      ...words,
      ...nearest,
      ...about,
      ...tuning,
      limit,
      offset,
      ...(asked ? [prefix] : []),
      ...(mode === "keyword" ? [JSON.stringify(feedback)] : []),
    ];
    const { corpus, visibility } = scope;
    const found = await items(db(), searched, mode, values);
    const keys = found.map(({ key }) => key);
    const snippets =
      asked && given.snippets
        ? await snippetsOf(transaction, { target, ...asked }, keys)
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

const functions = {
  keyword: "id, score as keyword, null::double precision as vector, score as fused, ordinality from svc.search_keyword",
  vector: "id, null::double precision as keyword, score as vector, score as fused, ordinality from svc.search_vector",
  hybrid: "id, keyword, vector_score as vector, fused, ordinality from svc.search_hybrid",
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

/**
 * The best rows with their scores, in one statement. It reads the rows by their keys, again under the caller's policies. The
 * keys are one array from a subquery: under a policy, PostgreSQL would not look them up one by one as those of a join.
 */
async function items(
  db: RequestDatabase,
  searched: SearchTable,
  mode: SearchResult["meta"]["mode"],
  values: unknown[],
): Promise<(SearchItem<object> & { key: string })[]> {
  const { table, id, vectors } = searched;
  const columns = Object.entries(getTableColumns(table) as Record<string, PgColumn>);
  const key = columns.find(([property]) => property === id.property)?.[1];
  const given = values.map((value) => sql`${sql.param(value)}`);
  const found = db
    .$with("svc_found", { id: sql`id`.as("id") }) // named in full below: the table may have such columns
    .as(sql`select ${platformSql(functions[mode])}(${sql.join(given, platformSql(", "))}) with ordinality`);
  const rows = await db
    .with(found)
    .select({
      key: sql<string>`svc_found.id`,
      keyword: sql<number | null>`svc_found.keyword`,
      vector: sql<number | null>`svc_found.vector`,
      fused: sql<number>`svc_found.fused`,
      row: Object.fromEntries(columns.filter(([, { name }]) => !vectors.has(name))),
    })
    .from(table)
    .innerJoin(found, sql`svc_found.id = ${key}::text`)
    .where(sql`${key} = any ((select array_agg(svc_found.id) from svc_found)::${platformSql(id.castType)}[])`)
    .orderBy(sql`svc_found.ordinality`);
  return rows.map(({ key, keyword, vector, fused, row }) => {
    const scores = { ...(keyword !== null && { keyword }), ...(vector !== null && { vector }), fused };
    const matchedBy = (["keyword", "vector"] as const).filter((leg) => scores[leg] !== undefined);
    return { key, id: (row as Record<string, unknown>)[id.property], row, score: fused, scores, matchedBy };
  });
}
