/** Statements of a handler that PostgreSQL refuses, and the tables that they need, for database-errors.test.ts. */
import { createHash } from "node:crypto";
import { eq, sql } from "drizzle-orm";
import { integer, pgTable, serial, text, uuid } from "drizzle-orm/pg-core";
import type { procedure } from "../fixture/backend/index.ts";
import * as schema from "../fixture/backend/schema.ts";

export const things = pgTable("things", {
  id: serial("id").primaryKey(),
  code: text("code"),
  parent: integer("parent"),
  amount: integer("amount"),
  needed: text("needed").notNull().default("x"),
  short: text("short"),
  uid: uuid("uid"),
  span: text("span"),
});
const vault = pgTable("vault", { secret: text("secret") });
export type Db = Parameters<Parameters<typeof procedure.mutation.handler>[0]>[0]["context"]["db"];

/** A value that only the row contains. */
export const hidden = "canary-7c2e";
/** More than a page of an index holds, and hardly smaller when it is compressed. */
export const largeKey = Array.from({ length: 400 }, (_, n) => createHash("sha256").update(`${n}`).digest("hex")).join(
  "",
);
export const put = (values: Partial<typeof things.$inferInsert>) => (db: Db) => db.insert(things).values(values);
export const statements = {
  unique: put({ code: hidden }),
  foreignKey: put({ parent: 987654321 }),
  check: put({ amount: -987654321 }),
  notNull: put({ code: "other", needed: sql`null` as never }),
  tooLong: put({ short: hidden }),
  outOfRange: put({ amount: 98765432198 }),
  badUuid: (db: Db) => db.select().from(things).where(eq(things.uid, hidden)),
  badNumber: (db: Db) =>
    db
      .select()
      .from(things)
      .where(eq(things.amount, hidden as never)),
  badDate: (db: Db) => db.select({ at: sql`${hidden}::text::timestamptz` }).from(things),
  overlap: put({ span: "[5,7]" }),
  tooLargeForIndex: put({ code: largeKey }),
  nul: put({ code: `${hidden}\0` }),
  division: (db: Db) => db.select({ n: sql`1 / (amount - amount)` }).from(things).where(eq(things.code, hidden)),
  permission: (db: Db) => db.select().from(vault).where(eq(vault.secret, hidden)),
  policy: (db: Db) => db.insert(schema.notes).values({ userId: hidden, title: hidden }),
  unknownFunction: (db: Db) => db.select({ n: sql`no_such_function(${hidden}::text)` }).from(things),
  badSearch: (db: Db) => db.select({ n: sql`to_tsquery('simple', ${`${hidden} &`})` }).from(things),
  sleep: (db: Db) => db.select({ n: sql`pg_sleep(60)` }).from(things).limit(1),
} satisfies Record<string, (db: Db) => Promise<unknown>>;
