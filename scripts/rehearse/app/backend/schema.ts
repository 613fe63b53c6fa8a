/** A mark is a mutation that was made, a trace the job that it scheduled. Neither is unique: what is done twice shows. */
import { ownerRls } from "@svc/core";
import { pgTable, serial, text, timestamp } from "drizzle-orm/pg-core";

const keyed = <Name extends string>(name: Name) =>
  pgTable(
    name,
    {
      id: serial("id").primaryKey(),
      userId: text("user_id").notNull(),
      key: text("key").notNull(),
      createdAt: timestamp("created_at", { withTimezone: true }).notNull().defaultNow(),
    },
    (t) => ownerRls(t.userId),
  );

export const marks = keyed("marks");
export const traces = keyed("traces");
