/** One table. Nobody sees the notes of others. */
import { ownerRls } from "@svc/core";
import { pgTable, serial, text, timestamp } from "drizzle-orm/pg-core";

export const notes = pgTable(
  "notes",
  {
    id: serial("id").primaryKey(),
    userId: text("user_id").notNull(),
    text: text("text").notNull(),
    createdAt: timestamp("created_at", { withTimezone: true }).notNull().defaultNow(),
  },
  (t) => ownerRls(t.userId),
);
