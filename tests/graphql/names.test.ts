// If this file fails, a table whose name is also one of PostGraphile's types, or of an enum, takes all of GraphQL with it.
import { integer, pgTable, serial, text } from "drizzle-orm/pg-core";
import { beforeAll, expect, test } from "vitest";
import { crudFile } from "../../src/crud/crud-sql.ts";
import { createCrudFactory, createSvcProcedureBuilders, defineApi, openRls } from "../../src/index.ts";
import { articles, boards, flags, notes, posts } from "../fixture/backend/schema.ts";
import { database } from "../support/database.ts";
import { service } from "../support/service.ts";
import { asker } from "./support.ts";

const createCrud = createCrudFactory(createSvcProcedureBuilders());
const db = database();
const races = pgTable(
  "races",
  {
    id: serial("id").primaryKey(),
    constructor: text("constructor"),
    toString: integer("to_string"),
    place: text("place"),
  },
  () => openRls({ read: "anyone", write: "authenticated" }),
);
const procedures = {
  races: createCrud(races as never, { allowedFilters: ["constructor", "place"] as never, allowAnonymous: true }),
  lines: createCrud(notes, { prefix: "lines" }),
  points: createCrud(posts, { prefix: "points" }),
  boxes: createCrud(flags, { prefix: "boxes" }),
  paths: createCrud(boards, { prefix: "paths" }),
  moods: createCrud(articles, { prefix: "moods" }), // it has a column of the enum "mood"
};
const api = defineApi({ procedures });
beforeAll(async () => {
  await db.sql(`create table races (id serial primary key, "constructor" text, to_string integer, place text);
    alter table races enable row level security;
    create policy all_users on races to svc_anonymous, svc_authenticated using (true);
    grant all on races, races_id_seq to svc_anonymous, svc_authenticated; insert into races (place) values ('Monza'), ('Spa')`);
  for (const crud of api["~svc"].crud) await db.sql(`set role svc_owner; ${crudFile(crud)}`);
});
const app = service(db, api);

test("types of tables, of PostgreSQL and of enums have names of their own", async () => {
  const ann = await app.signUp("ann");
  const { data, errors } = await asker(app)(
    ann,
    `{ lines { edges { node { __typename } } } points { totalCount } boxes { totalCount } paths { totalCount } moods { totalCount }
       row: __type(name: "LineRow") { fields { name } } enum: __type(name: "MoodValue") { kind } }`,
  );
  expect(errors).toEqual([]);
  expect(data.row.fields).toContainEqual({ name: "title" });
  expect(data.enum).toEqual({ kind: "ENUM" });
  expect(data.lines.edges).toEqual([]);
});

// graphql-js and grafast took the constructor of Object for the value of a column that nobody had named.
test("a table may have columns with the names of members of every object", async () => {
  const ann = await app.signUp("ann");
  const ask = asker(app);
  const write = "mutation ($input: RaceInput!) { createRace(input: $input) { constructor toString place } }";
  expect(await ask(ann, write, { input: { place: "Imola" } })).toMatchObject({
    data: { createRace: { constructor: null, toString: null, place: "Imola" } },
    errors: [],
  });
  expect(await ask(ann, write, { input: { constructor: "Lotus", toString: 2 } })).toMatchObject({
    data: { createRace: { constructor: "Lotus", toString: 2, place: null } },
  });
  for (const more of ["", "pageInfo { hasNextPage }"]) {
    const read = `query ($c: RaceCondition) { races(condition: $c) { nodes { constructor place } ${more} } }`;
    expect(await ask(null, read, { c: { place: "Spa" } })).toMatchObject({
      data: { races: { nodes: [{ constructor: null, place: "Spa" }] } },
      errors: [],
    });
  }
});
