// If this file fails, searches by tags find other rows than those that have them, or answer a wrong tag with a 500.
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createSvcProcedureBuilders, defineApi, ownerRls, searchable, v } from "@svc/core";
import { inet, pgTable, serial, smallint, text, timestamp, varchar } from "drizzle-orm/pg-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { migrate } from "../../src/migrate/migrate.ts";
import { searchFile } from "../../src/search/search-sql.ts";
import { leavePlatform, migrationsOf } from "../codegen/evolution.ts";
import { database } from "../support/database.ts";
import { root } from "../support/global-setup.ts";
import { TestService, type User } from "../support/service.ts";

const tickets = pgTable(
  "tickets",
  {
    id: serial("id").primaryKey(),
    userId: text("user_id").notNull(),
    title: text("title").notNull(),
    tags: text("tags").array(),
    codes: varchar("codes", { length: 5 }).array(),
    levels: smallint("levels").array(),
    times: timestamp("times", { withTimezone: true }).array(),
    addresses: inet("addresses").array(),
  },
  (t) => [...ownerRls(t.userId), ...searchable({ fields: [t.title], owner: t.userId })],
);
const tables = { tickets };

const search = createSvcProcedureBuilders()
  .query.name("tickets.search")
  .input(v.any())
  .handler(({ context, input: filters }) =>
    context.search(tickets, "leak", { scope: { corpus: "default", visibility: "private" }, filters }),
  );
const db = database();
const app = new TestService(db, defineApi({ procedures: { search } }), {}, tables);
let ann: User;

beforeAll(async () => {
  await leavePlatform(db);
  await mkdir(join(root, ".svc"), { recursive: true });
  const application = await mkdtemp(join(root, ".svc/array-filters-"));
  for (const folder of ["migrations", "sql"]) await mkdir(join(application, folder));
  await writeFile(join(application, "migrations/0001_create.sql"), (await migrationsOf({ schema: tables }))[0] ?? "");
  await writeFile(join(application, "sql/search.sql"), searchFile(tables));
  await migrate({ adminUrl: db.url("admin"), platform: root, application });
  await rm(application, { recursive: true });
  await app.start();
  ann = await app.signUp("ann");
  const bob = await app.signUp("bob");
  await db.sql(
    `insert into tickets (user_id, title, tags, codes, levels, times, addresses) values
       ($1, 'a leak', '{urgent,roof,null}', '{a,b}', '{1,2}', '{2026-01-01T00:00:00Z}', '{10.0.0.1}'),
       ($1, 'b leak', '{roof,"it''s"}', '{b}', '{2,3}', '{2026-01-01T00:00:00Z,2026-02-01T00:00:00Z}', null),
       ($1, 'c leak', '{}', null, null, null, null),
       ($1, 'd leak', null, null, null, null, null),
       ($2, 'of Bob leak', '{urgent,roof}', '{a,b}', '{1,2,3}', null, null)`,
    [ann.id, bob.id],
  );
});
afterAll(() => app.stop());

test.for([
  ["all of the values", { tags: { contains: ["roof", "urgent"] } }, ["a"]],
  ["one of the values", { tags: { overlaps: ["urgent", "it's"] } }, ["a", "b"]],
  ["no value, which every array contains", { tags: { contains: [] } }, ["a", "b", "c"]],
  ["no value, which none has in common", { tags: { overlaps: [] } }, []],
  ["null, which PostgreSQL finds in no array", { tags: { contains: [null] } }, []],
  ["texts of limited length", { codes: { contains: ["b"] } }, ["a", "b"]],
  ["whole numbers", { levels: { overlaps: [1, 7] } }, ["a"]],
  ["times", { times: { contains: ["2026-02-01T01:00:00+01:00"] } }, ["b"]],
  ["two columns", { tags: { contains: ["roof"] }, levels: { contains: [3] } }, ["b"]],
] as const)("an array is found by %s", async ([, filters, expected]) => {
  const { status, body } = await app.query(ann, "tickets.search", filters);
  expect([status, body.error]).toEqual([200, undefined]);
  expect(body.json.items.map(({ row }: { row: { title: string } }) => row.title[0]).toSorted()).toEqual(expected);
});

test.for([
  ["a value that is no array", { tags: { contains: "roof" } }],
  ["a column that is no array", { title: { contains: ["leak"] } }],
  ["values of another type", { levels: { overlaps: ["many"] } }],
  ["a number that the column cannot hold", { levels: { overlaps: [70_000] } }],
  ["more than 1,000 values", { tags: { overlaps: Array.from({ length: 1_001 }, String) } }],
  ["a type without a form of its values", { addresses: { contains: ["10.0.0.1"] } }],
  ["an array in the array", { tags: { contains: [["roof"]] } }],
] as const)("%s is a 400", async ([, filters]) => {
  const { status } = await app.query(ann, "tickets.search", filters);
  expect(status).toBe(400);
});
