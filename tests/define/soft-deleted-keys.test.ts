// If this file fails, a resource with soft deletion finds no row by its slug, or one of several.
import { isNull, type SQL, sql } from "drizzle-orm";
import { type AnyPgColumn, boolean, pgTable, serial, text, timestamp, uniqueIndex } from "drizzle-orm/pg-core";
import { expect, test } from "vitest";
import { createCrudFactory, createSvcProcedureBuilders, openRls } from "../../src/index.ts";

const createCrud = createCrudFactory(createSvcProcedureBuilders());

test("a get may name the columns of a unique index of the rows that are not softly deleted", () => {
  const notes = (where: (t: { deletedAt: AnyPgColumn; gone: AnyPgColumn }) => SQL) =>
    pgTable(
      "notes",
      { id: serial("id").primaryKey(), slug: text("slug"), deletedAt: timestamp("deleted_at"), gone: boolean("gone") },
      (t) => [uniqueIndex("notes_slug").on(t.slug).where(where(t)), ...openRls({ read: "anyone", write: "anyone" })],
    );
  const get = (where: Parameters<typeof notes>[0], field: "deletedAt" | "gone") => () =>
    createCrud(notes(where), { getBy: ["slug"], softDelete: { field } }).get;
  expect(get((t) => sql`${t.deletedAt} is null`, "deletedAt")()).toBeDefined();
  expect(get(() => sql`deleted_at IS NULL`, "deletedAt")()).toBeDefined();
  expect(get((t) => isNull(t.deletedAt), "deletedAt")()).toBeDefined();
  expect(get((t) => sql`${t.gone} is not true`, "gone")()).toBeDefined();
  for (const [where, field] of [
    [() => sql`deleted_at is null`, "gone"],
    [() => sql`deleted_at is not null`, "deletedAt"],
    [() => sql`deleted_at is null and not gone`, "deletedAt"],
    [() => sql`not gone`, "gone"], // PostgreSQL lets two rows pass whose column is null
  ] as const)
    expect(get(where, field)).toThrow("no unique constraint");
});
