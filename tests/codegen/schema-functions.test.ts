// If this file fails, a policy or a view that calls a function of the application cannot be migrated to an empty database.
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { sql } from "drizzle-orm";
import { integer, pgPolicy, pgRole, pgTable, pgView, serial, text } from "drizzle-orm/pg-core";
import { expect, onTestFinished, test } from "vitest";
import { readFunctions } from "../../src/migrate/generate/schema-functions.ts";
import { writeMigration } from "../../src/migrate/generate/schema-migration.ts";
import { emptySnapshot, takeSnapshot } from "../../src/migrate/generate/schema-snapshot.ts";
import { migrate } from "../../src/migrate/migrate.ts";
import { root } from "../support/global-setup.ts";
import { emptyDatabase, evolution } from "./evolution.ts";
import { mood } from "./schemas.ts";

evolution();

const signedIn = pgRole("svc_authenticated").existing();
const members = (condition: string) =>
  pgTable("members", { id: serial("id").primaryKey(), team: text("team"), userId: text("user_id") }, () => [
    pgPolicy("select_colleagues", { for: "select", to: signedIn, using: sql.raw(condition) }),
  ]);
const myTeams = `-- Calls another one of ours.
create or replace function public.my_teams() returns setof text language sql stable security definer set search_path = ''
as 'select team from public.members where user_id = (select public.me())';
grant execute on function public.my_teams to svc_authenticated;`;
const me = `create function me() returns text language sql stable set search_path = '' as 'select svc.current_user_id()';`;
const unused = "create function public.unused() returns int language sql as 'select 1';";

