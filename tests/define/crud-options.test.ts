// If this file fails, a mistake in the options of createCrud appears in production instead of at definition.
import { sql } from "drizzle-orm";
import {
  boolean,
  customType,
  integer,
  jsonb,
  pgSchema,
  pgTable,
  point,
  serial,
  text,
  timestamp,
  uniqueIndex,
  vector,
} from "drizzle-orm/pg-core";
import { expect, test } from "vitest";
import { createCrudFactory, createSvcProcedureBuilders, DefinitionError, memberRls, openRls } from "../../src/index.ts";

const createCrud = createCrudFactory(createSvcProcedureBuilders());
const open = () => openRls({ read: "anyone", write: "anyone" });

const things = pgTable(
  "things",
  {
    id: serial("id").primaryKey(),
    title: text("title").notNull(),
    tags: text("tags").array(),
    data: jsonb("data"),
    gone: boolean("gone"),
    bornAt: timestamp("born_at").notNull(),
  },
  open,
);

const bytea = customType<{ data: Uint8Array }>({ dataType: () => "bytea" });
const slugs = pgTable("slugs", { id: serial("id").primaryKey(), slug: text("slug").notNull().unique() }, open);

/** @param where a condition of the unique index; null: it holds for all rows */
const indexed = (where: string | null) =>
  pgTable("codes", { id: serial("id").primaryKey(), code: text("code").notNull() }, (t) => {
    const index = uniqueIndex("codes_code").on(t.code);
    return [where === null ? index : index.where(sql.raw(where)), ...open()];
  });

// Options from JavaScript, or from a mistake that types did not catch.
const make = (options: object) => () => createCrud(things, options as never);

