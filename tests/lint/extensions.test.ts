// If this file fails, svc db lint advises a statement that PostgreSQL refuses, or a move where there is nothing to move.
import { afterEach, expect, test } from "vitest";
import { database } from "../support/database.ts";

const db = database();
const asOwner = (statement: string) => db.sql(`begin; set local role svc_owner; ${statement}; commit`);
const found = () =>
  db.sql<{ remedy: string }>("select * from svc_private.lint_extension_in_public where name = 'btree_gist'");
afterEach(() => db.sql("drop extension if exists btree_gist"));

// The remedy was a statement that a migration may not run: it needs the owner of the extension's types.
test("the remedy for an extension in public says who may move it, and a migration that follows it has no finding", async () => {
  await asOwner("create extension btree_gist schema public");
  const [finding] = await found();
  const [, move = "", create = ""] = /^As a superuser: (.+); in a migration: (.+)\.$/.exec(finding?.remedy ?? "") ?? [];
  await db.sql(move);
  expect(await found()).toEqual([]);
  await db.sql("drop extension btree_gist");
  await asOwner(create);
  expect(await found()).toEqual([]);
});

test("the remedy for one that cannot be moved, such as postgis, is to make it again", async () => {
  await db.sql(`create extension btree_gist schema public;
    update pg_extension set extrelocatable = false where extname = 'btree_gist'`);
  await expect(db.sql("alter extension btree_gist set schema extensions")).rejects.toThrow(
    "does not support SET SCHEMA",
  );
  const [finding] = await found();
  const [, again = ""] = /as a superuser: (.+)\. Otherwise/.exec(finding?.remedy ?? "") ?? [];
  await db.sql(again);
  expect(await found()).toEqual([]);
});

test("one whose functions are in a schema of its own, as those of pg_repack are, is not reported", async () => {
  await db.sql(`create extension btree_gist schema extensions;
    update pg_extension set extnamespace = 'public'::regnamespace where extname = 'btree_gist'`);
  expect(await found()).toEqual([]);
});
