/** Resources with every option of upsert and of operations on many rows. */
import {
  bigint,
  boolean,
  date,
  doublePrecision,
  inet,
  integer,
  numeric,
  pgTable,
  serial,
  text,
  timestamp,
  unique,
  uuid,
} from "drizzle-orm/pg-core";
import { crudFile } from "../../src/crud/crud-sql.ts";
import {
  createCrudFactory,
  createSvcProcedureBuilders,
  defineApi,
  openRls,
  ownerRls,
  SvcError,
} from "../../src/index.ts";

/** Everybody reads them; their owner changes them. */
const books = pgTable(
  "books",
  {
    id: serial("id").primaryKey(),
    userId: text("user_id").notNull(),
    slug: text("slug").notNull().unique(),
    title: text("title").notNull(),
    note: text("note").default("none"),
    pages: integer("pages"),
    shelfId: bigint("shelf_id", { mode: "bigint" }).references(() => shelves.id),
    token: uuid("token").$defaultFn(() => crypto.randomUUID()),
    deletedAt: timestamp("deleted_at", { withTimezone: true }),
    createdAt: timestamp("created_at", { withTimezone: true }).notNull().defaultNow(),
    updatedAt: timestamp("updated_at", { withTimezone: true }).notNull().defaultNow(),
  },
  (t) => ownerRls(t.userId, { read: "public" }),
);
/** Only their owner sees them. A name is unique for each owner, a code for all. */
const shelves = pgTable(
  "shelves",
  {
    id: bigint("id", { mode: "bigint" }).primaryKey().generatedAlwaysAsIdentity(),
    userId: text("user_id").notNull(),
    name: text("name").notNull(),
    code: text("code").unique(),
    place: inet("place"),
    bought: date("bought", { mode: "date" }),
    price: numeric("price", { precision: 10, scale: 2 }),
    isFull: boolean("is_full").notNull().default(false),
    gone: boolean("gone").notNull().default(false),
  },
  (t) => [unique().on(t.userId, t.name), ...ownerRls(t.userId)],
);
/** Rows that a column numbers, unless the caller does. */
const tickets = pgTable(
  "tickets",
  { id: serial("id").primaryKey(), number: serial("number").unique(), title: text("title") },
  () => openRls({ read: "anyone", write: "anyone" }),
);

/** Rows to measure, of every kind that has measures. Only their owner sees them. */
const sales = pgTable(
  "sales",
  {
    id: serial("id").primaryKey(),
    userId: text("user_id").notNull(),
    status: text("status"),
    isPaid: boolean("is_paid").notNull(),
    amount: numeric("amount", { precision: 10, scale: 2 }),
    pieces: integer("pieces"),
    total: bigint("total", { mode: "bigint" }),
    weight: doublePrecision("weight"),
    soldAt: timestamp("sold_at", { withTimezone: true }),
    seenAt: timestamp("seen_at"),
    day: date("day"),
    secret: text("secret"),
    gone: boolean("gone").notNull().default(false),
  },
  (t) => ownerRls(t.userId),
);

/** Rows whose key has a time, a date, a number with a fraction and a yes or no. */
const readings = pgTable(
  "readings",
  {
    id: serial("id").primaryKey(),
    userId: text("user_id").notNull(),
    at: timestamp("at", { withTimezone: true }).notNull(),
    day: date("day").notNull(),
    depth: numeric("depth", { precision: 10, scale: 2 }).notNull(),
    isFinal: boolean("is_final").notNull(),
    value: text("value").notNull(),
  },
  (t) => [unique("readings_once").on(t.userId, t.at, t.day, t.depth, t.isFinal), ...ownerRls(t.userId)],
);

const schema = { books, shelves, tickets, sales, readings };
const createCrud = createCrudFactory(createSvcProcedureBuilders<typeof schema>(), schema);

/** The hooks of `hooked` refuse to remove the row with this id, and this title. */
export const kept = 3;
export const refused = "nobody";
const trimmed = <T extends { title?: string }>(data: T): T => {
  if (data.title === refused) throw new SvcError("FORBIDDEN", "Nobody may have this title.");
  return { ...data, ...(data.title !== undefined && { title: data.title.trim() }) };
};

