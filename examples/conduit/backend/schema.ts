/** The tables, and the views of `sql/views.sql`. */
import { ownerRls } from "@svc/core";
import { boolean, integer, jsonb, pgTable, pgView, primaryKey, text, timestamp } from "drizzle-orm/pg-core";

const id = () => integer("id").primaryKey().generatedAlwaysAsIdentity();
const userId = () => text("user_id").notNull();
const articleId = () =>
  integer("article_id")
    .notNull()
    .references(() => articles.id, { onDelete: "cascade" });
const instant = (name: string) => timestamp(name, { withTimezone: true }).notNull().defaultNow();
const own = { read: "public" } as const;

/** `sql/profiles.sql` keeps a row for each user. */
export const profiles = pgTable(
  "profiles",
  {
    userId: text("user_id").primaryKey(),
    username: text("username").notNull().unique("profiles_username_unique"),
    bio: text("bio"),
    image: text("image"),
  },
  (t) => ownerRls(t.userId, own),
);

export const follows = pgTable("follows", { userId: userId(), followed: text("followed").notNull() }, (t) => [
  primaryKey({ columns: [t.userId, t.followed] }),
  ...ownerRls(t.userId),
]);

export const articles = pgTable(
  "articles",
  {
    id: id(),
    userId: userId(),
    slug: text("slug").notNull().unique("articles_slug_unique"),
    title: text("title").notNull(),
    description: text("description").notNull(),
    body: text("body").notNull(),
    tagList: text("tag_list").array().notNull().default([]),
    createdAt: instant("created_at"),
    updatedAt: instant("updated_at"),
  },
  (t) => ownerRls(t.userId, own),
);

export const favorites = pgTable("favorites", { userId: userId(), articleId: articleId() }, (t) => [
  primaryKey({ columns: [t.articleId, t.userId] }),
  ...ownerRls(t.userId, own),
]);

export const comments = pgTable(
  "comments",
  {
    id: id(),
    userId: userId(),
    articleId: articleId(),
    body: text("body").notNull(),
    createdAt: instant("created_at"),
    updatedAt: instant("updated_at"),
  },
  (t) => ownerRls(t.userId, own),
);

const json = (name: string) => jsonb(name).notNull();

export const profileCards = pgView("profile_cards", {
  userId: text("user_id").notNull(),
  username: text("username").notNull(),
  profile: json("profile"),
}).existing();

export const articleCards = pgView("article_cards", {
  id: integer("id").notNull(),
  slug: text("slug").notNull(),
  tagList: text("tag_list").array().notNull(),
  author: text("author").notNull(),
  following: boolean("following").notNull(),
  fans: text("fans").array().notNull(),
  article: json("article"),
}).existing();

export const commentCards = pgView("comment_cards", {
  id: integer("id").notNull(),
  articleId: integer("article_id").notNull(),
  comment: json("comment"),
}).existing();
