// If this file fails, `svc db drift` names a command that does not repair the difference, or leaves to its reader what a command does.
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { compareFacts, type Fact, readFacts } from "../../src/migrate/drift.ts";
import { migrate } from "../../src/migrate/migrate.ts";
import { database } from "../support/database.ts";
import { root } from "../support/global-setup.ts";

const db = database();
let expected: Fact[];
const facts = async () => readFacts(await db.connect("admin"));
beforeAll(async () => {
  expected = await facts();
});

/** Changes by hand of a database alone; roles belong to the server. */
const planted = [
  "create table by_hand (id int)",
  "alter table notes add extra text",
  "alter table notes alter title drop not null",
  "drop policy update_owner on notes",
  "create policy all_mine on auth.session using (true)",
  "drop index notes_owner_newest",
  "create or replace function svc.current_user_id() returns text language sql stable as 'select null::text'",
  "alter function svc_private.role_name(oid) security definer",
  "create function by_hand() returns int language sql as 'select 1'",
  "create function svc_private.by_hand() returns int language sql as 'select 1'",
  "drop function svc_crud.notes_list(jsonb)",
  "drop trigger svc_search_insert on pages",
  "alter table pages disable trigger svc_search_delete",
  "create trigger t before update on notes for each row execute function suppress_redundant_updates_trigger()",
  "create rule quiet as on delete to notes do instead nothing",
  "alter publication svc drop table notes",
  "alter publication svc set (publish = 'insert')",
  "alter publication svc set table only posts (id, user_id)",
  "create table told (id int primary key); alter publication svc add table told",
  "alter sequence notes_id_seq cycle",
  "comment on policy all_auth on auth.account is 'mine'",
  "comment on table notes is 'mine'",
  "alter table svc.webhook_deliveries alter body drop not null",
  "grant select on svc.webhook_deliveries to svc_anonymous",
  "revoke select on svc.webhook_deliveries from svc_system",
  "grant select on svc.workflow_runs to svc_request",
  "revoke select on svc.workflow_runs from svc_authenticated",
  "drop policy all_auth on auth.account",
  "comment on table svc.workflow_runs is 'mine'",
  "comment on column svc.workflow_runs.claims is 'mine'",
  "comment on view svc_private.relations is 'mine'",
  "grant usage on sequence svc.webhook_deliveries_sequence_seq to svc_anonymous",
  `do $$ declare one record; begin
     for one in select tgname, tgrelid::regclass as id from pg_trigger t join pg_class c on c.oid = t.tgrelid
                 where not tgisinternal and tgparentid = 0 and relnamespace in ('svc'::regnamespace, 'auth'::regnamespace)
     loop execute format('drop trigger if exists %I on %s', one.tgname, one.id); end loop;
   end $$`,
];

test("svc migrate --again repairs the differences of which it is told, and no other", async () => {
  for (const sql of planted) await db.sql(sql);
  const told = compareFacts(expected, await facts());
  await migrate({ adminUrl: db.url("admin"), platform: root, application: join(root, "tests/fixture"), again: true });
  const key = ({ object, kind, part }: { object: string; kind: string; part: string }) => `${object} ${kind} ${part}`;
  const left = new Set(compareFacts(expected, await facts()).map(key));
  expect(told.map((one) => `${key(one)}: ${one.state} ${one.remedy.includes("--again")}`)).toEqual(
    told.map((one) => `${key(one)}: ${one.state} ${!left.has(key(one))}`),
  );
});