export const procedures = {
  books: createCrud(books, {
    allowAnonymous: true,
    upsertBy: ["slug"],
    many: true,
    columns: { omit: ["deletedAt"] },
    allowedFilters: ["slug", "title", "pages"],
    include: ["shelves"],
  }),
  /** With soft deletion. */
  kept: createCrud(books, {
    prefix: "kept",
    upsertBy: ["slug"],
    many: true,
    allowedFilters: ["slug"],
    softDelete: { field: "deletedAt" },
  }),
  hooked: createCrud(books, {
    prefix: "hooked",
    upsertBy: ["slug"],
    many: true,
    allowedFilters: ["slug", "title"],
    hooks: {
      beforeCreate: trimmed,
      beforeUpsert: trimmed,
      beforeUpdate: (data, { id }) => ({ ...trimmed(data), note: `changed ${id}` }),
      beforeRemove(id) {
        if (id === kept) throw new SvcError("FORBIDDEN", "This row must stay.");
      },
    },
  }),
  shelves: createCrud(shelves, {
    upsertBy: [["userId", "name"], "code"],
    many: true,
    allowedFilters: ["name"],
    softDelete: { field: "gone" },
  }),
  sales: createCrud(sales, {
    columns: { omit: ["secret"] },
    allowedFilters: ["status", "isPaid", "pieces"],
    searchFields: ["status"],
    softDelete: { field: "gone" },
    aggregate: {
      groupBy: ["status", "isPaid", "pieces", "total", "soldAt", "seenAt", "day"],
      // biome-ignore format: a table
      measures: [
        "count", "sum:amount", "avg:amount", "min:amount", "max:amount", "sum:pieces", "avg:pieces", "min:pieces",
        "max:total", "sum:total", "sum:weight", "avg:weight", "min:soldAt", "max:seenAt", "min:day",
      ],
    },
  }),
  readings: createCrud(readings, { upsertBy: [["userId", "at", "day", "depth", "isFinal"]] }),
  tickets: createCrud(tickets, { allowAnonymous: true, upsertBy: ["number"], many: true }),
};

export const shelfSql = `
  create table books (id serial primary key, user_id text not null, slug text not null unique, title text not null check (title <> ''),
    note text default 'none', pages integer, shelf_id bigint, token uuid, deleted_at timestamptz,
    created_at timestamptz not null default now(), updated_at timestamptz not null default now());
  alter table books enable row level security;
  create policy read on books for select to svc_anonymous, svc_authenticated using (true);
  create policy add on books for insert to svc_authenticated with check (user_id = (select svc.current_user_id()) and slug not like 'forbidden%');
  create policy change on books for update to svc_authenticated using (user_id = (select svc.current_user_id()))
    with check (title <> 'unwanted');
  create policy remove on books for delete to svc_authenticated using (user_id = (select svc.current_user_id()));
  create table shelves (id bigint primary key generated always as identity, user_id text not null, name text not null, code text unique,
    place inet, bought date, price numeric(10, 2), is_full boolean not null default false, gone boolean not null default false,
    unique (user_id, name));
  alter table shelves enable row level security;
  create policy own on shelves to svc_authenticated using (user_id = (select svc.current_user_id()));
  create table sales (id serial primary key, user_id text not null, status text, is_paid boolean not null, amount numeric(10, 2),
    pieces integer, total bigint, weight double precision, sold_at timestamptz, seen_at timestamp, day date, secret text,
    gone boolean not null default false);
  alter table sales enable row level security;
  create policy own on sales to svc_authenticated using (user_id = (select svc.current_user_id()));
  grant select on sales to svc_authenticated;
  create table readings (id serial primary key, user_id text not null, at timestamptz not null, day date not null,
    depth numeric(10, 2) not null, is_final boolean not null, value text not null, unique (user_id, at, day, depth, is_final));
  alter table readings enable row level security;
  create policy own on readings to svc_authenticated using (user_id = (select svc.current_user_id()));
  create table tickets (id serial primary key, number serial unique, title text);
  alter table tickets enable row level security;
  create policy anyone on tickets to svc_anonymous, svc_authenticated using (true);
  alter table books add foreign key (shelf_id) references shelves on delete set null;
  grant select, insert, update, delete on books, shelves, tickets, readings to svc_authenticated;
  grant select, insert, update on tickets, books to svc_anonymous;
  grant usage on all sequences in schema public to svc_anonymous, svc_authenticated;
  ${defineApi({ procedures })["~svc"].crud.map(crudFile).join("\n")}`;
