// If this file fails, a watched query counts as followed although svc hears of no change of its tables, or as one of tables
// that it has not read.
import { expect, test } from "vitest";
import { database } from "../support/database.ts";

const db = database();

test("the tables that a query has read are followed if svc's own publication has them", async () => {
  await db.sql(`create table public.ours (id int); create table public.theirs (id int); create table public.neither (id int);
    create view public.seen with (security_invoker) as select id from public.neither;
    grant select on public.ours, public.theirs, public.seen, public.neither to svc_authenticated;
    alter publication svc add table public.ours; create publication another for table public.theirs`);
  const request = await db.connect("request");
  const other = await db.connect("admin");
  await other.query("begin; lock table svc.storage_objects in access share mode");
  await request.query("begin; set local svc.user_id = 'ann'; set local role svc_authenticated");
  await request.query("select from public.ours, public.theirs, public.seen");
  await request.query("reset role");
  const { rows } = await request.query("select tables, unpublished, bypassing from svc.tables_read()");
  await Promise.all([request.query("rollback"), other.query("rollback")]);
  expect(rows).toEqual([{ tables: ["public.ours"], unpublished: ["public.neither", "public.theirs"], bypassing: [] }]);
});
