// If this file fails, a foreign key stays switched off after somebody followed the remedy of `svc db lint`.
import { expect, test } from "vitest";
import { database } from "../support/database.ts";

const db = database();
const found = () =>
  db.sql<{ name: string; remedy: string }>(
    "select name, remedy from svc_private.lint_schema() where rule = 'disabled_constraint'",
  );

test("the remedy checks the rows that were written meanwhile, and those that follow", async () => {
  await db.sql(`create table shelves (id bigint primary key);
    create table books (shelf bigint references shelves on delete cascade deferrable);
    alter table books disable trigger all; insert into books values (1)`);
  const [{ name, remedy } = { name: "", remedy: "" }] = await found();
  expect(name).toBe("books_shelf_fkey on public.books");
  await expect(db.sql(remedy)).rejects.toMatchObject({ code: "23503" });
  await db.sql("delete from books");
  await db.sql(`begin; alter table books owner to svc_owner; alter table shelves owner to svc_owner; set local role svc_owner;
    ${remedy}; commit`);
  expect(await found()).toEqual([]);
  await expect(db.sql("insert into books values (1)")).rejects.toMatchObject({ code: "23503" });
});

test("of a partitioned table it is told once; of a partition with a remedy for it", async () => {
  await db.sql(`create table readings (shelf bigint references shelves, at date) partition by range (at);
    create table readings_1 partition of readings for values from ('2026-01-01') to ('2026-02-01');
    alter table readings disable trigger all`);
  const [whole, ...others] = await found();
  expect([whole?.name, others]).toEqual(["readings_shelf_fkey on public.readings", []]);
  await db.sql(whole?.remedy ?? "");
  await db.sql("alter table readings_1 disable trigger all");
  const [part] = await found();
  expect(part?.name).toBe("readings_shelf_fkey on public.readings_1");
  await db.sql(/alter table .+?;/.exec(part?.remedy ?? "")?.[0] ?? "");
  expect(await found()).toEqual([]);
});
