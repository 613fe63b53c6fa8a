// If this file fails, svc takes a view with its caller's rights for one with its owner's, or the other way round, because of
// how security_invoker is written: an API key sees tables of svc through it, or `svc db lint` reports a leak where there is no leak.
import { afterAll, beforeAll, expect, test } from "vitest";
import { database } from "../support/database.ts";

const db = database();
beforeAll(() =>
  db.sql("create schema shown authorization svc_owner; grant usage on schema shown to svc_authenticated"),
);
afterAll(() => db.sql("drop schema shown cascade"));

/** What PostgreSQL takes for true and for false. It keeps the text. */
const spellings = {
  true: ["security_invoker", "security_invoker = true", "security_invoker = on", "security_invoker = 1"],
  prefixes: ["security_invoker = yes", "security_invoker = 't'", "security_invoker = 'TRUE'"],
  false: ["security_barrier", "security_invoker = false", "security_invoker = off", "security_invoker = n"],
};
const cases = [
  ...[...spellings.true, ...spellings.prefixes].map((option) => ({ option, asCaller: true })),
  ...spellings.false.map((option) => ({ option, asCaller: false })),
];

test.each(cases)("a view with ($option) reads as its caller: $asCaller", async ({ option, asCaller }) => {
  await db.sql(`drop view if exists shown.files; create view shown.files with (${option}) as select id, name from svc.storage_objects;
    alter view shown.files owner to svc_owner; grant select on shown.files to svc_authenticated`);
  const request = await db.connect("request");
  await request.query("begin; set local svc.user_id = 'ann'; set local role svc_authenticated");
  await request.query("select * from shown.files");
  await request.query("reset role");
  const { rows } = await request.query("select bypassing from svc.tables_read()");
  await request.query("rollback");
  expect(rows).toEqual([{ bypassing: asCaller ? [] : ["shown.files"] }]);

  const named = (from: string, column: string) =>
    db.sql(`select ${column} as name from ${from} where ${column} ~ '^shown'`);
  expect(await named("svc_private.lint_view_without_security_invoker", "name")).toHaveLength(asCaller ? 0 : 1);
  expect(await named("auth.list_scope_mistakes('{}')", "relation")).toHaveLength(asCaller ? 1 : 0);
  expect(await db.sql("select as_caller from svc_private.tables_beneath('shown.files')")).toEqual([
    { as_caller: asCaller },
  ]);
});
