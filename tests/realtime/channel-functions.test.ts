// If this file fails, somebody stays in a channel whose join asked a function with its owner's rights, and would now say no.
import { sql } from "drizzle-orm";
import { pgTable, text } from "drizzle-orm/pg-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { createSvc } from "../../src/app/create-svc.ts";
import { followedTables } from "../../src/crud/followed-tables.ts";
import { realtimeFile } from "../../src/crud/realtime-sql.ts";
import * as fixture from "../fixture/backend/schema.ts";
import { database } from "../support/database.ts";
import { apiWith, TestService } from "../support/service.ts";
import { sockets } from "../support/sockets.ts";

const db = database();
const visitors = `${db.name}_visitors`;
const halls = pgTable("halls", { id: text("id").primaryKey() });
const gates = pgTable("gates", { id: text("id").primaryKey() });
const schema = { ...fixture, halls, gates };
const { channel, procedure } = createSvc({ schema });

/** How the join of a channel comes to ask `has_member`, by the relation or function that it reads. */
const ways: Record<string, string> = {
  "a view with its caller's rights": `create policy read on halls for select to svc_authenticated using (true);
    create or replace view seen_halls with (security_invoker = true) as select id from halls where public.has_member(id)`,
  "an operator in a policy": `create operator public.=?= (function = public.has_either, leftarg = text, rightarg = text);
    create policy read on halls for select to svc_authenticated using (id =?= id)`,
  "a function that a policy's function calls": `create policy read on halls for select to svc_authenticated using (public.may_enter(id))`,
  "a function with a body in SQL": `create policy read on halls for select to svc_authenticated using (public.may_go(id))`,
  "a cast in USING, whose function WITH CHECK names": `create policy read on halls for all to svc_authenticated
    using ((row(id)::public.hall_name)::boolean) with check (public.hall_is_open(row(id)::public.hall_name))`,
  "the policy of another table": `create policy read on halls for select to svc_authenticated using (exists (select from gates where gates.id = halls.id))`,
  "a restrictive policy": `create policy read on halls for select to public using (true);
    create policy narrow on halls as restrictive for select to public using (public.has_member(id))`,
  "a policy for all commands, to a role that users inherit": `create policy read on halls for all to ${visitors}
    using (public.has_member(id)) with check (false)`,
};

const hall = channel("hall", {
  input: z.object({ id: z.string() }),
  join: async ({ context, input }) =>
    (await context.db.select({ id: sql`id` }).from(sql`public.seen_halls where id = ${input.id}`)).length === 1,
  notices: { moved: z.object({ to: z.string() }) },
});
/** PostgreSQL folds the name. */
const shouted = channel("shouted", {
  input: z.object({ id: z.string() }),
  join: async ({ context, input }) => {
    const [row] = await context.db.select({ open: sql`open` }).from(sql`PUBLIC.Has_Member(${input.id}) as open`);
    return row?.open === true;
  },
  notices: { moved: z.object({ to: z.string() }) },
});
const tell = procedure.mutation
  .name("test.tellHall")
  .input(z.object({ id: z.string() }))
  .handler(({ context, input }) => {
    context.realtime.send(hall, input, "moved", { to: "all" });
    context.realtime.send(shouted, input, "moved", { to: "all" });
  });
const api = apiWith({ procedures: { tell }, channels: { hall, shouted } });
const running = new TestService(db, api, { production: true } as object, schema);
const connect = sockets(running);

beforeAll(async () => {
  await db.sql(`create function public.has_member(team text) returns boolean language sql stable security definer
      as 'select exists (select from public.memberships where team_id = team)';
    create function public.has_either(a text, b text) returns boolean language sql stable security definer
      as 'select exists (select from public.memberships where team_id in (a, b))';
    create function public.may_enter(team text) returns boolean language plpgsql stable
      as 'begin return public.has_member(team); end';
    create function public.may_go(team text) returns boolean language sql stable begin atomic select public.has_member(team); end;
    create type public.hall_name as (name text);
    create function public.hall_is_open(hall public.hall_name) returns boolean language sql stable security definer
      as 'select exists (select from public.memberships where team_id = hall.name)';
    create cast (public.hall_name as boolean) with function public.hall_is_open(public.hall_name);
    create role ${visitors};
    grant ${visitors} to svc_authenticated;
    create table halls (id text primary key);
    create table gates (id text primary key);
    create view seen_halls with (security_invoker = true) as select id from halls;
    alter table halls enable row level security;
    alter table gates enable row level security;
    create policy read on gates for select to svc_authenticated using (public.has_member(id));
    grant select on halls, gates, seen_halls to svc_authenticated;
    insert into halls values ('hall');
    insert into gates values ('hall')`);
  await db.sql(realtimeFile(followedTables(api, schema)));
  await running.start();
});
afterAll(async () => {
  await running.stop();
  await db.sql(`drop policy if exists read on halls; drop role ${visitors}`);
});

async function staysOutAfterwards(key: string): Promise<void> {
  const [ann, bob] = [await running.signUp("ann"), await running.signUp("bob")];
  await db.sql("insert into memberships (user_id, team_id) values ($1, 'hall')", [bob.id]);
  const socket = await connect(ann);
  socket.send({ type: "subscribe", query: key });
  await socket.wait({ type: "subscribed", query: key });
  await db.sql("delete from memberships where user_id = $1", [bob.id]);
  await running.mutate(ann, "test.tellHall", { id: "hall" });
  const frames = await socket.upTo({ type: "error", code: "FORBIDDEN", query: key });
  expect(frames.filter(({ data }) => data?.message)).toEqual([]);
}

test.each(Object.entries(ways))("join is asked again where it read by %s", async (_way, statements) => {
  await db.sql(`drop policy if exists read on halls; drop policy if exists narrow on halls;
    create or replace view seen_halls with (security_invoker = true) as select id from halls`);
  await db.sql(statements);
  await staysOutAfterwards('hall::{"id":"hall"}');
});

test("and where a statement writes the function's name in capitals", () =>
  staysOutAfterwards('shouted::{"id":"hall"}'));
