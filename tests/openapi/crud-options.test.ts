// If this file fails, the document says something else about upsert, aggregate and operations on many rows than they take.
import { jsonb, pgTable, serial, text } from "drizzle-orm/pg-core";
import { expect, test } from "vitest";
import { crudSchemas } from "../../src/crud/openapi.ts";
import { createCrudFactory, createSvcProcedureBuilders, defineApi, ownerRls } from "../../src/index.ts";
import { Schemas } from "../../src/kit/schemas.ts";
import { procedures } from "../crud/shelf.ts";

const things = pgTable(
  "things",
  {
    id: serial("id").primaryKey(),
    userId: text("user_id").notNull(),
    form: jsonb("form").notNull().default({}),
    notes: jsonb("notes"),
  },
  (t) => ownerRls(t.userId),
);
const others = { things: createCrudFactory(createSvcProcedureBuilders())(things) };
const resources = defineApi({ procedures: { ...procedures, ...others } })["~svc"].crud;
const documented = (prefix: string) => {
  const schemas = new Schemas();
  const crud = resources.find((one) => one.prefix === prefix);
  if (!crud) throw new Error(`no resource ${prefix}`);
  return { of: crudSchemas(crud, schemas), components: Object.keys(schemas.all), all: schemas.all };
};
const properties = (schema: { properties?: unknown }) => schema.properties as Record<string, Record<string, unknown>>;

test("upsert takes one of its keys and a row of create", () => {
  const { of } = documented("shelves");
  const { by, row } = properties(of.upsert.args);
  expect(by?.enum).toEqual([["userId", "name"], "code"]);
  expect(row).toEqual(of.create.args);
});

test("operations on many rows have their limits, and the filters of the list", () => {
  const { of, components } = documented("books");
  expect(components).toEqual(["books.Row", "books.Filters", "books.Shaped", "books.Include"]);
  expect(properties(of.createMany.args).rows).toMatchObject({ maxItems: 1_000, items: of.create.args });
  for (const { args, optional } of [of.updateMany, of.removeMany]) {
    expect(optional).toBe(false);
    expect(args.required).toEqual(expect.arrayContaining(["filters", "max"]));
    expect(args.additionalProperties).toBe(false);
    expect(properties(args).filters).toEqual(properties(of.list.args).filters);
    expect(properties(args).max).toMatchObject({ minimum: 1, maximum: 10_000 });
  }
});

test("a list states its relations as include, filters and results, with those of the related resources", () => {
  const { of, all } = documented("books");
  const { select, include } = properties(of.list.args);
  expect(select).toMatchObject({ items: { enum: expect.arrayContaining(["id", "slug"]) } });
  expect(include).toEqual({ $ref: "#/components/schemas/books.Include" });
  const part = (name: string) => properties(all[name] as object).shelves;
  const options = { select: { items: { enum: expect.arrayContaining(["name"]) } } };
  expect(part("books.Include")).toMatchObject({ anyOf: [{ type: "boolean" }, { properties: options }] });
  expect(part("books.Filters")).toEqual({ $ref: "#/components/schemas/shelves.Filters" });
  const row = (prefix: string) => ({ $ref: `#/components/schemas/${prefix}.Shaped` });
  expect(part("books.Shaped")).toEqual({ anyOf: [row("shelves"), { type: "null" }] });
  expect(of.get.result).toEqual({ anyOf: [row("books"), { type: "null" }] });
});

test("aggregate names the groups and measures of its option", () => {
  const { groupBy, measures, limit } = properties(documented("sales").of.aggregate.args);
  expect(groupBy).toMatchObject({ items: { enum: expect.arrayContaining(["status", "soldAt:week"]) } });
  expect(measures).toMatchObject({ items: { enum: expect.arrayContaining(["count", "sum:amount"]) } });
  expect(limit).toMatchObject({ default: 100, maximum: 1_000 });
});

test("a JSON column takes null only where it may be null", () => {
  const { form, notes } = properties(documented("things").of.create.args);
  expect([form, notes]).toEqual([{ not: { type: "null" } }, {}]);
});
