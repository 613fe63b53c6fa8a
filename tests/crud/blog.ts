/** Authors, articles, comments and tags, with every kind of relation between them. */
import { relations } from "drizzle-orm";
import {
  type AnyPgColumn,
  foreignKey,
  integer,
  pgTable,
  primaryKey,
  serial,
  text,
  timestamp,
  unique,
} from "drizzle-orm/pg-core";
import { crudFile } from "../../src/crud/crud-sql.ts";
import { createCrudFactory, createSvcProcedureBuilders, defineApi, openRls, ownerRls } from "../../src/index.ts";

const open = () => openRls({ read: "anyone", write: "authenticated" });

const authors = pgTable(
  "authors",
  {
    id: serial("id").primaryKey(),
    handle: text("handle").notNull().unique(),
    email: text("email"),
    bornAt: timestamp("born_at", { withTimezone: true }),
  },
  open,
);
const posts = pgTable(
  "blog_posts",
  {
    id: serial("id").primaryKey(),
    slug: text("slug").notNull().unique(),
    title: text("title").notNull(),
    authorId: integer("author_id").references(() => authors.id),
    editorId: integer("editor_id").references(() => authors.id),
  },
  open,
);
/** Rows of one user that nobody else sees. */
const comments = pgTable(
  "comments",
  {
    id: serial("id").primaryKey(),
    userId: text("user_id").notNull(),
    postId: integer("post_id").references(() => posts.id),
    parentId: integer("parent_id").references((): AnyPgColumn => comments.id),
    body: text("body").notNull(),
    secret: text("secret"),
    deletedAt: timestamp("deleted_at", { withTimezone: true }),
  },
  (t) => ownerRls(t.userId),
);
const tags = pgTable("tags", { id: serial("id").primaryKey(), name: text("name").notNull() }, open);
const postTags = pgTable(
  "post_tags",
  {
    postId: integer("post_id").references(() => posts.id),
    tagId: integer("tag_id").references(() => tags.id),
  },
  (t) => [primaryKey({ columns: [t.postId, t.tagId] }), ...open()],
);
const follows = pgTable(
  "follows",
  {
    followerId: integer("follower_id").references(() => authors.id),
    followedId: integer("followed_id").references(() => authors.id),
  },
  (t) => [primaryKey({ columns: [t.followerId, t.followedId] }), ...open()],
);
/** A key of two columns, and rows that refer to it. */
const editions = pgTable(
  "editions",
  {
    id: serial("id").primaryKey(),
    book: text("book").notNull(),
    number: integer("number").notNull(),
  },
  (t) => [unique().on(t.book, t.number), ...open()],
);
const prints = pgTable(
  "prints",
  { id: serial("id").primaryKey(), book: text("book"), number: integer("number"), copies: integer("copies") },
  (t) => [foreignKey({ columns: [t.book, t.number], foreignColumns: [editions.book, editions.number] }), ...open()],
);

const authorRelations = relations(authors, ({ many }) => ({
  posts: many(posts, { relationName: "author" }),
  edited: many(posts, { relationName: "editor" }),
}));
const postRelations = relations(posts, ({ one, many }) => ({
  author: one(authors, { fields: [posts.authorId], references: [authors.id], relationName: "author" }),
  editor: one(authors, { fields: [posts.editorId], references: [authors.id], relationName: "editor" }),
  comments: many(comments),
}));
const commentRelations = relations(comments, ({ one, many }) => ({
  post: one(posts, { fields: [comments.postId], references: [posts.id] }),
  parent: one(comments, { fields: [comments.parentId], references: [comments.id], relationName: "thread" }),
  replies: many(comments, { relationName: "thread" }),
}));

export const schema = {
  authors,
  posts,
  comments,
  tags,
  postTags,
  follows,
  editions,
  prints,
  authorRelations,
  postRelations,
  commentRelations,
};

const createCrud = createCrudFactory(createSvcProcedureBuilders<typeof schema>(), schema);

export const procedures = {
  authors: createCrud(authors, {
    allowAnonymous: true,
    columns: { omit: ["email"] },
    allowedFilters: ["handle", "bornAt"],
    getBy: ["handle"],
    aggregate: { groupBy: ["bornAt"], measures: ["count", "max:bornAt"] },
    include: [
      "posts",
      "edited",
      { name: "followers", through: follows, on: "followedId" },
      { name: "following", through: follows, on: "followerId" },
    ],
  }),
  posts: createCrud(posts, {
    allowAnonymous: true,
    columns: { omit: ["editorId"] },
    allowedFilters: ["slug", "title"],
    getBy: ["slug"],
    include: ["author", "editor", "comments", "tags"],
  }),
  comments: createCrud(comments, {
    columns: { omit: ["secret"] },
    allowedFilters: ["body"],
    softDelete: { field: "deletedAt" },
    maxLimit: 3,
    include: ["post", "parent", "replies"],
  }),
  tags: createCrud(tags, {
    allowAnonymous: true,
    allowedFilters: ["name"],
    include: [{ name: "posts", through: postTags }],
  }),
  editions: createCrud(editions, { allowAnonymous: true, getBy: [["book", "number"]], include: ["prints"] }),
  prints: createCrud(prints, {
    allowAnonymous: true,
    allowedFilters: ["copies"],
    include: ["editions"],
    aggregate: { groupBy: ["book", "number"], measures: ["count", "sum:copies", "max:copies"] },
  }),
};

/** The tables, their policies, and the generated functions. */
export const blogSql = `
  create table authors (id serial primary key, handle text not null unique, email text, born_at timestamptz);
  create table blog_posts (id serial primary key, slug text not null unique, title text not null,
    author_id integer references authors, editor_id integer references authors);
  create table comments (id serial primary key, user_id text not null, post_id integer references blog_posts,
    parent_id integer references comments, body text not null, secret text, deleted_at timestamptz);
  create table tags (id serial primary key, name text not null);
  create table post_tags (post_id integer references blog_posts, tag_id integer references tags, primary key (post_id, tag_id));
  create table follows (follower_id integer references authors, followed_id integer references authors,
    primary key (follower_id, followed_id));
  create table editions (id serial primary key, book text not null, number integer not null, unique (book, number));
  create table prints (id serial primary key, book text, number integer, copies integer,
    foreign key (book, number) references editions (book, number));
  do $do$
  declare name text;
  begin
    foreach name in array '{authors,blog_posts,tags,post_tags,follows,editions,prints}'::text[] loop
      execute format('alter table %I enable row level security;
        create policy all_anyone on %1$I to svc_anonymous, svc_authenticated using (true);
        grant all on %1$I to svc_anonymous, svc_authenticated', name);
    end loop;
  end $do$;
  alter table comments enable row level security;
  create policy owner on comments to svc_authenticated using (user_id = (select svc.current_user_id()));
  grant all on comments to svc_authenticated;
  grant usage on all sequences in schema public to svc_authenticated;
  ${defineApi({ procedures })["~svc"].crud.map(crudFile).join("\n")}`;
