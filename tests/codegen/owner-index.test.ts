// If this file fails, lists and policies of some tables with ownerRls read the rows of everybody, or write two indexes for one.
import { index, type PgColumnBuilderBase, pgTable, primaryKey, serial, text, timestamp } from "drizzle-orm/pg-core";
import { expect, test } from "vitest";
import { takeSnapshot } from "../../src/codegen/schema-snapshot.ts";
import { ownerRls } from "../../src/index.ts";

type Extra = (t: Record<string, never>) => unknown[];
const owned = (columns: Record<string, PgColumnBuilderBase>, extra: Extra = () => []) =>
  pgTable("t", columns, (t) => [...ownerRls(t.userId as never), ...(extra(t as never) as never[])]);
const id = () => serial("id").primaryKey();
const userId = () => text("user_id").notNull();

test.for<[what: string, table: () => unknown, index: string[]]>([
  [
    "with a time",
    () => owned({ id: id(), userId: userId(), createdAt: timestamp("at") }),
    ["user_id", "at desc", "id desc"],
  ],
  ["without a time", () => owned({ id: id(), userId: userId() }), ["user_id", "id desc"]],
  ["without an id", () => owned({ userId: userId(), key: text("key") }), ["user_id"]],
  ["of one row per user", () => owned({ userId: userId().primaryKey() }), []],
  [
    "of a key that begins with the user",
    () => owned({ userId: userId(), key: text("key") }, (t) => [primaryKey({ columns: [t.userId, t.key] as never })]),
    [],
  ],
  [
    "with an index of the author's",
    () => owned({ id: id(), userId: userId() }, (t) => [index("own").on(t.userId as never)]),
    [],
  ],
])("a table %s", async ([, table, expected]) => {
  const { tables } = await takeSnapshot({ schema: { t: table() }, auth: {} }, null);
  const made = tables["public.t"]?.indexes.t_owner_newest?.columns ?? [];
  expect(made.map(({ expression, asc }) => (asc ? expression : `${expression} desc`))).toEqual(expected);
});
