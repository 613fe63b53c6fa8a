/** The files of a small application, as an author writes them: an owner's table, a public one, and an open one. */

export const schema = `
import { openRls, ownerRls } from "@svc/core";
import { boolean, integer, pgSchema, pgTable, serial, text, timestamp, uuid } from "drizzle-orm/pg-core";
const instant = (name: string) => timestamp(name, { withTimezone: true }).notNull().defaultNow();
export const user = pgSchema("auth").table("user", { id: text("id").primaryKey() });
export const tasks = pgTable("tasks", {
  id: serial("id").primaryKey(),
  userId: text("user_id").notNull().references(() => user.id, { onDelete: "cascade" }),
  title: text("title").notNull(),
  done: boolean("done").notNull().default(false),
  priority: integer("priority").notNull().default(0),
  createdAt: instant("created_at"),
  updatedAt: instant("updated_at"),
}, (t) => ownerRls(t.userId));
export const articles = pgTable("articles", {
  id: uuid("id").primaryKey().defaultRandom(),
  userId: text("user_id").notNull(),
  title: text("title").notNull(),
  body: text("body").notNull(),
  createdAt: instant("created_at"),
}, (t) => ownerRls(t.userId, { read: "public" }));
export const guestbook = pgTable("guestbook", {
  id: serial("id").primaryKey(),
  message: text("message").notNull(),
  createdAt: instant("created_at"),
}, () => openRls({ read: "anyone", write: "anyone" }));
`;
export const auth = `
import { defineAuth } from "@svc/core";
export default defineAuth({ user: { additionalFields: { role: { type: "text", default: "member" } } } });
`;
export const index = `
import { createCrudFactory, createSvcProcedureBuilders, defineApi } from "@svc/core";
import * as schema from "./schema.ts";
const createCrud = createCrudFactory(createSvcProcedureBuilders<typeof schema>());
export default defineApi({ procedures: {
  tasks: createCrud(schema.tasks),
  articles: createCrud(schema.articles, { allowAnonymous: true }),
  guestbook: createCrud(schema.guestbook, { allowAnonymous: true }),
} });
`;
