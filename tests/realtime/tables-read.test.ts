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

test("a definer function reads past the policies for those alone whose policies call it", async () => {
  await db.sql(`create function public.is_open() returns boolean language sql stable security definer set search_path = ''
      as 'select true';
    create table public.doors (id int);
    alter table public.doors enable row level security;
    create policy open on public.doors for select to svc_anonymous using (public.is_open());
    create policy all_rows on public.doors for select to svc_authenticated using (true);
    grant select on public.doors to svc_anonymous, svc_authenticated`);
  const request = await db.connect("request");
  const bypassing = async (user: string, role: string) => {
    await request.query("begin");
    await request.query("select set_config('svc.user_id', $1, true), set_config('role', $2, true)", [user, role]);
    await request.query("select from public.doors");
    await request.query("reset role");
    const { rows } = await request.query("select bypassing from svc.tables_read(array['select from doors'])");
    await request.query("rollback");
    return rows[0].bypassing;
  };
  expect(await bypassing("ann", "svc_authenticated")).toEqual([]);
  expect(await bypassing("", "svc_anonymous")).toEqual(["is_open()"]);
});
