/** The tables. */
import { ownerRls } from "@svc/core";
import { and, eq, sql } from "drizzle-orm";
import { index, integer, pgTable, primaryKey, text, timestamp } from "drizzle-orm/pg-core";

const id = () => integer("id").primaryKey().generatedAlwaysAsIdentity();
export const caller = sql`svc.current_user_id()`;
const userId = () => text("user_id").notNull().default(caller);
const articleId = () =>
  integer("article_id")
    .notNull()
    .references(() => articles.id, { onDelete: "cascade" });
const instant = (name: string) => timestamp(name, { withTimezone: true }).notNull().defaultNow();
const times = () => ({ createdAt: instant("created_at"), updatedAt: instant("updated_at") });
const own = { read: "public" } as const;

/** `sql/profiles.sql` adds a row for each user. */
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

/** Whether the caller follows a profile. */
export const following = sql<boolean>`exists (select from ${follows}
  where ${and(eq(follows.followed, profiles.userId), eq(follows.userId, caller))})`;

/** A profile as its caller sees it. */
export const card = { username: profiles.username, bio: profiles.bio, image: profiles.image, following };

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
    ...times(),
  },
  (t) => ownerRls(t.userId, own),
);

export const favorites = pgTable("favorites", { userId: userId(), articleId: articleId() }, (t) => [
  primaryKey({ columns: [t.articleId, t.userId] }),
  ...ownerRls(t.userId, own),
]);

export const comments = pgTable(
  "comments",
  { id: id(), userId: userId(), articleId: articleId(), body: text("body").notNull(), ...times() },
  (t) => [index("comments_article").on(t.articleId), ...ownerRls(t.userId, own)],
);
