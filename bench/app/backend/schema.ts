/** The table that all contestants read and write. */
import { ownerRls } from "@svc/core";
import { boolean, integer, pgTable, serial, text, timestamp } from "drizzle-orm/pg-core";

const instant = (name: string) => timestamp(name, { withTimezone: true });

export const items = pgTable(
  "items",
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
