/** A resource with columns of every kind, whose rows leave as files and come in from them. */

import { text as readText } from "node:stream/consumers";
import {
  bigint,
  boolean,
  customType,
  date,
  doublePrecision,
  integer,
  jsonb,
  numeric,
  pgTable,
  serial,
  text,
  timestamp,
} from "drizzle-orm/pg-core";
import { crudFile } from "../../src/crud/crud-sql.ts";
import { createCrudFactory, createSvcProcedureBuilders, defineApi, openRls, ownerRls, v } from "../../src/index.ts";

const bytea = customType<{ data: Buffer }>({ dataType: () => "bytea" });

export const entries = pgTable(
  "entries",
  {
    id: serial("id").primaryKey(),
    userId: text("user_id").notNull(),
    slug: text("slug").notNull().unique(),
    title: text("title").notNull().default("untitled"),
    body: text("body"),
    amount: numeric("amount", { precision: 12, scale: 2 }),
    total: bigint("total", { mode: "bigint" }),
    size: integer("size"),
    weight: doublePrecision("weight"),
    isDone: boolean("is_done").notNull().default(false),
    at: timestamp("at", { withTimezone: true }),
    day: date("day"),
    tags: text("tags").array(),
    data: jsonb("data"),
    bytes: bytea("bytes"),
    secret: text("secret"),
    gone: boolean("gone").notNull().default(false),
  },
  (t) => ownerRls(t.userId),
);

const papers = pgTable("papers", { id: serial("id").primaryKey(), title: text("title") }, () =>
  openRls({ read: "anyone", write: "authenticated" }),
);

const tsquery = customType<{ data: string }>({ dataType: () => "tsquery" });
const alerts = pgTable("alerts", { id: serial("id").primaryKey(), words: tsquery("words") }, () =>
  openRls({ read: "authenticated", write: "authenticated" }),
);

const schema = { entries, papers, alerts };
const createCrud = createCrudFactory(createSvcProcedureBuilders<typeof schema>(), schema);

const anyone = { allowAnonymous: true, transfer: { export: true } } as const;
/** As long as a prefix may be. */
export const longPrefixes = ["1", "2"].map((end) => `${"long_".repeat(10).slice(0, -1)}${end}`);

export const procedures = {
  entries: createCrud(entries, {
    columns: { omit: ["secret", "gone"] },
    softDelete: { field: "gone" },
    allowedFilters: ["title", "size"],
    searchFields: ["title"],
    upsertBy: ["slug"],
    transfer: { export: true, import: true },
  }),
  papers: createCrud(papers, anyone),
  alerts: createCrud(alerts, { transfer: { import: true } }),
  capital: createCrud(alerts, { prefix: "Capital", transfer: { import: true } }),
  closed: createCrud(entries, { prefix: "closed" }),
  ...Object.fromEntries(
    longPrefixes.map((prefix) => [prefix, createCrud(papers, { ...anyone, prefix, graphql: false })]),
  ),
};

const { mutation } = createSvcProcedureBuilders();

/** Stores a file of the caller, the bytes as often as said; and reads one. */
export const upload = mutation
  .name("upload")
  .input(v.object({ bytes: v.string(), times: v.optional(v.number()) }))
  .handler(({ context, input: { bytes, times = 1 } }) =>
    context.storage.storeBuffer(Buffer.concat(Array(times).fill(Buffer.from(bytes, "base64"))), "rows", "text/plain"),
  );
export const readFile = mutation
  .name("readFile")
  .input(v.object({ id: v.string() }))
  .handler(async ({ context, input }) => readText(await context.storage.read(input.id)));

export const entriesSql = `
  create table entries (id serial primary key, user_id text not null, slug text not null unique, title text not null default 'untitled',
    body text, amount numeric(12, 2), total bigint, size integer check (size < 1000), weight double precision,
    is_done boolean not null default false, at timestamptz, day date, tags text[], data jsonb, bytes bytea, secret text,
    gone boolean not null default false);
  alter table entries enable row level security;
  create policy own on entries to svc_authenticated using (user_id = (select svc.current_user_id()))
    with check (user_id = (select svc.current_user_id()) and slug not like 'forbidden%');
  create table papers (id serial primary key, title text);
  create table alerts (id serial primary key, words tsquery);
  alter table papers enable row level security;
  create policy everybody on papers for select to svc_anonymous, svc_authenticated using (true);
  grant select, insert, update, delete on entries, alerts to svc_authenticated;
  grant select on papers to svc_anonymous, svc_authenticated;
  grant usage on all sequences in schema public to svc_authenticated;
  ${defineApi({ procedures })["~svc"].crud.map(crudFile).join("\n")}`;
