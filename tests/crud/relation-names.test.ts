// If this file fails, a name in `include` that leads nowhere is accepted, or its error does not say what is missing; or an
// application with hundreds of tables takes half a minute to load.
import { relations } from "drizzle-orm";
import { foreignKey, integer, pgSchema, pgTable, serial, text, unique } from "drizzle-orm/pg-core";
import { expect, test } from "vitest";
import { createCrudFactory, createSvcProcedureBuilders, defineApi, openRls } from "../../src/index.ts";
import { relationalConfig } from "../../src/kit/table-config.ts";

const open = () => openRls({ read: "anyone", write: "nobody" });
const shelves = pgTable("shelves", { id: serial("id").primaryKey(), name: text("name") }, open);
const books = pgTable(
  "books",
  {
    id: serial("id").primaryKey(),
    shelfId: integer("shelf_id").references(() => shelves.id),
    formerId: integer("former_id").references(() => shelves.id),
  },
  open,
);
/** As in backend/generated/auth-schema.ts. */
const user = pgSchema("auth").table("user", { id: text("id").primaryKey() });
const loans = pgTable(
  "loans",
  { id: serial("id").primaryKey(), ownerId: text("owner_id").references(() => user.id) },
  open,
);
const authors = pgTable("authors", { id: serial("id").primaryKey() }, open);
/** A row and its issue are of the same organization. */
const issues = pgTable(
  "issues",
  { id: serial("id").primaryKey(), orgId: text("org_id").notNull(), authorId: integer("author_id") },
  (t) => [unique().on(t.orgId, t.id), ...open()],
);
const comments = pgTable(
  "comments",
  {
    id: serial("id").primaryKey(),
    orgId: text("org_id").notNull(),
    issueId: integer("issue_id").notNull(),
    causeId: integer("cause_id"),
    shelfId: integer("shelf_id"),
  },
  (t) => [
    foreignKey({ columns: [t.orgId, t.issueId], foreignColumns: [issues.orgId, issues.id] }),
    foreignKey({ columns: [t.orgId, t.causeId], foreignColumns: [issues.orgId, issues.id] }),
    foreignKey({ columns: [t.orgId, t.shelfId], foreignColumns: [shelves.name, shelves.id] }),
    ...open(),
  ],
);
/** Without policies. */
const bookAuthors = pgTable("book_authors", {
  bookId: integer("book_id").references(() => books.id),
  authorId: integer("author_id").references(() => authors.id),
});
/** With a foreign key besides the two of a join table, as that of rows of a team. */
const shelvedAuthors = pgTable(
  "shelved_authors",
  {
    bookId: integer("book_id").references(() => books.id),
    authorId: integer("author_id").references(() => authors.id),
    shelfId: integer("shelf_id").references(() => shelves.id),
  },
  open,
);
const schema = {
  ...{ shelves, books, authors, loans, bookAuthors, shelvedAuthors, issues, comments },
  shelfRelations: relations(shelves, ({ many }) => ({ books: many(books) })),
  bookRelations: relations(books, ({ one }) => ({ kept: one(shelves) })),
  issueRelations: relations(issues, ({ one }) => ({
    team: one(shelves, { fields: [issues.orgId], references: [shelves.id] }),
  })),
};

const createCrud = createCrudFactory(createSvcProcedureBuilders<typeof schema>(), schema);

// biome-ignore format: a table
test.for<[keyof typeof schema & string, unknown, string, string]>([
  ["shelves", "name", 'names "name", which is the name of a column', "Give the relation another name"],
  ["shelves", "_count", "which is the member for numbers of related rows", "another name"],
  ["shelves", "a b", "cannot be a name", "Use letters"],
  ["shelves", "books", 'as many rows of "books", but not how they refer to "shelves"', "relations(books, ({ one }) => ({ shelves: one(shelves,"],
  ["loans", "owner", 'no registered resource of "user"', "Requests cannot read tables of the schema auth."],
  ["books", "kept", 'names "kept"', 'Complete relations() of "books"'],
  ["books", { name: "authors", through: bookAuthors }, 'the join table "book_authors" declares no policy', "openRls"],
  ["books", { name: "writers", through: shelvedAuthors }, "has several other foreign keys", '"authors" or "shelves"'],
  ["issues", "team", 'names "team", which compares "org_id" (text) with "id" (serial).', "give both columns one type"],
  ["books", "nothing", 'names "nothing"', ""],
  ["books", "ketp", "neither a relation nor a table", 'Did you mean "kept"? Name a relation'],
  ["comments", "issu", "neither a relation nor a table", 'Did you mean "issue"? Name a relation'],
  ["issues", "replies", "neither a relation nor a table", "Name a relation"],
  ["books", "pages", "neither a relation nor a table", 'There are: "kept", "shelf", "former"'],
])("createCrud of %s with include %j", ([name, option, problem, hint]) => {
  const procedures = {
    [name]: createCrud(schema[name] as typeof books, { include: [option as "books"] }),
    ...(name !== "authors" && { authors: createCrud(authors) }),
  };
  const define = () => defineApi({ procedures });
  expect(define).toThrow(problem);
  expect(define).toThrow(expect.objectContaining({ hint: expect.stringContaining(hint) }));
});

