/** The doors to rows of a searchable table: the context's searches over HTTP, and the SQL functions below them. */
import { inject } from "vitest";
import type { Caller, Door, RequestSql, Scope } from "./door.ts";
import type { World } from "./world.ts";

const table = '"public"."pages"';
const target = JSON.stringify({ table });
const vector = [1, 1, 1];
const tuning = JSON.stringify({
  keywordCandidateLimit: 100,
  vectorCandidateLimit: 100,
  mode: "convex",
  k: 60,
  keywordWeight: 1,
  vectorWeight: 1,
});

const rows = `select id::text from pages
  where corpus = $1 and visibility = $2 and user_id = coalesce($3, case $2 when 'private' then svc.current_user_id() else user_id end)`;

/** Over HTTP a scope can only name the caller, and anonymous callers can only request public rows. */
export const isOwn = ({ user }: Caller, { owner, visibility }: Scope) =>
  (owner === null || owner === user?.id) && (user !== null || visibility === "public");

export function searchDoors({ running, sql }: World): Door[] {
  const http = (name: string, more: object, functions: string[]): Door => ({
    name: `ctx.${name}`,
    functions,
    rows,
    serves: isOwn,
    async read({ user }, { corpus, visibility, owner }) {
      const scope = { corpus, visibility, ...(owner !== null && { ownerUserId: owner }) };
      const { status, body } = await running.query(user, `pages.${name}`, { ...more, scope, limit: 100 });
      if (status !== 200) throw new Error(`${name} answered ${status}: ${JSON.stringify(body)}`);
      return body.json.items.map(({ id }: { id: string }) => id);
    },
  });
  const direct = (name: string, text: string, functions: string[]): Door => ({
    name: `svc.${name}()`,
    functions: [name, ...functions],
    rows,
    read: async (caller, scope) =>
      (await sql.query<{ id: string }>(caller, text, [target, JSON.stringify(scope)])).map(({ id }) => id),
  });
  const readers = ["search_keyword_as_anonymous", "search_keyword_as_authenticated"];
  const keyword = ["search_keyword", ...readers];
  const query = { query: "harbour crane" };

  const words: Door[] = [
    http("search", query, keyword),
    direct(
      "search_keyword",
      "select id from svc.search_keyword($1, '{title,body}', 'harbour', $2, '[]', 100, 0)",
      readers,
    ),
    {
      ...direct("search_keyword", "", readers),
      name: "svc.search_keyword() by the beginning of a word",
      read: async (caller, scope) => {
        const text = "select id from svc.search_keyword($1, '{body}', 'harb', $2, '[]', 100, 0, true)";
        return (await sql.query<{ id: string }>(caller, text, [target, JSON.stringify(scope)])).map(({ id }) => id);
      },
    },
    {
      ...direct("search_keyword", "", readers),
      name: "svc.search_keyword() with words of its best rows",
      read: async (caller, scope) => {
        const feedback = JSON.stringify({ documents: 5, terms: 10, weight: 0.3 });
        const text = "select id from svc.search_keyword($1, '{title,body}', 'harbour', $2, '[]', 100, 0, false, $3)";
        const values = [target, JSON.stringify(scope), feedback];
        return (await sql.query<{ id: string }>(caller, text, values)).map(({ id }) => id);
      },
    },
    {
      ...direct("search_keyword", "", []),
      name: "the reader's own search_keyword",
      functions: readers,
      read: async (caller, scope) => {
        const role = caller.user ? "authenticated" : "anonymous";
        const text = `select id from svc_hidden.search_keyword_as_${role}($1, '{body}', 'crane', $2, '[]', 100, 0, false)`;
        return (await sql.query<{ id: string }>(caller, text, [table, JSON.stringify(scope)])).map(({ id }) => id);
      },
    },
    {
      name: "svc.search_snippets()",
      functions: ["search_snippets"],
      rows,
      // Requested for every existing row of the scope: the keys of rows are not secret.
      read: async (caller, { corpus, visibility, owner }) => {
        const ids = await keysOf(
          sql,
          corpus,
          visibility,
          owner ?? (visibility === "private" ? (caller.user?.id ?? "") : null),
        );
        const text = "select id from svc.search_snippets($1, '{body}', 'harbour', false, $2)";
        return (await sql.query<{ id: string }>(caller, text, [target, ids])).map(({ id }) => id);
      },
    },
  ];
  if (!inject("vector")) return words;
  return [
    ...words,
    http("vectorSearch", { vector }, ["search_vector"]),
    http("hybridSearch", { ...query, vector }, ["search_hybrid", "search_cosines", "search_vector", ...keyword]),
    direct("search_vector", "select id from svc.search_vector($1, 'embedding', '[1,1,1]', $2, '[]', 100, 0)", []),
    direct(
      "search_hybrid",
      `select id from svc.search_hybrid($1, '{body}', 'harbour', 'embedding', '[1,1,1]', $2, '[]', '${tuning}', 100, 0)`,
      [],
    ),
    {
      name: "svc_hidden.search_cosines()",
      functions: ["search_cosines"],
      rows,
      read: async (caller, { corpus, visibility, owner }) => {
        const ids = await keysOf(
          sql,
          corpus,
          visibility,
          owner ?? (visibility === "private" ? (caller.user?.id ?? "") : null),
        );
        const text = "select id from svc_hidden.search_cosines($1, 'embedding', '[1,1,1]', $2)";
        return (await sql.query<{ id: string }>(caller, text, [target, ids])).map(({ id }) => id);
      },
    },
  ];
}

/** Keys of all rows of a scope, regardless of policies. */
async function keysOf(sql: RequestSql, corpus: string, visibility: string, owner: string | null): Promise<string[]> {
  const found = await sql.all<{ id: string }>(
    "select id::text from pages where corpus = $1 and visibility = $2 and user_id = coalesce($3, user_id)",
    [corpus, visibility, owner],
  );
  return found.map(({ id }) => id);
}
