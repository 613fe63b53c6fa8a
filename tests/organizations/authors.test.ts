// If this file fails, members of an organization change what others have written there, or write in the name of others.
import { getTableConfig, integer, pgTable, text, uuid } from "drizzle-orm/pg-core";
import { beforeAll, expect, test } from "vitest";
import { orgRls } from "../../src/index.ts";
import { createPolicy, rendered } from "../policies/mutations.ts";
import { database } from "../support/database.ts";
import { type Person, people } from "./people.ts";

const db = database("platform");
const { users, run, found, add } = people(db);
const remarks = pgTable(
  "remarks",
  { id: integer("id").primaryKey(), orgId: text("org_id").notNull(), userId: text("user_id").notNull() },
  (t) => orgRls(t.orgId, { write: ["owner", "editor"], author: t.userId }),
);

const roles = ["owner", "author", "editor", "member", "stranger"] as const;
let who: Record<(typeof roles)[number], Person>;
let org: string;
let other: string;
beforeAll(async () => {
  const [owner, author, editor, member, stranger] = (await users(...roles)) as [Person, Person, Person, Person, Person];
  who = { owner, author, editor, member, stranger };
  org = await found(owner);
  other = await found(author, "Other");
  await add(org, author, "editor");
  await add(org, editor, "editor");
  await add(org, member);
  await db.sql(
    `create table public.remarks (id integer primary key, org_id text not null, user_id text not null);
     alter table public.remarks enable row level security;
     grant select, insert, update, delete on public.remarks to svc_authenticated;
     ${getTableConfig(remarks)
       .policies.map((policy) => createPolicy("public.remarks", rendered(policy)))
       .join("\n")}`,
  );
  await db.sql("insert into remarks values (1, $1, $2)", [org, author.id]);
});

/** What a statement does for each, in the order of `roles`. */
const outcomes = async (statement: string, values: (person: Person) => unknown[] = () => []) => {
  const all: unknown[] = [];
  for (const role of roles) {
    const rows = await run(who[role], statement, values(who[role]));
    all.push(typeof rows === "string" ? rows : rows.length);
  }
  return all;
};

test("members read, and those who may write change and remove their own rows alone", async () => {
  expect(await outcomes("select 1 from remarks")).toEqual([1, 1, 1, 1, 0]);
  expect(await outcomes("update remarks set id = id returning 1")).toEqual([0, 1, 0, 0, 0]);
  expect(await outcomes("delete from remarks where id = 2 returning 1")).toEqual([0, 0, 0, 0, 0]);
  const insert = "insert into remarks values ((random() * 1e9)::integer, $1, $2)";
  expect(await outcomes(insert, ({ id }) => [org, id])).toEqual([0, 0, 0, "42501", "42501"]);
  expect(await outcomes(insert, () => [org, who.author.id])).toEqual(["42501", 0, "42501", "42501", "42501"]);
  await run(who.owner, "delete from remarks");
  expect(await db.sql("select distinct user_id from remarks where org_id = $1 order by 1", [org])).toEqual(
    [{ user_id: who.author.id }, { user_id: who.editor.id }].toSorted((a, b) => (a.user_id < b.user_id ? -1 : 1)),
  );
});

test("an author gives no row away, moves it to organizations of theirs alone, and loses it with the role", async () => {
  expect(await run(who.author, "update remarks set user_id = $1", [who.editor.id])).toBe("42501");
  expect(await run(who.author, "update remarks set org_id = $1 where id = 1 returning 1", [other])).toHaveLength(1);
  expect(await run(who.author, "update remarks set org_id = $1 where id = 1 returning 1", [org])).toHaveLength(1);
  expect(await run(who.editor, "update remarks set org_id = $1", [other])).toBe("42501");
  await db.sql("update svc.organization_members set role = 'member' where user_id = $1 and org_id = $2", [
    who.author.id,
    org,
  ]);
  expect(await run(who.author, "delete from remarks returning 1")).toHaveLength(0);
  expect(await run(who.author, "select 1 from remarks where id = 1")).toHaveLength(1);
});

test("the author's column must be able to hold the id of a user", () => {
  const table = pgTable("other", { orgId: text("org_id"), number: integer("number"), author: uuid("author") });
  expect(() => orgRls(table.orgId, { author: table.number })).toThrow('orgRls: column "number" cannot hold');
  expect(() => orgRls(table.orgId, { author: table.author })).not.toThrow();
  expect(() => orgRls(table.orgId, { author: table.author, write: "nobody" })).toThrow(
    "orgRls: author says who writes",
  );
});
