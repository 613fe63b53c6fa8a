// If this file fails, `svc db lint` ends with an error where the administrator has tables of their own.
import { expect, test } from "vitest";
import { database } from "../support/database.ts";

const db = database();

test("what only the administrator may read stops no rule", async () => {
  await db.sql(`create schema "Admin"; create table "Admin"."Log" (id serial primary key, said text);
    create view public.said with (security_invoker = true) as select said from "Admin"."Log";
    grant select on public.said to svc_authenticated`);
  const system = await db.connect("system");
  const { rows } = await system.query("select rule, name from svc_private.lint_schema()");
  const found = rows.map(({ rule, name }) => `${rule} ${name}`);
  expect(found).toEqual(expect.arrayContaining(["unreadable_view public.said", 'rls_disabled "Admin"."Log"']));
  await db.sql('drop view public.said; drop schema "Admin" cascade');
});
