/** The start page: cards that two people share, and SQL as one of them. */
import { v } from "@svc/core";
import { sql } from "drizzle-orm";
import { z } from "zod";
import { createCrud, procedure } from "./runtime.ts";
import { cards } from "./schema.ts";

export const cardsCrud = createCrud(cards, { methods: ["list", "create", "update", "remove"] });

interface Answer {
  count: number;
  rows: Record<string, unknown>[];
}

/** Runs a statement as the caller: see `sql/run_statement.sql`. */
export const run = procedure.mutation
  .name("cards.run")
  .input(v.object({ statement: v.string() }))
  .output(z.object({ count: z.number(), rows: z.array(z.record(z.string(), z.unknown())) }))
  .handler(async ({ context: ctx, input }) => {
    const answer = sql<Answer>`public.run_statement(${input.statement})`;
    const [row] = await ctx.db.select({ answer }).from(sql`(select 1) as one`);
    return row?.answer ?? { count: 0, rows: [] };
  });
