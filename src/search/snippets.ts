/**
 * Passages that show why rows were found: text in parts, without markup, read under the caller's policies.
 * Next hop: `sql/search/search_snippets.sql`.
 */
import type { SearchSnippet } from "../contract/search.ts";
import type { RequestTransaction } from "../postgres/transaction.ts";

const statement = "select id, field, parts from svc.search_snippets($1, $2, $3, $4, $5)";

/** Snippets by row key, as text. @param ids keys of rows; rows that the caller may not read are omitted */
export async function snippetsOf(
  transaction: RequestTransaction,
  about: { target: object; fields: string[]; query: string; prefix: boolean },
  ids: string[],
): Promise<Map<string, SearchSnippet>> {
  if (ids.length === 0) return new Map();
  const values = [JSON.stringify(about.target), about.fields, about.query, about.prefix, ids];
  const { rows } = await transaction.query({ name: "svc_search_snippets", text: statement }, values);
  return new Map((rows as ({ id: string } & SearchSnippet)[]).map(({ id, field, parts }) => [id, { field, parts }]));
}
