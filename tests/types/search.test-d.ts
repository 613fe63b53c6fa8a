/** If these fail, a handler cannot use what a search found without casts, or the compiler promises a column that is not read. */
import { integer, pgTable, text, vector } from "drizzle-orm/pg-core";
import { expectTypeOf, it } from "vitest";
import type { Context } from "../../src/index.ts";

const recipes = pgTable("recipes", {
  id: integer("id").primaryKey(),
  title: text("title").notNull(),
  body: text("body"),
  embedding: vector("embedding", { dimensions: 3 }),
});
declare const context: Context;
const scope = { corpus: "default", visibility: "public" } as const;

it("an item has the key and the row of its table, without vectors", async () => {
  const ask = async () => (await context.search(recipes, "soup", { scope })).items;
  type Item = Awaited<ReturnType<typeof ask>>[number];
  expectTypeOf<Item["id"]>().toEqualTypeOf<number>();
  expectTypeOf<Item["row"]>().toEqualTypeOf<{ id: number; title: string; body: string | null }>();
});

it("by the name of a table the compiler knows neither", async () => {
  const ask = async () => (await context.search("recipes", "soup", { scope })).items;
  type Item = Awaited<ReturnType<typeof ask>>[number];
  expectTypeOf<Item["id"]>().toEqualTypeOf<unknown>();
  expectTypeOf<Item["row"]>().toEqualTypeOf<Record<string, unknown>>();
});
