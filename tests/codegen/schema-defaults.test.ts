// If this file fails, a migration with the default of some column cannot be written or applied, or generated CRUD gives new
// rows another value than the database does.
import { openRls } from "@svc/core";
import { bigint, customType, json, jsonb, pgTable, serial, text, timestamp } from "drizzle-orm/pg-core";
import { expect, test } from "vitest";
import { describeColumns } from "../../src/crud/columns.ts";
import { writeMigration } from "../../src/migrate/generate/schema-migration.ts";
import { emptySnapshot, takeSnapshot } from "../../src/migrate/generate/schema-snapshot.ts";
import { apply, emptyDatabase, evolution } from "./evolution.ts";

evolution();

const bytea = customType<{ data: Uint8Array }>({ dataType: () => "bytea" });
const table = pgTable(
  "given",
  {
    id: serial("id").primaryKey(),
    large: bigint("large", { mode: "bigint" }).default(9223372036854775807n),
    words: text("words").array().default(["a,b", 'q"', "it's", "back\\slash", "NULL", ""]),
    none: text("none").array().default([]),
    larges: bigint("larges", { mode: "bigint" }).array().default([1n]),
    object: jsonb("object").default({ a: `it's "quoted"` }),
    word: jsonb("word").default("it's"),
    list: json("list").default([1, "x"]),
    bytes: bytea("bytes").default(Uint8Array.of(0, 255)),
    title: text("title").default("it's \\ $$"),
    at: timestamp("at", { withTimezone: true }).default(new Date("2026-01-01T00:00:00Z")),
  },
  () => openRls({ read: "anyone", write: "anyone" }),
);

test("the database and generated CRUD give the declared defaults", async () => {
  const snapshot = await takeSnapshot({ schema: { table }, auth: {} }, null);
  const db = await emptyDatabase();
  await apply(db, [(await writeMigration(await emptySnapshot(), snapshot, { renames: [], drops: [] })) ?? ""]);
  const columns = describeColumns(table).slice(1);
  await db.sql("insert into given default values");
  await db.sql(
    `insert into given (${columns.map(({ name }) => name)}) values (${columns.map(({ defaultSql }) => defaultSql)})`,
  );
  const rows = await db.sql("select to_jsonb(given) - '{id,large}'::text[] as row from given");
  const row = {
    words: ["a,b", 'q"', "it's", "back\\slash", "NULL", ""],
    none: [],
    larges: [1],
    object: { a: `it's "quoted"` },
    word: "it's",
    list: [1, "x"],
    bytes: "\\x00ff",
    title: "it's \\ $$",
    at: "2026-01-01T00:00:00+00:00",
  };
  expect(rows).toEqual([{ row }, { row }]);
  expect(await db.sql("select distinct large::text from given")).toEqual([{ large: "9223372036854775807" }]);
});

test("a snapshot in its file is the same, so the next migration has nothing to change", async () => {
  const snapshot = await takeSnapshot({ schema: { table }, auth: {} }, null);
  const kept = JSON.parse(JSON.stringify(snapshot));
  const next = await takeSnapshot({ schema: { table }, auth: {} }, kept);
  expect(await writeMigration(kept, next, { renames: [], drops: [] })).toBeNull();
});

test("types of customType that are not a bare name are written as declared", async () => {
  const of = (type: string) => customType<{ data: string }>({ dataType: () => type });
  const types = ["billing.price", '"char"', "varbit(5)", "interval(3)", "citext_like"];
  const named = (count: number) =>
    pgTable(
      "typed",
      {
        id: serial("id").primaryKey(),
        ...Object.fromEntries(types.slice(0, count).map((type, at) => [`one${at}`, of(type)(`one${at}`)])),
        ...Object.fromEntries(types.slice(0, count).map((type, at) => [`all${at}`, of(type)(`all${at}`).array()])),
      },
      () => openRls({ read: "anyone", write: "anyone" }),
    );
  const db = await emptyDatabase();
  await db.sql(
    "create schema billing; create domain billing.price as numeric(9, 2); create domain citext_like as text",
  );
  await db.sql("grant usage on schema billing to public");
  const first = await takeSnapshot({ schema: { table: named(2) }, auth: {} }, null);
  const next = await takeSnapshot({ schema: { table: named(types.length) }, auth: {} }, first);
  const answers = { renames: [], drops: [] };
  await apply(db, [
    (await writeMigration(await emptySnapshot(), first, answers)) ?? "", // writes the table
    (await writeMigration(first, next, answers)) ?? "", // adds columns
  ]);
  const rows = await db.sql(
    "select format_type(atttypid, atttypmod) as type from pg_attribute where attrelid = 'typed'::regclass and attname ~ '^one' order by attname",
  );
  expect(rows.map(({ type }) => type)).toEqual([
    "billing.price",
    '"char"',
    "bit varying(5)",
    "interval(3)",
    "citext_like",
  ]);
});
