/** Webhooks of the fixture's notes: to one receiver of the operator, and to the endpoints of users. */
import { boolean, pgTable, text, timestamp, uuid } from "drizzle-orm/pg-core";
import { createCrudFactory, createSvcProcedureBuilders, defineApi, ownerRls, webhook } from "../../src/index.ts";
import { crud } from "../fixture/backend/index.ts";
import { notes } from "../fixture/backend/schema.ts";

export const endpoints = pgTable(
  "endpoints",
  {
    id: uuid("id").primaryKey().defaultRandom(),
    userId: text("user_id").notNull(),
    url: text("url").notNull(),
    secret: text("secret").notNull(),
    enabled: boolean("enabled").notNull().default(true),
    topics: text("topics").array().notNull(),
    deletedAt: timestamp("deleted_at", { withTimezone: true }),
  },
  (t) => ownerRls(t.userId),
);

export const noteDone = webhook({
  name: "note.done",
  on: notes,
  when: "update",
  filter: { done: true },
  columns: ["id", "title", "createdAt"],
  to: { env: "DONE_HOOK" },
});
export const noteChanged = webhook({
  name: "note-changed",
  on: notes,
  when: ["insert", "update", "delete"],
  columns: ["id", "title"],
  to: { endpoints, owner: "userId", events: "topics" },
});
export const api = defineApi({ procedures: crud, webhooks: { noteDone, noteChanged } });

/** The same, with the endpoints as a resource of their users. */
const endpointsCrud = createCrudFactory(createSvcProcedureBuilders())(endpoints, {
  deliveries: true,
  allowAnonymous: true,
  columns: { omit: ["secret"] },
  softDelete: { field: "deletedAt" },
  defaultLimit: 2,
  maxLimit: 3,
});
export const usersApi = defineApi({
  procedures: { ...crud, endpoints: endpointsCrud },
  webhooks: { noteDone, noteChanged },
});