async function application(files: Record<string, string>): Promise<string> {
  const folder = await mkdtemp(join(root, ".svc/functions-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  for (const [file, text] of Object.entries({ "migrations/0000_none.sql": "select 1", ...files })) {
    await mkdir(join(folder, file, ".."), { recursive: true });
    await writeFile(join(folder, file), text);
  }
  return folder;
}

async function migration(folder: string, condition: string): Promise<string> {
  const functions = await readFunctions(join(folder, "sql"), join(folder, "migrations"));
  const next = await takeSnapshot({ schema: { members: members(condition) }, auth: {} }, null);
  return (await writeMigration(await emptySnapshot(), next, { renames: [], drops: [] }, functions)) ?? "";
}

test("what policies ask comes along, with what that asks, and is migrated", async () => {
  const folder = await application({
    "sql/my_teams.sql": myTeams,
    "sql/me.sql": me.replace("create", "create or replace"),
    "sql/unused.sql": unused,
  });
  const text = await migration(folder, "team in (select public.my_teams()) and coalesce(team, '') <> ''");
  expect([text.indexOf("-- sql/me.sql"), text.indexOf("unused")]).toEqual([expect.any(Number), -1]);
  expect(text.indexOf("-- sql/me.sql")).toBeLessThan(text.indexOf("-- sql/my_teams.sql"));
  await writeFile(join(folder, "migrations/0001_members.sql"), text);

  const db = await emptyDatabase();
  await migrate({ adminUrl: db.url("admin"), platform: root, application: folder });
  await db.sql("insert into members (team, user_id) values ('blue', 'ann'), ('blue', 'bob'), ('red', 'carl')");
  const client = await db.connect("request");
  await client.query("begin; set local svc.user_id = 'ann'; set local role svc_authenticated");
  expect((await client.query("select user_id from members order by 1")).rows).toEqual([
    { user_id: "ann" },
    { user_id: "bob" },
  ]);
});

test("what a migration has made already is left to it", async () => {
  const folder = await application({ "migrations/0000_none.sql": `${me}\n${myTeams}`, "sql/my_teams.sql": myTeams });
  const text = await migration(folder, "team in (select my_teams())");
  expect(text).not.toContain("create or replace function");
});

test("what views call comes along, between the tables that it reads and the views", async () => {
  const folder = await application({
    "sql/mine.sql": `create or replace function public.mine() returns setof public.members language sql stable
      set search_path = '' as $$ select m.* from public.members m where m.user_id = (select public.me()) $$;
      grant execute on function public.mine to svc_authenticated;`,
    "sql/me.sql": `${me.replace("create", "create or replace")} grant execute on function me to svc_authenticated;`,
  });
  const mine = pgView("my_rows", { id: integer("id").primaryKey(), team: text("team") })
    .with({ securityInvoker: true })
    .as(sql`select id, coalesce(team, '') as team from public.mine()`);
  const functions = await readFunctions(join(folder, "sql"), join(folder, "migrations"));
  const schema = { mine, members: members("user_id = (select public.me())") };
  const next = await takeSnapshot({ schema, auth: {} }, null);
  const made = (await writeMigration(await emptySnapshot(), next, { renames: [], drops: [] }, functions)) ?? "";
  expect(made.split("-- sql/me.sql")).toHaveLength(2);
  await writeFile(join(folder, "migrations/0001_members.sql"), made);

  const db = await emptyDatabase();
  await migrate({ adminUrl: db.url("admin"), platform: root, application: folder });
  await db.sql("insert into members (team, user_id) values ('blue', 'ann'), ('red', 'carl')");
  const client = await db.connect("request");
  await client.query("begin; set local svc.user_id = 'ann'; set local role svc_authenticated");
  expect((await client.query("select id, team from my_rows")).rows).toEqual([{ id: 1, team: "blue" }]);
});

test("an enum loses a value, although functions of sql/ take the type and policies call them", async () => {
  const folder = await application({
    "sql/is_calm.sql": `create or replace function public.is_calm(given public.mood) returns boolean language sql immutable
      set search_path = '' as $$ select given = 'calm' $$;
      grant execute on function public.is_calm to svc_authenticated;`,
    "sql/moods.sql": `create or replace function public.moods() returns setof mood language sql set search_path = ''
      as 'select unnest(enum_range(null::public.mood))';
      create or replace function public.count_moods() returns bigint language sql set search_path = ''
      as 'select count(*) from public.moods()';`,
  });
  const values: [string, ...string[]][] = [
    ["calm", "angry", "sad"],
    ["calm", "angry"],
  ];
  const db = await emptyDatabase();
  let previous = await emptySnapshot();
  for (const [index, given] of values.entries()) {
    const type = mood(...given);
    const days = pgTable("days", { id: serial("id").primaryKey(), mood: type("mood") }, () => [
      pgPolicy("select_calm", { for: "select", to: signedIn, using: sql.raw("public.is_calm(mood)") }),
    ]);
    const weeks = pgTable("weeks", { id: serial("id").primaryKey() }, () => [
      pgPolicy("select_all", { for: "select", to: signedIn, using: sql.raw("public.is_calm('calm')") }),
    ]);
    const next = await takeSnapshot({ schema: { type, days, weeks }, auth: {} }, previous);
    const functions = await readFunctions(join(folder, "sql"), join(folder, "migrations"));
    const text = await writeMigration(previous, next, { renames: [], drops: [] }, functions);
    if (index > 0) expect(text).not.toContain("count_moods;");
    await writeFile(join(folder, `migrations/000${index + 1}_days.sql`), text ?? "");
    await migrate({ adminUrl: db.url("admin"), platform: root, application: folder });
    await db.sql("insert into days (mood) values ('calm'), ('angry')");
    previous = next;
  }
  expect(await db.sql("select public.moods()::text as is, public.count_moods()::int as of")).toEqual(
    ["calm", "angry"].map((is) => ({ is, of: 2 })),
  );
  const client = await db.connect("request");
  await client.query("begin; set local svc.user_id = 'ann'; set local role svc_authenticated");
  expect((await client.query("select mood::text from days")).rows).toEqual([{ mood: "calm" }, { mood: "calm" }]);
});

test("what no file makes is told, also to who meets it", async () => {
  const folder = await application({});
  const text = await migration(folder, "public.is_mine(team)");
  expect(text).toContain("-- Fails unless there is a function public.is_mine: make it in sql/is_mine.sql");
  await writeFile(join(folder, "migrations/0001_members.sql"), text);
  const db = await emptyDatabase();
  await expect(migrate({ adminUrl: db.url("admin"), platform: root, application: folder })).rejects.toThrow(
    /is_mine\(text\) does not exist\n.*\n {2}sql\/ is applied after the migrations\./,
  );
});
