// If this file fails, a reader that ownerRls names changes a row by some operation, or sees rows of others.
import { createCrudFactory, createSvcProcedureBuilders, ownerRls } from "@svc/core";
import { getTableConfig, integer, pgTable, serial, text } from "drizzle-orm/pg-core";
import { beforeAll, beforeEach, expect, test } from "vitest";
import { crudFile } from "../../src/crud/crud-sql.ts";
import { database } from "../support/database.ts";
import { apiWith, service, type User } from "../support/service.ts";
import { createPolicy, rendered } from "./mutations.ts";

const letters = pgTable(
  "letters",
  {
    id: serial("id").primaryKey(),
    userId: text("user_id").notNull(),
    recipientId: text("recipient_id"),
    copyId: text("copy_id"),
    slug: text("slug").notNull().unique(),
    body: text("body").notNull().default(""),
  },
  (t) => ownerRls(t.userId, { read: [t.recipientId, t.copyId] }),
);
const pages = pgTable(
  "letter_pages",
  {
    id: serial("id").primaryKey(),
    userId: text("user_id").notNull(),
    letterId: integer("letter_id").references(() => letters.id),
  },
  (t) => ownerRls(t.userId),
);
const schema = { letters, pages };
const createCrud = createCrudFactory(createSvcProcedureBuilders<typeof schema>(), schema);
const api = apiWith({
  procedures: {
    letters: createCrud(letters, {
      many: true,
      upsertBy: ["slug"],
      getBy: ["slug"],
      allowedFilters: ["slug", "userId"],
      aggregate: { groupBy: ["slug"], measures: ["count"] },
    }),
    pages: createCrud(pages, { include: ["letter"] }),
  },
});

const db = database();
beforeAll(async () => {
  await db.sql(`
    create table letters (id serial primary key, user_id text not null, recipient_id text, copy_id text,
      slug text not null unique, body text not null default '');
    create table letter_pages (id serial primary key, user_id text not null, letter_id integer references letters);`);
  for (const table of Object.values(schema)) {
    const { name, policies } = getTableConfig(table);
    await db.sql(`alter table ${name} enable row level security; grant all on ${name} to svc_authenticated;
      grant usage on sequence ${name}_id_seq to svc_authenticated;
      ${policies.map((policy) => createPolicy(name, rendered(policy))).join(";\n")}`);
  }
  const mine = api["~svc"].crud.filter(({ prefix }) => ["letters", "letter_pages"].includes(prefix));
  await db.sql(`set role svc_owner; ${mine.map(crudFile).join("\n")} reset role`);
});
const running = service(db, api);
let [ann, bob, cleo, eve]: User[] = [];
beforeAll(async () => {
  [ann, bob, cleo, eve] = await Promise.all(["ann", "bob", "cleo", "eve"].map((name) => running.signUp(name)));
});
beforeEach(async () => {
  await db.sql("truncate letters, letter_pages restart identity");
  await db.sql(
    "insert into letters (user_id, recipient_id, copy_id, slug) values ($1, $2, $3, 'a'), ($1, null, null, 'b')",
    [ann?.id, bob?.id, cleo?.id],
  );
});
const person = (name: string) => ({ ann, bob, cleo, eve })[name] as User;
const stored = () => db.sql("select slug, user_id, body from letters order by id");

test.for([
  ["ann", ["b", "a"]],
  ["bob", ["a"]],
  ["cleo", ["a"]],
  ["eve", []],
] as const)("%s reads %j", async ([name, slugs]) => {
  const user = person(name);
  const { json } = (await running.query(user, "letters.list")).body;
  expect(json.data.map(({ slug }: { slug: string }) => slug)).toEqual(slugs);
  expect(json.total).toBe(slugs.length);
  const counted = (await running.query(user, "letters.aggregate", { groupBy: ["slug"], measures: ["count"] })).body
    .json;
  expect(counted.data.map(({ slug }: { slug: string }) => slug)).toEqual([...slugs].sort());
  expect((await running.query(user, "letters.get", { slug: "a" })).body.json?.slug ?? null).toBe(slugs.at(-1) ?? null);
  await db.sql("insert into letter_pages (user_id, letter_id) values ($1, 1), ($1, 2)", [user.id]);
  const { data } = (await running.query(user, "letter_pages.list", { include: { letter: true } })).body.json;
  const shown = data.flatMap(({ letter }: { letter: { slug: string } | null }) => letter?.slug ?? []);
  expect(shown.sort()).toEqual([...slugs].sort());
});

test.for(["bob", "cleo", "eve"])("%s changes nothing", async (name) => {
  const user = person(name);
  const before = await stored();
  const call = async (operation: string, args: object) => {
    const { status, body } = await running.mutate(user, `letters.${operation}`, args);
    return [status, body.json?.count];
  };
  expect(await call("update", { id: 1, body: "x" })).toEqual([404, undefined]);
  expect(await call("remove", { id: 1 })).toEqual([404, undefined]);
  expect(await call("updateMany", { filters: {}, set: { body: "x" }, max: 10 })).toEqual([200, 0]);
  expect(await call("removeMany", { filters: {}, max: 10 })).toEqual([200, 0]);
  expect(await call("upsert", { by: "slug", row: { slug: "a", body: "x" } })).toEqual([403, undefined]);
  expect(await stored()).toEqual(before);
});

test("who creates a row is its owner, also where a reader is somebody else", async () => {
  const { body } = await running.mutate(eve as User, "letters.create", {
    slug: "c",
    userId: ann?.id,
    recipientId: bob?.id,
  });
  expect(body.json).toMatchObject({ userId: eve?.id, recipientId: bob?.id });
  expect((await running.query(bob as User, "letters.list")).body.json.total).toBe(2);
});
