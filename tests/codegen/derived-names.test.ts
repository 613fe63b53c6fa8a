// If this file fails, migrations of tables with long names in other alphabets than the Latin one fail, or `svc db pull` names what has
// its usual name.
import { expect, test } from "vitest";
import { beginOf, derivedName } from "../../src/postgres/schema-names.ts";
import { database } from "../support/database.ts";

const db = database("template0");

const long = "월별고객사주문내역및반품요청처리결과요약표"; // 63 bytes
test.each([
  ["tasks", "id"],
  ["t".repeat(63), "c".repeat(40)],
  ["t".repeat(30), "c".repeat(63)],
  [long, "id"],
  [long, long],
  ["a".repeat(40), long],
  ["Заказы клиентов за месяц", "порядковый номер"],
  ["🐘".repeat(15), "x🐘"],
])("the names that PostgreSQL gives to a sequence and a key of %s", async (table, column) => {
  await db.sql(`create table "${table}" ("${column}" serial primary key)`);
  const names = await db.sql(
    "select relname::text as name from pg_class where relkind in ('S', 'i') and relnamespace = 'public'::regnamespace order by relkind desc",
  );
  expect(names).toEqual(
    [derivedName(table, null, "pkey"), derivedName(table, column, "seq")].map((name) => ({ name })),
  );
  await db.sql(`drop table "${table}"`);
});

test("the beginning of a name has whole letters", () => {
  expect([beginOf(long, 4), beginOf(long, 63), beginOf("🐘a", 3), beginOf("tasks", 9)]).toEqual([
    "월",
    long,
    "",
    "tasks",
  ]);
});
