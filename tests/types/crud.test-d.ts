/** If these fail, generated CRUD has other types than its table's columns and its options declare. */
import { sql } from "drizzle-orm";
import {
  bigint,
  boolean,
  date,
  doublePrecision,
  integer,
  numeric,
  pgTable,
  pgView,
  serial,
  text,
  timestamp,
} from "drizzle-orm/pg-core";
import { describe, expectTypeOf, it } from "vitest";
import { type CrudList, type CrudListArguments, type CrudOptions, openRls } from "../../src/index.ts";
import * as schema from "../fixture/backend/schema.ts";
import { createCrud, type Note, type TypesOf } from "./builders.ts";

describe("generated CRUD", () => {
  const notes = createCrud(schema.notes);
  const samples = createCrud(schema.samples, { prefix: "all_samples" });

  it("has the names of its prefix, and reads and writes of its table's rows", () => {
    expectTypeOf<TypesOf<typeof notes.list>["name"]>().toEqualTypeOf<"notes.list">();
    expectTypeOf<TypesOf<typeof samples.remove>["name"]>().toEqualTypeOf<"all_samples.remove">();
    expectTypeOf<TypesOf<typeof notes.get>>().toEqualTypeOf<{
      name: "notes.get";
      kind: "query";
      input: { id: number };
      output: Note | null;
    }>();
    expectTypeOf<TypesOf<typeof notes.list>["output"]>().toEqualTypeOf<CrudList<Note>>();
    expectTypeOf<TypesOf<typeof notes.list>["input"]>().toEqualTypeOf<
      CrudListArguments<typeof schema.notes, object> | undefined
    >();
    expectTypeOf<CrudListArguments<typeof schema.notes>["orderBy"]>().toEqualTypeOf<keyof Note | undefined>();
    expectTypeOf<TypesOf<typeof notes.remove>>().toEqualTypeOf<{
      name: "notes.remove";
      kind: "mutation";
      input: { id: number };
      output: { id: number };
    }>();
  });

  it("creates from the columns that callers may write, the required ones required", () => {
    type Create = TypesOf<typeof notes.create>["input"];
    expectTypeOf<Create>().toEqualTypeOf<{ title: string; done?: boolean; priority?: number }>();
    expectTypeOf<TypesOf<typeof notes.update>["input"]>().toEqualTypeOf<{
      id: number;
      title?: string;
      done?: boolean;
      priority?: number;
      ifUnmodifiedSince?: Date | string;
    }>();
    expectTypeOf<TypesOf<typeof notes.create>["output"]>().toEqualTypeOf<Note>();
    expectTypeOf<Create>().not.toHaveProperty("userId");
    expectTypeOf<Create>().not.toHaveProperty("createdAt");
  });

  it("takes a date or time as ISO 8601 text and a bigint as decimal text, too, and gives hooks the table's types", () => {
    const articles = createCrud(schema.articles, {
      upsertBy: ["title"],
      many: true,
      hooks: {
        beforeCreate: (data) => {
          expectTypeOf(data.publishedAt).toEqualTypeOf<Date | null | undefined>();
          return data;
        },
      },
    });
    type Time = Date | string | null | undefined;
    expectTypeOf<TypesOf<typeof articles.create>["input"]["publishedAt"]>().toEqualTypeOf<Time>();
    expectTypeOf<TypesOf<typeof articles.update>["input"]["publishedAt"]>().toEqualTypeOf<Time>();
    expectTypeOf<TypesOf<typeof articles.upsert>["input"]["row"]["publishedAt"]>().toEqualTypeOf<Time>();
    type Many = TypesOf<typeof articles.createMany>["input"]["rows"][number];
    expectTypeOf<Many["publishedAt"]>().toEqualTypeOf<Time>();
    expectTypeOf<TypesOf<typeof articles.updateMany>["input"]["set"]["publishedAt"]>().toEqualTypeOf<Time>();
    expectTypeOf<TypesOf<typeof articles.create>["input"]["rank"]>().toEqualTypeOf<
      bigint | number | string | null | undefined
    >();
    expectTypeOf<TypesOf<typeof articles.create>["output"]["publishedAt"]>().toEqualTypeOf<Date | null>();
  });

  it("has a history of the columns that callers see, where it is asked for", () => {
    expectTypeOf(notes).not.toHaveProperty("history");
    const audited = createCrud(schema.notes, { history: true, columns: { omit: ["priority"] } });
    type History = TypesOf<typeof audited.history>;
    expectTypeOf<History["name"]>().toEqualTypeOf<"notes.history">();
    expectTypeOf<History["input"]>().toEqualTypeOf<{ id: number; limit?: number; cursor?: string | null }>();
    type Entry = History["output"]["data"][number];
    expectTypeOf<Entry["actor"]>().toEqualTypeOf<string | null>();
    expectTypeOf<Entry["operation"]>().toEqualTypeOf<"insert" | "update" | "delete">();
    expectTypeOf<Entry["changed"]["title"]>().toEqualTypeOf<[before: unknown, after: unknown] | null | undefined>();
    expectTypeOf<Entry["changed"]>().not.toHaveProperty("priority");
  });

  it("takes a number for a numeric and a Date for a date, which rows have as text", () => {
    const invoices = pgTable(
      "invoices",
      {
        id: serial("id").primaryKey(),
        total: numeric("total").notNull(),
        day: date("day"),
        sentAt: timestamp("sent_at", { mode: "string" }),
      },
      () => openRls({ read: "anyone", write: "authenticated" }),
    );
    const crud = createCrud(invoices, { allowedFilters: ["total", "day"] });
    type Create = TypesOf<typeof crud.create>["input"];
    expectTypeOf<Create["total"]>().toEqualTypeOf<number | string>();
    expectTypeOf<Create["day"]>().toEqualTypeOf<Date | string | null | undefined>();
    expectTypeOf<Create["sentAt"]>().toEqualTypeOf<Date | string | null | undefined>();
    type Filters = NonNullable<NonNullable<TypesOf<typeof crud.list>["input"]>["filters"]>;
    expectTypeOf<{ total: { op: "gt"; value: number }; day: Date }>().toExtend<Filters>();
    expectTypeOf<TypesOf<typeof crud.create>["output"]["total"]>().toEqualTypeOf<string>();
  });

  it("has the operations that its options add, and no others", () => {
    const labelled = createCrud(schema.notes, { upsertBy: ["title", ["userId", "done"]], many: true });
    type Create = TypesOf<typeof labelled.create>["input"];
    type Upsert = TypesOf<typeof labelled.upsert>;
    expectTypeOf<Upsert["input"]>().toEqualTypeOf<{ by: "title" | readonly ["userId", "done"]; row: Create }>();
    expectTypeOf<Upsert["output"]>().toEqualTypeOf<Note>();
    type CreateMany = TypesOf<typeof labelled.createMany>;
    expectTypeOf<CreateMany["input"]>().toEqualTypeOf<{ rows: readonly Create[] }>();
    expectTypeOf<CreateMany["output"]["data"]>().toEqualTypeOf<Note[]>();
    const imported = createCrud(schema.notes, { upsertBy: ["title"], transfer: { import: true } });
    type Import = TypesOf<typeof imported.import>;
    expectTypeOf<Import["input"]>().toExtend<{ storageId: string; format: "csv" | "ndjson"; by?: "title" }>();
    expectTypeOf<Import["output"]>().toEqualTypeOf<{ id: string }>();
    expectTypeOf(labelled).not.toHaveProperty("import");
    const totals = createCrud(schema.notes, {
      aggregate: { groupBy: ["done", "createdAt"], measures: ["count", "sum:priority"] },
    });
    type Aggregate = TypesOf<typeof totals.aggregate>;
    type Group = NonNullable<Aggregate["input"]["groupBy"]>[number];
    expectTypeOf<Group>().toEqualTypeOf<"done" | `createdAt:${"hour" | "day" | "week" | "month" | "year"}`>();
    expectTypeOf<Aggregate["input"]["measures"]>().toEqualTypeOf<readonly ("count" | "sum:priority")[]>();
    expectTypeOf<Aggregate["output"]["data"][number]["count"]>().toEqualTypeOf<number | undefined>();
    expectTypeOf(notes).not.toHaveProperty("aggregate");
    const filtered = createCrud(schema.notes, { many: true, allowedFilters: ["done"], methods: ["list", "remove"] });
    type RemoveMany = TypesOf<typeof filtered.removeMany>;
    expectTypeOf<keyof RemoveMany["input"]["filters"]>().toEqualTypeOf<"done" | "OR" | "AND">();
    expectTypeOf<RemoveMany["output"]>().toEqualTypeOf<{ count: number }>();
    expectTypeOf<TypesOf<typeof labelled.updateMany>["input"]["set"]>().toEqualTypeOf<Partial<Create>>();
    expectTypeOf(filtered).not.toHaveProperty("updateMany");
    expectTypeOf(filtered).not.toHaveProperty("createMany");
    expectTypeOf(notes).not.toHaveProperty("upsert");
    expectTypeOf(notes).not.toHaveProperty("createMany");
    expectTypeOf(createCrud(schema.notes, { many: false })).not.toHaveProperty("createMany");
  });

  it("gives groups and measures the types that they have on the wire", () => {
    const sales = pgTable("sales", {
      id: serial("id").primaryKey(),
      status: text("status", { enum: ["open", "paid"] }).notNull(),
      isGift: boolean("is_gift"),
      total: bigint("total", { mode: "number" }).notNull(),
      price: numeric("price", { mode: "number" }),
      pieces: integer("pieces").notNull(),
      weight: doublePrecision("weight"),
      soldAt: timestamp("sold_at").notNull(),
    });
    const { aggregate } = createCrud(sales, {
      aggregate: {
        groupBy: ["status", "isGift", "total", "soldAt"],
        measures: ["count", "sum:pieces", "avg:pieces", "max:pieces", "sum:weight", "min:price", "max:soldAt"],
      },
    });
    type Row = Required<TypesOf<typeof aggregate>["output"]["data"][number]>;
    expectTypeOf<Pick<Row, "status" | "isGift" | "total" | "soldAt:hour" | "soldAt:week">>().toEqualTypeOf<{
      status: "open" | "paid";
      isGift: boolean | null;
      total: string;
      "soldAt:hour": string;
      "soldAt:week": string;
    }>();
    type Measures = Pick<Row, Extract<keyof Row, "count" | `${"sum" | "avg" | "min" | "max"}:${string}`>>;
    expectTypeOf<Measures>().toEqualTypeOf<{
      count: number;
      "sum:pieces": string | null;
      "avg:pieces": string | null;
      "max:pieces": number | null;
      "sum:weight": number | null;
      "min:price": string | null;
      "max:soldAt": string | null;
    }>();
  });

  it("leaves out what the options leave out", () => {
    const titles = createCrud(schema.articles, {
      prefix: "titles",
      columns: { pick: ["title"] },
      methods: ["list", "get"],
    });
    expectTypeOf(titles).toHaveProperty("list");
    expectTypeOf(titles).not.toHaveProperty("create");
    expectTypeOf<TypesOf<typeof titles.get>["output"]>().toEqualTypeOf<{ id: string; title: string } | null>();
    const bodiless = createCrud(schema.articles, { columns: { omit: ["body"] } });
    expectTypeOf<TypesOf<typeof bodiless.create>["input"]>().not.toHaveProperty("body");
    expectTypeOf<TypesOf<typeof bodiless.create>["input"]>().toHaveProperty("title");
    // @ts-expect-error there is no such column
    createCrud(schema.articles, { searchFields: ["nonsense"] });
  });

  it("takes the filters that the options allow, and all of them where the compiler cannot see the options", () => {
    const narrow = createCrud(schema.notes, { allowedFilters: ["done"] });
    type Narrow = NonNullable<TypesOf<typeof narrow.list>["input"]>["filters"];
    expectTypeOf<keyof NonNullable<Narrow>>().toEqualTypeOf<"done" | "OR" | "AND">();
    const options: CrudOptions<typeof schema.notes> = { allowedFilters: ["done"] };
    const unknown = createCrud(schema.notes, options);
    expectTypeOf<TypesOf<typeof unknown.list>["input"]>().toEqualTypeOf<
      CrudListArguments<typeof schema.notes> | undefined
    >();
    expectTypeOf<{ filters: { title: "x" } }>().toExtend<CrudListArguments<typeof schema.notes>>();
  });

  it("types what hooks get and give", () => {
    createCrud(schema.articles, {
      hooks: {
        beforeCreate: (data) => ({ ...data, title: data.title.trim(), publishedAt: data.publishedAt ?? new Date() }),
        beforeUpdate: (data, { id }) => ({ ...data, body: id.toUpperCase() }),
        beforeRemove: (id) => expectTypeOf(id).toEqualTypeOf<string>(),
      },
    });
  });

  it("detects the type of the id, and those of the columns", () => {
    const announcements = createCrud(schema.announcements);
    expectTypeOf<TypesOf<typeof samples.get>["input"]>().toEqualTypeOf<{ id: string }>();
    expectTypeOf<TypesOf<typeof announcements.get>["input"]>().toEqualTypeOf<{ id: bigint }>();
    type Sample = TypesOf<typeof samples.create>;
    expectTypeOf<Sample["input"]["aMood"]>().toEqualTypeOf<"calm" | "it's complicated" | null | undefined>();
    expectTypeOf<Sample["output"]["aBigint"]>().toEqualTypeOf<bigint | null>();
    expectTypeOf<Sample["output"]["aNumeric"]>().toEqualTypeOf<string | null>();
    expectTypeOf<Sample["output"]["anInstant"]>().toEqualTypeOf<Date | null>();
    expectTypeOf<Sample["output"]["someTags"]>().toEqualTypeOf<string[] | null>();
  });

  it("does not compile with options that do not exist, or without a table", () => {
    // @ts-expect-error the option is called maxLimit
    createCrud(schema.notes, { max: 5 });
    // @ts-expect-error a name is no table
    createCrud("notes");
  });

  it("of a view reads only, with the columns that the view declares", () => {
    const spending = pgView("spending", { id: integer("id").primaryKey(), total: numeric("total") })
      .with({ securityInvoker: true })
      .as(sql`select 1`);
    const crud = createCrud(spending, { allowedFilters: ["total"] });
    expectTypeOf<keyof typeof crud>().toEqualTypeOf<"list" | "get">();
    expectTypeOf<TypesOf<typeof crud.get>>().toEqualTypeOf<{
      name: "spending.get";
      kind: "query";
      input: { id: number };
      output: { id: number; total: string | null } | null;
    }>();
    // @ts-expect-error: it has no such column
    createCrud(spending, { allowedFilters: ["title"] });
    createCrud(spending, { prefix: "one", methods: ["get"] }).get;
  });
});
