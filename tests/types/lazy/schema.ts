/** A schema that also exports what has the type of a handler: a circle, if a handler needed the types of all exports. */
import { pgTable, serial } from "drizzle-orm/pg-core";
import type { count } from "./handlers.ts";

export const stones = pgTable("stones", { id: serial("id").primaryKey() });

export const later = null as unknown as typeof count;
