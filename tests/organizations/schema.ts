/** The tables of `application.ts`. */
import { pgTable, text, uuid } from "drizzle-orm/pg-core";
import { organizations, orgRls } from "../../src/index.ts";

export const invoices = pgTable(
  "invoices",
  {
    id: uuid("id").primaryKey().defaultRandom(),
    orgId: text("org_id")
      .notNull()
      .references(() => organizations.id, { onDelete: "cascade" }),
    title: text("title").notNull(),
  },
  (t) => orgRls(t.orgId, { read: "member", write: ["owner", "admin", "editor"] }),
);
