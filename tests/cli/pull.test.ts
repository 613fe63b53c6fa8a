// If this file fails, `svc db pull` writes a migration that the database of an application cannot take, or overwrites files.
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { applicationFolder } from "../support/application-folder.ts";
import { noDatabase, svcHere } from "../support/cli.ts";
import { type Database, database } from "../support/database.ts";

const db = database("platform");
const other = database("platform");
const third = database("platform");
const fourth = database("platform");
const fifth = database("platform");
const old = database("template0");
const supabase = database("template0");
let folder: string;
const svcOf = (db: Database, ...words: string[]) => svcHere(db, folder, words, words[1] === "pull" ? noDatabase : {});
const svc = (...words: string[]) => svcOf(db, ...words);
const read = (file: string) => readFile(join(folder, file), "utf8");

beforeEach(async () => {
  const index = 'import { defineApi } from "@svc/core";\nexport default defineApi({ procedures: {} });\n';
  folder = await applicationFolder({ "backend/index.ts": index });
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** Policies and a foreign key that name what svc's database lacks; statements that look like settings of a session. */
const schema = `
  create schema users;
  create table users.people (id uuid primary key);
  create role pull_reader_${process.pid};
  create table notes (id serial primary key, owner uuid constraint notes_owner references users.people, body text);
  alter sequence notes_id_seq increment by 5;
  alter table notes enable row level security;
  create policy own on notes to pull_reader_${process.pid} using (owner is not null);
  comment on policy own on notes is 'Whose it is.';
  comment on table notes is 'SET search_path = none;';
  create function touch() returns trigger language plpgsql as $$
begin
--
SET LOCAL work_mem = '4MB';
  return new;
end $$;
  create trigger touch before update on notes for each row execute function touch();`;

test("policies, and foreign keys to schemas that were not asked for, stay behind; the rest can be applied", async () => {
  await old.sql(schema);
  const pulled = await svc("db", "pull", old.url("admin"));
  await old.sql(`drop policy own on notes; drop role pull_reader_${process.pid}`);
  expect(pulled.code, pulled.text).toBe(0);
  expect(pulled.text).toContain("wrote backend/schema.ts\nwrote migrations/0001_existing.sql\n");
  expect(pulled.text).toContain("Not read, the tables of users. To read them, remove the files that were written, and");
  expect(pulled.text).toContain("run it again with --schema public --schema users.\n");
  expect(pulled.text).toContain("notes_owner on notes, to users.people. Their columns are there.\n");
  expect(pulled.text).toContain(
    "own on notes. Their SQL is in comments of backend/schema.ts. Write yours beside each table.\n",
  );

  const migration = await read("migrations/0001_existing.sql");
  expect(migration).not.toMatch(/policy|ROW LEVEL|notes_owner|\\\w*restrict|^SET (?!LOCAL)/im);
  expect(migration).toContain("begin\n--\nSET LOCAL work_mem = '4MB';\n  return new;");
  expect(await read("backend/schema.ts")).toContain('id: integer("id").generatedByDefaultAsIdentity({ increment: 5 })');

  const applied = await svc("migrate");
  expect(applied.code, applied.text).toBe(0);
  await db.sql("insert into notes (body) values ('a'), ('b')");
  expect(await db.sql("select id from notes order by id")).toEqual([{ id: 1 }, { id: 6 }]);
  expect((await svc("migrate", "generate")).text).toContain("Nothing to generate.");
});

test("of Supabase's database, policies are kept as comments, and what names its schema auth is told", async () => {
  await supabase.sql(`
    create schema auth;
    create table auth.users (id uuid primary key);
    create function auth.uid() returns uuid language sql stable as 'select null::uuid';
    create table profiles (id uuid primary key default auth.uid());
    create function greet() returns trigger language plpgsql security definer as 'begin insert into public.profiles values (new.id); return new; end';
    create trigger on_sign_up after insert on auth.users for each row execute function greet();
    create function is_me(one uuid) returns boolean language sql stable as 'select one = auth.uid()';
    alter table profiles enable row level security;
    create policy "Everybody reads" on profiles for select using (true);
    create policy "*/ own" on profiles as restrictive for update using (is_me(id)) with check (
      id = auth.uid())`);
  const pulled = await svcOf(db, "db", "pull", supabase.url("admin"));
  expect(pulled.code, pulled.text).toBe(0);
  const [wrong = "", ...lines] = (await read("migrations/0001_existing.sql"))
    .split("\n")
    .flatMap((line, at) => (line.includes("auth.uid()") ? [String(at + 1)] : []));
  expect(lines).toHaveLength(1);
  expect(pulled.text).toContain(
    `calls functions of Supabase's schema auth, which svc does not have, in the lines ${wrong}; ${lines}.`,
  );
  expect(pulled.text).toContain(
    "tables that were not read: on_sign_up on auth.users, which runs public.greet(). Their",
  );
  expect(await read("backend/schema.ts")).toContain(
    `// Its policies in the old database:
//   "*/ own" as restrictive for update to public using (is_me(id)) with check ((id = auth.uid()))
//   "Everybody reads" for select to public using (true)
export const profiles = pgTable(`,
  );
});

test("pgvector, which svc has in its schema extensions, is used from there", async () => {
  await old.sql(`
    create extension vector;
    create table vector_items (id serial primary key, v vector(3) default '[1,2,3]',
      near boolean generated always as (vector_dims(v) = 3 and v <-> '[1,2,3]' < 1) stored);
    create index on vector_items using hnsw (v vector_cosine_ops)`);
  try {
    expect(await svcOf(other, "db", "pull", old.url("admin"))).toMatchObject({ code: 0 });
    const applied = await svcOf(other, "migrate");
    expect(applied.code, applied.text).toBe(0);
    await other.sql("insert into vector_items default values");
    expect(await other.sql("select v::text, near from public.vector_items")).toEqual([{ v: "[1,2,3]", near: true }]);
    expect((await svcOf(other, "migrate", "generate")).text).toContain("Nothing to generate.");
  } finally {
    await old.sql("drop table vector_items; drop extension vector");
  }
});

test("it names what the schema cannot declare, and leaves foreign tables out", async () => {
  await old.sql(`
    create schema odd; create extension btree_gist;
    create foreign data wrapper far; create server far foreign data wrapper far; create foreign table odd.distant (a integer) server far;
    comment on foreign table odd.distant is 'Elsewhere.';
    create table odd.rooms (id integer primary key, during tsrange, size integer, constraint rooms_alone exclude using gist (id with =, during with &&));
    create index rooms_size on odd.rooms (size) include (during);
    create index on odd.rooms (during)`);
  try {
    const pulled = await svcOf(fifth, "db", "pull", old.url("admin"), "--schema", "odd");
    expect(pulled.code, pulled.text).toBe(0);
    expect(pulled.text).toContain(
      "Only in migrations/0001_existing.sql, because backend/schema.ts cannot declare them: rooms_alone on odd.rooms; rooms_size on odd.rooms. To change one, write a migration",
    );
    expect(pulled.text).toContain("because their servers belong to no schema: distant. Write a migration of your own");
    const applied = await svcOf(fifth, "migrate");
    expect(applied.code, applied.text).toBe(0);
  } finally {
    await old.sql("drop schema odd cascade; drop server far; drop foreign data wrapper far; drop extension btree_gist");
  }
});

test("extensions come with the schema that they are in, and operators of others stay theirs", async () => {
  await old.sql(`
    create schema "Tools"; create schema shop;
    create extension vector; create extension citext; create extension pg_trgm schema "Tools";
    create operator ==== (leftarg = integer, rightarg = integer, function = int4eq);
    create table shop.people (id integer primary key, email citext, v vector(3), check (id ==== id), check (email = 'a'), check (v <-> v < 1));
    create index on shop.people using gin (lower(email::text) "Tools".gin_trgm_ops)`);
  try {
    const pulled = await svcOf(fourth, "db", "pull", old.url("admin"), "--schema", "public", "--schema", "shop");
    expect(pulled.code, pulled.text).toBe(0);
    const applied = await svcOf(fourth, "migrate");
    expect(applied.code, applied.text).toBe(0);
    await fourth.sql("insert into shop.people values (1, 'A', '[1,2,3]')");
  } finally {
    await old.sql(
      "drop schema shop cascade; drop extension vector, citext, pg_trgm; drop operator ====(integer, integer)",
    );
    await old.sql('drop schema "Tools"');
  }
});

test("requests and jobs reach the tables of another schema, as soon as policies let them", async () => {
  await old.sql('create schema "My Sales"; create table "My Sales".bills (id serial primary key)');
  const pulled = await svcOf(third, "db", "pull", old.url("admin"), "--schema", "My Sales");
  expect(pulled.code, pulled.text).toBe(0);
  const applied = await svcOf(third, "migrate");
  expect(applied.code, applied.text).toBe(0);
  const reached = await third.sql(
    `select role from unnest('{svc_anonymous,svc_authenticated,svc_system}'::text[]) as role
      where has_schema_privilege(role, 'My Sales', 'usage')`,
  );
  expect(reached).toHaveLength(3);
});

test("it writes nothing where there is a schema, and no tables where there are none", async () => {
  const empty = await svc("db", "pull", old.url("admin"), "--schema", "nowhere");
  expect([empty.code, empty.text]).toEqual([1, expect.stringContaining("There are no tables in nowhere.")]);
  await expect(read("backend/schema.ts")).rejects.toThrow("ENOENT");

  await writeFile(join(folder, "backend/schema.ts"), "export {};\n");
  const refused = await svc("db", "pull", old.url("admin"));
  expect([refused.code, refused.text]).toEqual([1, expect.stringContaining("There is a backend/schema.ts already.")]);
  expect(await read("backend/schema.ts")).toBe("export {};\n");

  const wrong = await svc("db", "pull", "postgres://nobody:secret-word@127.0.0.1:1/none");
  expect(wrong.code).toBe(1);
  expect(wrong.text).not.toContain("secret-word");
});
