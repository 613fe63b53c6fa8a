// If this file fails, a page that shows a row by another key than its id, with other rows of its table, or its history goes stale.
import { relations } from "drizzle-orm";
import { char, integer, pgTable, text } from "drizzle-orm/pg-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { crudFile } from "../../src/crud/crud-sql.ts";
import { followedTables } from "../../src/crud/followed-tables.ts";
import { realtimeFile } from "../../src/crud/realtime-sql.ts";
import { auditedTables } from "../../src/history/audited.ts";
import { historyFile } from "../../src/history/history-sql.ts";
import { audited, createCrudFactory, createSvcProcedureBuilders, openRls, ownerRls } from "../../src/index.ts";
import { database } from "../support/database.ts";
import { watch } from "../support/live.ts";
import { apiWith, TestService, type User } from "../support/service.ts";
import { sockets } from "../support/sockets.ts";

const people = pgTable(
  "people",
  { id: integer("id").primaryKey(), slug: text("slug").unique(), bossId: integer("boss_id") },
  () => openRls({ read: "anyone", write: "nobody" }),
);
const codes = pgTable("codes", { id: char("id", { length: 4 }).primaryKey(), title: text("title") }, () =>
  openRls({ read: "anyone", write: "nobody" }),
);
const folders = pgTable(
  "folders",
  {
    id: integer("id").primaryKey(),
    userId: text("user_id").notNull(),
    slug: text("slug").unique(),
    title: text("title"),
  },
  (t) => [...ownerRls(t.userId), ...audited()],
);
/** Their id is unique, and another column, or none, is the primary key. */
const badges = pgTable(
  "badges",
  { number: integer("number").primaryKey(), id: integer("id").notNull().unique(), title: text("title") },
  () => openRls({ read: "anyone", write: "nobody" }),
);
const labels = pgTable("labels", { id: integer("id").notNull().unique(), title: text("title") }, () =>
  openRls({ read: "anyone", write: "nobody" }),
);
const schema = {
  ...{ people, codes, folders, badges, labels },
  peopleRelations: relations(people, ({ one, many }) => ({
    boss: one(people, { fields: [people.bossId], references: [people.id], relationName: "boss" }),
    staff: many(people, { relationName: "boss" }),
  })),
};
const createCrud = createCrudFactory(createSvcProcedureBuilders<typeof schema>(), schema);
const methods = ["list", "get"] as const;
const procedures = {
  people: createCrud(people, { methods, allowAnonymous: true, getBy: ["slug"], include: ["boss", "staff"] }),
  codes: createCrud(codes, { methods, allowAnonymous: true }),
  folders: createCrud(folders, { methods, getBy: ["slug"], history: true }),
  badges: createCrud(badges, { methods, allowAnonymous: true }),
  labels: createCrud(labels, { methods, allowAnonymous: true }),
};

const db = database();
const api = apiWith({ procedures });
const running = new TestService(db, api, {}, schema);
const connect = sockets(running);
let ann: User;
beforeAll(async () => {
  await db.sql("set synchronous_commit to on");
  await db.sql(`
    create table people (id integer primary key, slug text unique, boss_id integer references people);
    create table codes (id char(4) primary key, title text);
    create table folders (id integer primary key, user_id text not null, slug text unique, title text);
    create table badges (number integer primary key, id integer not null unique, title text);
    create table labels (id integer not null unique, title text);
    alter table people enable row level security; alter table codes enable row level security;
    alter table folders enable row level security; alter table badges enable row level security;
    alter table labels enable row level security;
    create policy all_anyone on badges for select to svc_anonymous, svc_authenticated using (true);
    create policy all_anyone on labels for select to svc_anonymous, svc_authenticated using (true);
    create policy all_anyone on people for select to svc_anonymous, svc_authenticated using (true);
    create policy all_anyone on codes for select to svc_anonymous, svc_authenticated using (true);
    create policy own on folders for select to svc_authenticated using (user_id = (select svc.current_user_id()));
    grant select on people, codes, badges, labels to svc_anonymous, svc_authenticated; grant select on folders to svc_authenticated;
    insert into people values (1, 'ann', null), (2, 'bob', 1); insert into codes values ('ab');
    insert into badges values (7, 1); insert into labels values (1);
    ${api["~svc"].crud.map(crudFile).join("\n")}`);
  await db.sql(realtimeFile(followedTables(api, schema)));
  await db.sql(historyFile(auditedTables(schema)));
  await running.start();
  ann = await running.signUp("ann");
  await db.sql("insert into folders values (1, $1, 'first'), (2, 'another', 'second')", [ann.id]);
});
afterAll(() => running.stop());

test.each<[string, object, string]>([
  ["people.get", { id: 1 }, "update people set slug = 'ada' where id = 1"],
  ["people.get", { slug: "ann" }, "update people set slug = 'ann' where id = 1"],
  ["people.get", { slug: "nobody yet" }, "insert into people values (3, 'nobody yet')"],
  ["people.get", { id: 1, include: { staff: true } }, "update people set slug = 'ben' where id = 2"],
  ["people.get", { id: 1, include: { _count: { staff: true } } }, "insert into people values (4, 'cid', 1)"],
  ["people.get", { id: 2, include: { boss: true } }, "update people set slug = 'eve' where id = 1"],
  ["codes.get", { id: "ab" }, "update codes set title = 'x'"],
  ["badges.get", { id: 1 }, "delete from badges where id = 1"],
  ["labels.get", { id: 1 }, "update labels set title = 'x' where id = 1"],
  ["labels.get", { id: 1 }, "delete from labels where id = 1"],
])("a change of what %s %j shows is told", async (name, args, change) => {
  const socket = await connect(null);
  const { changed } = await watch(running, socket, null, name, args);
  await db.sql(change);
  await socket.wait(changed);
});

test("rows with owners are told to these alone, also to those who watch by another key", async () => {
  const socket = await connect(ann);
  const { changed: first } = await watch(running, socket, ann, "folders.get", { slug: "first" });
  await db.sql("update folders set title = 'x' where id = 2");
  await db.sql("update folders set title = 'x' where id = 1");
  expect(await socket.upTo(first)).toMatchObject([first]);
});

test("a change of a row is told to those who watch its history", async () => {
  const socket = await connect(ann);
  const { changed: watched } = await watch(running, socket, ann, "folders.history", { id: 1 });
  await db.sql("update folders set title = 'y' where id = 2");
  await db.sql("update folders set title = 'y' where id = 1");
  expect(await socket.upTo(watched)).toMatchObject([watched]);
  expect((await running.query(ann, "folders.history", { id: 1 })).body.json.data[0].changed.title[1]).toBe("y");
});
