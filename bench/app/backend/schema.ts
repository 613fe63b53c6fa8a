/** The tables that all contestants read and write. */
import { openRls, ownerRls } from "@svc/core";
import { relations } from "drizzle-orm";
import { boolean, integer, pgTable, primaryKey, serial, text, timestamp } from "drizzle-orm/pg-core";

const instant = (name: string) => timestamp(name, { withTimezone: true });

const itemsTable = <Name extends string>(name: Name) =>
  pgTable(
    name,
    {
      id: serial("id").primaryKey(),
      userId: text("user_id").notNull(),
      title: text("title").notNull(),
      done: boolean("done").notNull().default(false),
      priority: integer("priority").notNull().default(0),
      createdAt: instant("created_at").notNull().defaultNow(),
      updatedAt: instant("updated_at").notNull().defaultNow(),
    },
    (t) => ownerRls(t.userId),
  );

export const items = itemsTable("items");

/** As many rows as the name says, for bench/lists.ts; `items` itself has a million. */
export const items1e3 = itemsTable("items_1e3");
export const items1e4 = itemsTable("items_1e4");
export const items1e5 = itemsTable("items_1e5");
export const items1e7 = itemsTable("items_1e7");

/** Owners of a thousand to a million rows. */
export const deepItems = itemsTable("deep_items");

/** Articles with their authors, tags and comments, for bench/related.ts. Everybody reads them. */
export const authors = pgTable(
  "authors",
  { id: serial("id").primaryKey(), userId: text("user_id").notNull(), name: text("name").notNull() },
  (t) => ownerRls(t.userId, { read: "public" }),
);
export const articles = pgTable(
  "articles",
  {
    id: serial("id").primaryKey(),
    userId: text("user_id").notNull(),
    authorId: integer("author_id").references(() => authors.id),
    title: text("title").notNull(),
    body: text("body").notNull(),
    createdAt: instant("created_at").notNull().defaultNow(),
  },
  (t) => ownerRls(t.userId, { read: "public" }),
);
export const tags = pgTable("tags", { id: serial("id").primaryKey(), name: text("name").notNull() }, () =>
  openRls({ read: "anyone", write: "nobody" }),
);
export const articleTags = pgTable(
  "article_tags",
  {
    articleId: integer("article_id").references(() => articles.id),
    tagId: integer("tag_id").references(() => tags.id),
  },
  (t) => [primaryKey({ columns: [t.articleId, t.tagId] }), ...openRls({ read: "anyone", write: "nobody" })],
);
export const comments = pgTable(
  "comments",
  {
    id: serial("id").primaryKey(),
    userId: text("user_id").notNull(),
    articleId: integer("article_id").references(() => articles.id),
    body: text("body").notNull(),
  },
  (t) => ownerRls(t.userId, { read: "public" }),
);
export const articleRelations = relations(articles, ({ one, many }) => ({
  author: one(authors, { fields: [articles.authorId], references: [authors.id] }),
  comments: many(comments),
  articleTags: many(articleTags),
}));
export const commentRelations = relations(comments, ({ one }) => ({
  article: one(articles, { fields: [comments.articleId], references: [articles.id] }),
}));
export const articleTagRelations = relations(articleTags, ({ one }) => ({
  article: one(articles, { fields: [articleTags.articleId], references: [articles.id] }),
  tag: one(tags, { fields: [articleTags.tagId], references: [tags.id] }),
}));
