/** Procedures that call `ctx.search` and the other searches, and a few pages to find. */
import { createSvcProcedureBuilders } from "@svc/core";
import { v } from "../../src/kit/v.ts";
import { pages } from "../fixture/backend/schema.ts";
import type { Database } from "../support/database.ts";
import { apiWith } from "../support/service.ts";

const procedure = createSvcProcedureBuilders();
const call = (name: string) => procedure.query.name(`pages.${name}`).allowAnonymous().input(v.any());

export const searches = {
  search: call("search").handler(({ context, input: { table = pages, query, ...options } }) =>
    context.search(table, query, options),
  ),
  vectorSearch: call("vectorSearch").handler(({ context, input: { table = pages, ...options } }) =>
    context.vectorSearch(table, options),
  ),
  /** JSON has no NaN and no infinity, so the handler inserts them. */
  vectorWith: call("vectorWith").handler(({ context, input: { odd, ...options } }) =>
    context.vectorSearch(pages, {
      ...options,
      vector: [1, { nan: Number.NaN, infinity: -Infinity }[odd as "nan"], 0],
    }),
  ),
  /** Nor has it these. */
  filterWith: call("filterWith").handler(({ context, input: { odd, ...options } }) => {
    const rank = { undefined: undefined, nan: Number.NaN, date: new Date(Number.NaN), bigint: { eq: 2n } }[
      odd as "nan"
    ];
    return context.search(pages, "boat", { ...options, filters: { rank: rank as never } });
  }),
  hybridSearch: call("hybridSearch").handler(({ context, input: { table = pages, query, ...options } }) =>
    context.hybridSearch(table, query, options),
  ),
};

export const api = apiWith({ procedures: searches });

export interface Page {
  userId: string;
  title: string;
  body?: string;
  rank?: number;
  corpus?: string;
  visibility?: "private" | "shared" | "public";
  embedding?: string;
}

/** @returns the ids, in the order of the pages */
export async function addPages(db: Database, rows: Page[]): Promise<string[]> {
  const withVectors = rows.some(({ embedding }) => embedding !== undefined);
  const added = await db.sql<{ id: string }>(
    `insert into pages (user_id, title, body, rank, corpus, visibility${withVectors ? ", embedding" : ""})
     select p ->> 'userId', p ->> 'title', coalesce(p ->> 'body', ''), (p ->> 'rank')::integer,
            coalesce(p ->> 'corpus', 'default'), coalesce(p ->> 'visibility', 'private')
            ${withVectors ? ", (p ->> 'embedding')::extensions.vector" : ""}
       from jsonb_array_elements($1::jsonb) with ordinality as e (p, place) order by place
     returning id`,
    [JSON.stringify(rows)],
  );
  return added.map(({ id }) => id);
}