const mistakes: [what: string, define: () => unknown, message: string, hint?: string][] = [
  [
    "an id that is no key",
    () => createCrud(pgTable("t", { id: serial("id") }, open)),
    'createCrud: the id of table "t" is not the primary key.',
    "Add .primaryKey() to it: get, update and remove find a row by its id alone.",
  ],
  [
    "an id of another type",
    () => createCrud(pgTable("t", { id: boolean("id").primaryKey() }, open)),
    'createCrud: the id of table "t" has the type boolean.',
    "Make it serial, bigserial, integer, bigint, uuid or text.",
  ],
  [
    "an unknown option",
    make({ serachFields: ["title"] }),
    'createCrud of "things": "serachFields" is not a known key. ' +
      'Did you mean "searchFields"? Known here: allowAnonymous, prefix, searchFields, allowedFilters, include, getBy, upsertBy, many, aggregate, transfer, defaultLimit, ' +
      "maxLimit, softDelete, count, columns, methods, graphql, history, deliveries, realtime, hooks",
  ],
  [
    "a search in a column that does not exist",
    make({ searchFields: ["name"] }),
    'createCrud: searchFields of "things" names "name", which is not a column.',
    "The columns are id, title, tags, data, gone, bornAt.",
  ],
  [
    "a search in a column without text",
    make({ searchFields: ["gone"] }),
    'createCrud: searchFields of "things" names "gone", which is not a text column.',
    "Name text columns; filter the others.",
  ],
  [
    "a filter on a column that does not exist",
    make({ allowedFilters: ["born_at"] }),
    'createCrud: allowedFilters of "things" names "born_at", which is not a column.',
    "The columns are id, title, tags, data, gone, bornAt.",
  ],
  [
    "soft deletion by a column that cannot say when",
    make({ softDelete: { field: "bornAt" } }),
    'createCrud: softDelete of "things" needs a boolean or a nullable timestamp; "bornAt" is neither.',
    'Add one, such as deletedAt: timestamp("deleted_at", { withTimezone: true }).',
  ],
  [
    "a column to pick that does not exist",
    make({ columns: { pick: ["nothing"] } }),
    'createCrud: columns of "things" names "nothing", which is not a column.',
    "The columns are id, title, tags, data, gone, bornAt.",
  ],
  [
    "columns that are neither picked nor left out",
    make({ columns: { only: ["title"] } }),
    'createCrud of "things": columns: must be { pick: […] } or { omit: […] }',
  ],
  [
    "columns that are both",
    make({ columns: { pick: ["title"], omit: ["gone"] } }),
    'createCrud of "things": columns: must be { pick: […] } or { omit: […] }',
  ],
  [
    "a text for a switch",
    make({ allowAnonymous: "false" }),
    'createCrud of "things": allowAnonymous: must be true or false, got a string',
  ],
  [
    "a hook that there is not",
    make({ hooks: { beforecreate: () => ({}) } }),
    'createCrud of "things": hooks: "beforecreate" is not a known key. Did you mean "beforeCreate"? ' +
      "Known here: beforeCreate, beforeUpdate, beforeRemove, beforeUpsert. Use a trigger for what must happen after every write",
  ],
  [
    "a hook that is not a function",
    make({ hooks: { beforeCreate: {} } }),
    'createCrud of "things": hooks.beforeCreate: must be a function, got an object',
  ],
  [
    "an operation that does not exist",
    make({ methods: ["list", "destroy"] }),
    'createCrud of "things": methods[1]: must be "list", "get", "create", "update" or "remove"',
  ],
  [
    "a way of counting that does not exist",
    make({ count: "roughly" }),
    'createCrud of "things": count: must be "exact", "estimated" or "none"',
  ],
  [
    "an upsert by a column that does not exist",
    make({ upsertBy: ["slug"] }),
    'createCrud: upsertBy of "things" names "slug", but "slug" is no column of a number, a text, a uuid, an enum, a boolean, a date or a time.',
    "The columns are id, title, tags, data, gone, bornAt.",
  ],
  [
    "an upsert by a column that is not unique",
    make({ upsertBy: ["title"] }),
    'createCrud: upsertBy of "things" names "title", but no unique constraint of the table has exactly these columns.',
    "Add one: .unique() for one column, or unique().on(t.orgId, t.slug) in the table's third argument.",
  ],
  [
    "an upsert by a column that is unique among some rows",
    () => createCrud(indexed("gone is null"), { upsertBy: ["code"] }),
    'createCrud: upsertBy of "codes" names "code", but no unique constraint of the table has exactly these columns.',
    "Add one: .unique() for one column, or unique().on(t.orgId, t.slug) in the table's third argument.",
  ],
  [
    "an upsert by a column that callers cannot write",
    make({ upsertBy: ["id"] }),
    'createCrud: upsertBy of "things" names "id", which callers cannot write.',
    "Name a unique constraint of columns that they can: title, tags, data, gone, bornAt. userId may be one of several.",
  ],
  [
    "an upsert where rows cannot be updated",
    () => createCrud(slugs, { upsertBy: ["slug"], methods: ["list", "create"] }),
    'createCrud: upsertBy of "slugs" needs methods with create and update.',
    "Add what is missing to methods, or leave upsertBy out.",
  ],
  [
    "an upsert whose rows no hook would see",
    () => createCrud(slugs, { upsertBy: ["slug"], hooks: { beforeUpdate: (data) => data } }),
    'createCrud: upsertBy of "slugs" needs hooks.beforeUpsert.',
    "beforeCreate and beforeUpdate do not run for upsert: only its statement finds out which of the two it is. " +
      "Write beforeUpsert: (row) => row with what both do.",
  ],
  [
    "many rows where not even one can be changed",
    make({ many: true, methods: ["list", "get"] }),
    'createCrud: many of "things" is for none of its methods.',
    "It needs create, or list with update or remove. Add them to methods, or leave many out.",
  ],
  [
    "an aggregate of a column that does not exist",
    make({ aggregate: { measures: ["sum:price"] } }),
    'createCrud: aggregate.measures of "things" names "sum:price", but callers see no column "price".',
    "The columns are id, title, tags, data, gone, bornAt.",
  ],
  [
    "an aggregate of a column that callers do not see",
    make({ columns: { omit: ["bornAt"] }, aggregate: { groupBy: ["bornAt"], measures: ["count"] } }),
    'createCrud: aggregate.groupBy of "things" names "bornAt", but callers see no column "bornAt".',
    "The columns are id, title, tags, data, gone.",
  ],
  [
    "a sum of what is no number",
    make({ aggregate: { measures: ["sum:bornAt"] } }),
    'createCrud: aggregate.measures of "things" names "sum:bornAt", but "bornAt" is no number.',
    "Name a column that is one, or leave it out.",
  ],
  [
    "a measure that does not exist",
    make({ aggregate: { measures: ["median:id"] } }),
    'createCrud: aggregate.measures of "things" names "median:id".',
    "Write count, or sum, avg, min or max with a column: sum:amount.",
  ],
  [
    "an aggregate without a measure",
    make({ aggregate: { measures: [] } }),
    'createCrud: aggregate.measures of "things" is empty.',
    'Name at least one, such as "count".',
  ],
  [
    "groups of values that are no key",
    make({ aggregate: { groupBy: ["data"], measures: ["count"] } }),
    'createCrud: aggregate.groupBy of "things" names "data", whose values form no groups.',
    "Name numbers, texts, enums, uuids or times.",
  ],
  [
    "groups of values that PostgreSQL does not compare",
    () =>
      createCrud(pgTable("t", { id: serial("id").primaryKey(), at: point("at") }, open), {
        aggregate: { groupBy: ["at"], measures: ["count"] },
      }),
    'createCrud: aggregate.groupBy of "t" names "at", whose values form no groups.',
    "Name numbers, texts, enums, uuids or times.",
  ],
  [
    "an aggregate of rows that cannot be listed",
    make({ methods: ["get"], aggregate: { measures: ["count"] } }),
    'createCrud: aggregate of "things" needs methods with list.',
    "Add what is missing to methods, or leave aggregate out.",
  ],
  [
    "filters by a column of bytes",
    () =>
      createCrud(pgTable("t", { id: serial("id").primaryKey(), file: bytea("file") }, open), {
        allowedFilters: ["file"],
      }),
    'createCrud: allowedFilters of "t" names "file", which cannot be compared.',
    "Leave it out.",
  ],
  [
    "a team that the memberships do not know",
    () => memberRls({ through: things, team: pgTable("b", { team: integer("team_id") }).team, user: things.title }),
    'memberRls: things has no column "team_id".',
    "Give the column with the team the same name in both tables, or let things refer to b: .references(() => …).",
  ],
  [
    "memberships that requests cannot read",
    () => {
      const member = pgSchema("auth").table("member", { team: integer("team_id"), user: text("user_id") });
      return memberRls({ through: member, team: pgTable("b", { team: integer("team_id") }).team, user: member.user });
    },
    "memberRls: requests cannot read auth.member.",
    "Use orgRls (docs/how-to/organizations.md), or keep memberships in a table of your own.",
  ],
  [
    "a team whose name is that of the memberships' own key",
    () =>
      memberRls({ through: things, team: pgTable("teams", { id: serial("id").primaryKey() }).id, user: things.title }),
    'memberRls: "id" of things is its own key, and says nothing about teams.',
    "Give the column with the team the same name in both tables, or let things refer to teams: .references(() => …).",
  ],
];

test.for(mistakes)("%s", ([, define, message, hint]) => {
  let thrown: unknown;
  try {
    define();
  } catch (error) {
    thrown = error;
  }
  expect(thrown).toBeInstanceOf(DefinitionError);
  expect((thrown as DefinitionError).message.split("\n")[0]).toBe(message);
  expect((thrown as DefinitionError).hint).toBe(hint);
});

test("an upsert may name the columns of a unique index of all rows", () => {
  expect(createCrud(indexed(null), { upsertBy: ["code"] }).upsert).toBeDefined();
});

// Each list of such a table was answered with 400.
test("an array of vectors is a definition error", () => {
  const table = pgTable("nested", { id: serial("id").primaryKey(), v: vector("v", { dimensions: 2 }).array() }, open);
  expect(() => createCrud(table)).toThrow(/"v" of "nested" has the type vector\(2\)\[\]/);
});

test.for([bytea("v"), timestamp("v")])("an array of arrays that would be stored wrong is a definition error", (v) => {
  const table = pgTable("nested", { id: serial("id").primaryKey(), v: v.array().array() }, open);
  expect(() => createCrud(table)).toThrow(/"v" of "nested" has the type \w+\[\]\[\]/);
});
