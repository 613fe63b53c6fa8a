/** The desk's tables. Their policies stand in `../migrations/`, where a DBA reads them. */
import { openRls, ownerRls } from "@svc/core";
import { sql } from "drizzle-orm";
import { boolean, integer, pgPolicy, pgTable, serial, text, timestamp, uuid } from "drizzle-orm/pg-core";

const instant = (name: string) => timestamp(name, { withTimezone: true });

/** What somebody has to do. Nobody else sees it. */
export const tasks = pgTable(
  "tasks",
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

/** Files of tasks. The id is that of the stored file. */
export const attachments = pgTable(
  "attachments",
  {
    id: uuid("id").primaryKey(),
    taskId: integer("task_id").notNull(),
    userId: text("user_id").notNull(),
    createdAt: instant("created_at").notNull().defaultNow(),
  },
  (t) => ownerRls(t.userId),
);

/** Notices on the public board: everybody reads them, only the author changes them. */
export const posts = pgTable(
  "posts",
  {
    id: uuid("id").primaryKey().defaultRandom(),
    userId: text("user_id").notNull(),
    title: text("title").notNull(),
    body: text("body").notNull().default(""),
    createdAt: instant("created_at").notNull().defaultNow(),
    updatedAt: instant("updated_at").notNull().defaultNow(),
  },
  (t) => ownerRls(t.userId, { read: "public" }),
);

/** A guest book: anyone signs it, nobody needs an account. */
export const guestbook = pgTable(
  "guestbook",
  {
    id: serial("id").primaryKey(),
    message: text("message").notNull(),
    createdAt: instant("created_at").notNull().defaultNow(),
  },
  () => openRls({ read: "anyone", write: "anyone" }),
);

const isOwner = sql`user_id = (select svc.current_user_id())`;

/** Cards of the start page: shared, or their owner's alone. */
export const cards = pgTable(
  "cards",
  {
    id: integer("id").primaryKey().generatedByDefaultAsIdentity(),
    userId: text("user_id").notNull(),
    title: text("title").notNull(),
    isShared: boolean("is_shared").notNull().default(true),
    createdAt: instant("created_at").notNull().defaultNow(),
    updatedAt: instant("updated_at").notNull().defaultNow(),
  },
  () => [
    pgPolicy("select_shared_or_own", { for: "select", to: "svc_authenticated", using: sql`is_shared or ${isOwner}` }),
    pgPolicy("insert_own", { for: "insert", to: "svc_authenticated", withCheck: isOwner }),
    pgPolicy("update_shared_or_own", {
      for: "update",
      to: "svc_authenticated",
      using: sql`is_shared or ${isOwner}`,
      withCheck: sql`is_shared or ${isOwner}`,
    }),
    pgPolicy("delete_own", { for: "delete", to: "svc_authenticated", using: isOwner }),
  ],
);

/** What somebody paid and wants back. Colleagues see all of them: they decide on each other's. */
export const expenses = pgTable(
  "expenses",
  {
    id: serial("id").primaryKey(),
    userId: text("user_id").notNull(),
    purpose: text("purpose").notNull(),
    cents: integer("cents").notNull(),
    status: text("status", { enum: ["waiting", "approved", "refused", "expired"] })
      .notNull()
      .default("waiting"),
    decidedBy: text("decided_by"),
    runId: uuid("run_id"),
    createdAt: instant("created_at").notNull().defaultNow(),
    updatedAt: instant("updated_at").notNull().defaultNow(),
  },
  () => [
    pgPolicy("select_colleague", { for: "select", to: "svc_authenticated", using: sql`true` }),
    pgPolicy("insert_owner", {
      for: "insert",
      to: "svc_authenticated",
      withCheck: sql`${isOwner} and status = 'waiting'`,
    }),
    pgPolicy("update_owner", { for: "update", to: "svc_authenticated", using: isOwner, withCheck: isOwner }),
  ],
);
