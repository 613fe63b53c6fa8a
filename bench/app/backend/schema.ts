/** The tables that all contestants read and write. */
import { ownerRls } from "@svc/core";
import { boolean, integer, pgTable, serial, text, timestamp } from "drizzle-orm/pg-core";

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
