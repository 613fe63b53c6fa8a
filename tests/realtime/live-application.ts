/** Queries of the author's that read in every way there is, and the tables that they read. */
import { v } from "@svc/core";
import { asc, countDistinct, eq, sql } from "drizzle-orm";
import { integer, pgTable, primaryKey, serial, text } from "drizzle-orm/pg-core";
import { createSvcProcedureBuilders } from "../../src/contract/procedure.ts";
import { memberRls, openRls } from "../../src/crud/rls.ts";
import * as fixture from "../fixture/backend/schema.ts";

const { boards, guestbook, memberships, notes, posts } = fixture;

/** Partitioned by its day. */
const visits = pgTable("visits", { day: integer("day").notNull(), page: text("page").notNull() }, (t) => [
  primaryKey({ columns: [t.day, t.page] }),
  ...openRls({ read: "anyone", write: "nobody" }),
]);

/** Without a primary key. */
const marks = pgTable("marks", { mark: text("mark").notNull() }, () => openRls({ read: "anyone", write: "nobody" }));

/** Rows of a team, of which the log says the id and the team alone. */
const places = pgTable(
  "places",
  { id: serial("id").primaryKey(), teamId: text("team_id").notNull(), name: text("name").notNull() },
  (t) => memberRls({ through: memberships, team: t.teamId, user: memberships.userId }),
);

export const schema = { ...fixture, visits, marks, places };

/** What the administrator makes in the test's database. */
export const tables = `
  create table visits (day integer not null, page text not null, primary key (day, page)) partition by range (day);
  create table visits_1 partition of visits for values from (0) to (10);
  create table visits_2 partition of visits for values from (10) to (20);
  create table marks (mark text not null);
  create table places (id serial primary key, team_id text not null, name text not null);
  alter table places enable row level security;
  create policy select_member on places for select to svc_authenticated
    using (team_id = any (array(select team_id from memberships where user_id = (select svc.current_user_id()))));
  create table unseen (n integer);
  create materialized view counted as select count(*) as n from guestbook;
  create view readable with (security_invoker = true) as
    select g.id, g.message, p.title from guestbook g left join posts p on p.title = g.message;
  create function guests() returns bigint language plpgsql stable as
    'begin return (select count(*) from public.guestbook); end';
  create function all_notes() returns bigint language sql stable security definer set search_path = '' as
    'select count(*) from public.notes';
  grant select on visits, marks, places, unseen, counted, readable to svc_anonymous, svc_authenticated;
`;

const builders = createSvcProcedureBuilders<typeof schema>();
const query = builders.query.allowAnonymous();
const number = sql<number>;
/** How often a query of that name has run. */
export const runs = new Map<string, number>();
const counted = <T>(name: string, result: T): T => {
  runs.set(name, (runs.get(name) ?? 0) + 1);
  return result;
};

const mine = builders.query
  .name("live.mine")
  .handler(async ({ context: { db } }) =>
    counted("live.mine", await db.select({ title: notes.title }).from(notes).orderBy(asc(notes.id))),
  );
const teams = builders.query
  .name("live.teams")
  .handler(({ context: { db } }) =>
    db
      .select({ board: boards.name, member: memberships.userId })
      .from(boards)
      .innerJoin(memberships, eq(memberships.teamId, boards.teamId))
      .orderBy(asc(boards.id), asc(memberships.id)),
  );
/** Counted by caller: the places of their teams, with the number of members. */
const ofTeams = builders.query.name("live.ofTeams").handler(async ({ context }) => {
  const { db, auth } = context;
  const rows = await db
    .select({ name: places.name, team: places.teamId, members: number`count(${memberships.id})::int` })
    .from(places)
    .leftJoin(memberships, eq(memberships.teamId, places.teamId))
    .groupBy(places.id)
    .orderBy(asc(places.id));
  return counted(`live.ofTeams ${auth.requireAuth().user.id}`, rows);
});
const raw = query
  .name("live.raw")
  .handler(({ context: { db } }) =>
    db
      .select({ n: number`n::int` })
      .from(sql`(select count(*) as n from guestbook g where g.message in (select p.title from posts p)) as t`),
  );
const view = query
  .name("live.view")
  .handler(({ context: { db } }) => db.select({ id: number`id`, title: sql`title` }).from(sql`readable order by id`));
const cte = query.name("live.cte").handler(({ context: { db } }) => {
  const recent = db.$with("recent").as(db.select({ message: guestbook.message }).from(guestbook));
  return db.with(recent).select({ n: number`count(*)::int` }).from(recent);
});
const partitioned = query
  .name("live.partitioned")
  .input(v.object({ day: v.number() }))
  .handler(({ context: { db }, input }) => db.select().from(visits).where(eq(visits.day, input.day)));
/** A join and an aggregate of the posts of a title. */
const tagged = query
  .name("live.tagged")
  .input(v.object({ tag: v.string() }))
  .handler(({ context: { db }, input }) =>
    db
      .select({ title: posts.title, posts: countDistinct(posts.id), greetings: countDistinct(guestbook.id) })
      .from(posts)
      .leftJoin(guestbook, eq(guestbook.message, posts.title))
      .where(eq(posts.title, input.tag))
      .groupBy(posts.title),
  );
const keyless = query.name("live.keyless").handler(({ context: { db } }) => db.$count(marks));
const tally = query
  .name("live.tally")
  .handler(async ({ context: { db } }) => counted("live.tally", await db.$count(marks)));
const called = query
  .name("live.called")
  .handler(
    async ({ context: { db } }) => (await db.select({ n: number`guests()::int` }).from(sql`(select) as one`))[0],
  );
const everybodys = builders.query
  .name("live.everybodys")
  .follows(notes)
  .handler(
    async ({ context: { db } }) => (await db.select({ n: number`all_notes()::int` }).from(sql`(select) as one`))[0],
  );
const outside = builders.query
  .name("live.outside")
  .follows(posts)
  .handler(({ context: { unsafeDb } }) => unsafeDb.$count(posts));
/** Whose changes cannot be told. */
const untold = builders.query
  .name("live.untold")
  .handler(async ({ context: { db, unsafeDb } }) => [
    await unsafeDb.$count(posts),
    await db.$count(notes),
    ...(await db
      .select({ n: number`all_notes()`, m: sql`(select max(n) from unseen)`, o: sql`(select max(n) from counted)` })
      .from(sql`(select) as one`)),
  ]);
const caller = query.name("live.caller").handler(({ context }) => context.auth.getSession()?.user.name ?? "nobody");
const renew = builders.mutation.name("live.renew").handler(({ context }) => context.realtime.refresh("live.caller"));
const closed = builders.query
  .name("live.closed")
  .handler(async ({ context: { db } }) => counted("live.closed", await db.select().from(guestbook)).length);

export const procedures = {
  mine,
  teams,
  ofTeams,
  raw,
  view,
  cte,
  partitioned,
  tagged,
  keyless,
  tally,
  called,
  everybodys,
  outside,
  untold,
  caller,
  renew,
  closed,
};