test("a table that is exported twice keeps its relations, in `include` and in `db.query`", () => {
  const kept = relations(books, ({ one }) => ({
    kept: one(shelves, { fields: [books.shelfId], references: [shelves.id] }),
  }));
  const twice = { shelves, books, kept, novels: books };
  const crud = createCrudFactory(createSvcProcedureBuilders<typeof twice>(), twice)(books, { include: ["kept"] });
  const [{ relations: known } = {}] = defineApi({ procedures: { books: crud, shelves: createCrud(shelves) } })["~svc"]
    .crud;
  expect(known?.get("kept")).toMatchObject({ many: false, local: ["shelf_id"] });
  const { tables } = relationalConfig(twice);
  expect([tables.books, tables.novels].map((one) => Object.keys(one?.relations ?? {}))).toEqual([["kept"], ["kept"]]);
});

test("a table of sign-in is no resource, and the error says what to show instead", () => {
  const hint = expect.stringContaining("a table of profiles: @svc/core/docs/how-to/user-profiles.md");
  expect(() => createCrud(user as never)).toThrow(expect.objectContaining({ hint }));
});

test("a foreign key of an organization and an id has the id's name", () => {
  const crud = { comments: createCrud(comments, { include: ["issue", "cause", "shelf"] }), issues: createCrud(issues) };
  const api = defineApi({ procedures: { ...crud, shelves: createCrud(shelves) } });
  const { relations: known } = api["~svc"].crud.find(({ prefix }) => prefix === "comments") ?? {};
  expect(known?.get("issue")).toMatchObject({ many: false, local: ["org_id", "issue_id"], foreign: ["org_id", "id"] });
  expect(known?.get("cause")).toMatchObject({ many: false, local: ["org_id", "cause_id"] });
  expect(known?.get("shelf")).toMatchObject({ many: false, local: ["org_id", "shelf_id"], foreign: ["name", "id"] });
});

test("the name of a relation says which of several foreign keys of a join table is meant", () => {
  const books_ = createCrud(books, { include: [{ name: "authors", through: shelvedAuthors }] });
  const api = defineApi({ procedures: { books: books_, authors: createCrud(authors) } });
  const [crud] = api["~svc"].crud;
  expect(crud?.relations.get("authors")).toMatchObject({ many: true, through: { foreign: ["author_id"] } });
});

test("the policies of a table are evaluated as often in a schema with many relations as in one with few", () => {
  const evaluations = (size: number) => {
    let evaluated = 0;
    const made = Array.from({ length: size }, (_, at) =>
      pgTable(`leaves_${at}`, { id: serial("id").primaryKey(), nextId: integer("next_id") }, () => {
        evaluated++;
        return open();
      }),
    );
    const next = (at: number) => made[(at + 1) % size] as (typeof made)[number];
    const declared = made.map((table, at) =>
      relations(table, ({ one }) => ({ next: one(next(at), { fields: [table.nextId], references: [next(at).id] }) })),
    );
    const all = Object.fromEntries([...made, ...declared].map((one, at) => [`_${at}`, one]));
    const crudOf = createCrudFactory(createSvcProcedureBuilders<typeof all>(), all);
    const cruds = made.map((table) => crudOf(table as never, { include: ["next" as never] }));
    evaluated = 0;
    defineApi({ procedures: { ...cruds } as never });
    return evaluated / size;
  };
  expect(evaluations(24)).toBe(evaluations(3));
});
