/**
 * Schemas that change, for the tests of generated migrations: tables, views and enums, with the varying parts as
 * arguments.
 */
import { openRls, ownerRls } from "@svc/core";
import { sql } from "drizzle-orm";
import {
  type AnyPgColumn,
  check,
  index,
  integer,
  type PgEnum,
  type PgPolicy,
  pgEnum,
  pgPolicy,
  pgSchema,
  pgTable,
  pgView,
  serial,
  text,
  timestamp,
  unique,
  uniqueIndex,
} from "drizzle-orm/pg-core";
import type { Version } from "./evolution.ts";

const user = pgSchema("auth").table("user", { id: text("id").primaryKey() });
const instant = (name: string) => timestamp(name, { withTimezone: true }).notNull().defaultNow();
export const owned = (columns: object = {}, options: { read?: "public" } = {}) =>
  pgTable(
    "notes",
    {
      id: serial("id").primaryKey(),
      userId: text("user_id").notNull(),
      title: text("title").notNull(),
      ...columns,
      createdAt: instant("created_at"),
      updatedAt: instant("updated_at"),
    },
    (t) => ownerRls(t.userId, options),
  );
export const table = (name: string, columns: object = {}, extra: () => PgPolicy[] = everybody) =>
  pgTable(name, { id: serial("id").primaryKey(), message: text("message").notNull(), ...columns }, extra);
const everybody = () => openRls({ read: "anyone", write: "anyone" });
export const named = (name: string, ...values: [string, ...string[]]): PgEnum<[string, ...string[]]> =>
  pgEnum(name, values);
export const mood = (...values: [string, ...string[]]) => named("mood", ...values);
export const moody = (type: PgEnum<[string, ...string[]]>, byDefault = "calm") => ({
  type,
  notes: owned({ mood: type("mood").notNull().default(byDefault), moods: type("moods").array() }),
});
export const seedNote = "insert into notes (user_id, title) values ('ann', 'kept')";
export const seedMood = `insert into notes (user_id, title, mood, moods) values ('ann', 'kept', 'calm', '{calm,angry}')`;

export const kept = { query: "select title from notes", are: [{ title: "kept" }] };
export const notes = { notes: owned() };

export function policies(verb: "select" | "all", text: string, as?: "restrictive") {
  const to = verb === "all" ? "public" : "svc_authenticated";
  const changing = pgPolicy("changing", { for: verb, to, using: sql.raw(text), ...(as && { as }) });
  return () => [changing, pgPolicy("staying", { for: "insert", withCheck: sql`true` })];
}

/** A table whose policy and view read the column `team`. */
export function withView(columns: { team: ReturnType<typeof text> | ReturnType<typeof integer> }) {
  const notes = pgTable(
    "notes",
    { id: serial("id").primaryKey(), userId: text("user_id").notNull(), title: text("title"), ...columns },
    (t) => [
      pgPolicy("select_team", {
        for: "select",
        using: sql`${(t as unknown as { team: AnyPgColumn }).team} is not null`,
      }),
    ],
  );
  const view = pgView("teams").with({ securityInvoker: true });
  return {
    notes,
    teams: view.as((query) => query.select({ team: (notes as unknown as { team: AnyPgColumn }).team }).from(notes)),
  };
}

export function constrained(columns: { rank: ReturnType<ReturnType<typeof integer>["unique"]> }) {
  return pgTable(
    "notes",
    {
      id: serial("id").primaryKey(),
      userId: text("user_id").notNull(),
      title: text("title").notNull(),
      ...columns,
      createdAt: instant("created_at"),
      updatedAt: instant("updated_at"),
    },
    (t) => [...ownerRls(t.userId), index("by_rank").on(t.rank), check("rank_positive", sql`${t.rank} > 0`)],
  );
}

export function constrainedOtherwise() {
  const groups = pgTable("groups", { code: text("code").notNull() }, (t) => [uniqueIndex("groups_code").on(t.code)]);
  const notes = pgTable(
    "notes",
    {
      id: serial("id").primaryKey(),
      userId: text("user_id")
        .notNull()
        .references(() => user.id, { onDelete: "cascade" }),
      title: text("title").notNull(),
      rank: integer("rank"),
      groupCode: text("group_code").references(() => groups.code),
      createdAt: instant("created_at"),
      updatedAt: instant("updated_at"),
    },
    (t) => [
      ...ownerRls(t.userId),
      index("by_rank").on(t.rank.desc(), t.title),
      check("rank_positive", sql`${t.rank} >= 0`),
      unique().on(t.title, t.rank),
    ],
  );
  return { groups, notes };
}

export function renamed(name: string, columns: object = {}, owner = "user_id") {
  return pgTable(
    name,
    {
      id: serial("id").primaryKey(),
      userId: text(owner).notNull(),
      title: text("title").notNull(),
      ...columns,
      createdAt: instant("created_at"),
      updatedAt: instant("updated_at"),
    },
    (t) => ownerRls(t.userId),
  );
}

export function titles(securityInvoker: boolean, withOwner = false) {
  const table = owned();
  const columns = { title: table.title, ...(withOwner && { owner: table.userId }) };
  return pgView("titles")
    .with({ securityInvoker, securityBarrier: true })
    .as((query) => query.select(columns).from(table));
}

export function fields(additionalFields: NonNullable<NonNullable<AuthDefinitionUser>["additionalFields"]>) {
  return { user: { additionalFields } };
}
type AuthDefinitionUser = NonNullable<Version["auth"]>["user"];

/**
 * Views that read views, declared in an order in which they cannot be made: `annotated` and `brief` read `current`, which
 * reads `notes`, and `annotated` has a column that is called as a view that reads it.
 */
export function viewsOnViews(current: string, columns: { rank?: ReturnType<typeof integer> } = {}) {
  const notes = pgTable("notes", { id: serial("id").primaryKey(), title: text("title"), ...columns }, () => [
    pgPolicy("reading", { for: "select", using: sql`true` }),
  ]);
  const view = (name: string, query: string) =>
    pgView(name, { id: integer("id"), title: text("title") })
      .with({ securityInvoker: true })
      .as(sql.raw(query));
  return {
    annotated: view("annotated", `select id, title as brief, title from public.current_notes`),
    brief: view("brief", `select a.id, a.title from annotated a join current_notes c on c.id = a.id`),
    current: view("current_notes", current),
    notes,
  };
}
