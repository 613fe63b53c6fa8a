// backend/schema.ts
import { openRls, ownerRls, searchable } from "@svc/core";
import { boolean, integer, pgTable, serial, text, timestamp, uuid, vector } from "drizzle-orm/pg-core";

export const tasks = pgTable(
  "tasks",
  {
    id: serial("id").primaryKey(),
    userId: text("user_id").notNull(),
    title: text("title").notNull(),
    done: boolean("done").notNull().default(false),
    priority: integer("priority").notNull().default(0),
    createdAt: timestamp("created_at", { withTimezone: true }).notNull().defaultNow(),
    updatedAt: timestamp("updated_at", { withTimezone: true }).notNull().defaultNow(),
  },
  (t) => ownerRls(t.userId),
);

export const articles = pgTable(
  "articles",
  {
    id: uuid("id").primaryKey().defaultRandom(),
    userId: text("user_id").notNull(),
    title: text("title").notNull(),
    body: text("body").notNull(),
    corpus: text("corpus").notNull().default("default"),
    visibility: text("visibility").notNull().default("private"),
    embedding: vector("embedding", { dimensions: 384 }),
    createdAt: timestamp("created_at", { withTimezone: true }).notNull().defaultNow(),
  },
  (t) => [
    ...ownerRls(t.userId),
    ...searchable({
      fields: [t.title, t.body],
      language: "english",
      corpus: t.corpus,
      visibility: t.visibility,
      owner: t.userId,
    }),
  ],
); // adds the policies of the scope

export const guestbook = pgTable(
  "guestbook",
  {
    id: serial("id").primaryKey(),
    message: text("message").notNull(),
    createdAt: timestamp("created_at", { withTimezone: true }).notNull().defaultNow(),
  },
  () => openRls({ read: "anyone", write: "anyone" }),
); // with createCrud(guestbook, { allowAnonymous: true })
