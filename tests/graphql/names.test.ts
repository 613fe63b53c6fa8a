// If this file fails, a table whose name is also one of PostGraphile's types, or of an enum, takes all of GraphQL with it.
import { beforeAll, expect, test } from "vitest";
import { crudFile } from "../../src/crud/crud-sql.ts";
import { createCrudFactory, createSvcProcedureBuilders, defineApi } from "../../src/index.ts";
import { articles, boards, flags, notes, posts } from "../fixture/backend/schema.ts";
import { database } from "../support/database.ts";
import { service } from "../support/service.ts";
import { asker } from "./support.ts";

const createCrud = createCrudFactory(createSvcProcedureBuilders());
const db = database();
const procedures = {
  lines: createCrud(notes, { prefix: "lines" }),
  points: createCrud(posts, { prefix: "points" }),
  boxes: createCrud(flags, { prefix: "boxes" }),
  paths: createCrud(boards, { prefix: "paths" }),
  moods: createCrud(articles, { prefix: "moods" }), // it has a column of the enum "mood"
};
const api = defineApi({ procedures });
beforeAll(async () => {
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
