/** An application with API keys: a table with scopes, closed ones, and code with and without a scope. */
import { sql } from "drizzle-orm";
import { integer, pgTable, serial, text, timestamp } from "drizzle-orm/pg-core";
import { defineApi } from "../../src/app/api.ts";
import { crudFile } from "../../src/crud/crud-sql.ts";
import { followedTables } from "../../src/crud/followed-tables.ts";
import { realtimeFile } from "../../src/crud/realtime-sql.ts";
import {
  channel,
  createCrudFactory,
  createSvcHttpRouteBuilders,
  createSvcProcedureBuilders,
  defineAuth,
  openRls,
  ownerRls,
  scoped,
  v,
  workflow,
} from "../../src/index.ts";
import { writeMigration } from "../../src/migrate/generate/schema-migration.ts";
import { emptySnapshot, takeSnapshot } from "../../src/migrate/generate/schema-snapshot.ts";
import type { Database } from "../support/database.ts";

export const auth = defineAuth({
  apiKeys: { prefix: "acme", scopes: ["tickets:read", "tickets:write", "files:write", "*"], maxPerUser: 3 },
});

const tickets = pgTable(
  "tickets",
  {
    id: serial("id").primaryKey(),
    userId: text("user_id").notNull(),
    title: text("title").notNull(),
    createdAt: timestamp("created_at", { withTimezone: true }).notNull().defaultNow(),
  },
  (t) => [...ownerRls(t.userId), ...scoped({ read: "tickets:read", write: "tickets:write" })],
);
/** No policy asks for a scope. */
const diaries = pgTable(
  "diaries",
  {
    id: serial("id").primaryKey(),
    userId: text("user_id").notNull(),
    title: text("title").notNull(),
    ticketId: integer("ticket_id").references(() => tickets.id, { onDelete: "cascade" }),
  },
  (t) => ownerRls(t.userId),
);
const news = pgTable("news", { id: serial("id").primaryKey(), title: text("title").notNull() }, () =>
  openRls({ read: "anyone", write: "authenticated" }),
);
export const schema = { tickets, diaries, news };

const builders = createSvcProcedureBuilders<typeof schema>();
const { query, mutation, internal } = builders;
const { get } = createSvcHttpRouteBuilders<typeof schema>();
const createCrud = createCrudFactory(builders, schema);

const whoParts = {
  user: sql<string>`svc.current_user_id()`,
  actor: sql<string>`svc.current_actor()`,
  reads: sql<boolean>`svc.has_scope('tickets:read')`,
  writes: sql<boolean>`svc.has_scope('tickets:write')`,
  everything: sql<boolean>`svc.has_scope('*')`,
  misspelt: sql<boolean>`svc.has_scope('ticket:read')`,
};
const one = sql`(select) as one`;

const count = query
  .name("count")
  .scope("tickets:read")
  .handler(async ({ context }) => ({
    tickets: await context.db.$count(tickets),
    diaries: await context.db.$count(diaries),
    besides: await context.read((own) => own.$count(tickets)),
  }));
const counted = query
  .name("counted")
  .scope("tickets:read")
  .allowAnonymous()
  .handler(({ context }) => context.db.$count(diaries));
const recount = mutation
  .name("recount")
  .scope("tickets:write")
  .handler(({ context }) => context.realtime.refresh("counted"));
const who = query
  .name("who")
  .scope("tickets:read")
  .handler(async ({ context }) => (await context.db.select(whoParts).from(one))[0]);
const unscoped = query
  .name("unscoped")
  .allowAnonymous()
  .handler(() => "reached");
const add = mutation
  .name("add")
  .scope("tickets:write")
  .input(v.object({ title: v.string() }))
  .handler(async ({ context, input }) => {
    const userId = context.auth.requireAuth().user.id;
    await context.db.insert(tickets).values({ userId, title: input.title });
    return null;
  });
const rename = mutation
  .name("rename")
  .scope("tickets:write")
  .handler(({ context }) => context.auth.updateUser({ name: "Renamed" }));
/** A job notes who acted. */
const note = internal.name("note").handler(async ({ context }) => {
  const [{ actor } = { actor: null }] = await context.db.select(whoParts).from(one);
  const userId = context.auth.requireAuth().user.id;
  await context.db.insert(diaries).values({ userId, title: `by ${actor}` });
});
const noting = workflow("noting", {
  args: {},
  handler: (wf) =>
    wf.step("note", async () => {
      const [{ user, actor } = { user: "", actor: null }] = await wf.db.select(whoParts).from(one);
      await wf.db.insert(diaries).values({ userId: user, title: `run by ${actor}` });
    }),
});
const later = mutation
  .name("later")
  .scope("tickets:write")
  .handler(async ({ context }) => {
    await context.scheduler.runAfter(0, "note");
    await context.workflows.start(noting, {});
    return null;
  });

const pieces = async function* (read: () => Promise<number>) {
  for (;;) {
    yield `${await read()}\n`;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
};
const following = get
  .path("/api/following")
  .scope("tickets:read")
  .handler(({ context }) => ({ body: pieces(() => context.read((own) => own.$count(tickets))) }));
const plain = get.path("/api/plain").handler(() => ({ body: "reached" }));

const talk = channel("talk", {
  input: v.object({}),
  join: async ({ context }) => (await context.db.$count(tickets)) > 0,
  messages: { said: v.object({ text: v.string() }) },
  allowAnonymous: true,
});

export const api = defineApi({
  channels: { talk },
  procedures: {
    tickets: createCrud(tickets, {
      allowedFilters: ["title"],
      many: true,
      aggregate: { measures: ["count"] },
      transfer: { export: true, import: true },
    }),
    watchedTickets: createCrud(tickets, {
      prefix: "watched_tickets",
      methods: ["list"],
      allowedFilters: ["title"],
      realtime: {
        policy: "authorized",
        resourceIdentity: "watched_tickets",
        scope: ({ filters }) => ({ title: filters?.title }),
        scopeFromRow: ({ row }) => ({ title: row.title }),
        authorize: async ({ ctx }) => (await ctx.db.$count(tickets)) > 0,
      },
    }),
    diaries: createCrud(diaries, { include: ["ticket"], transfer: { export: true } }),
    news: createCrud(news, { allowAnonymous: true }),
    all: { count, counted, recount, who, unscoped, add, rename, later, note },
  },
  httpRoutes: { following, plain },
  workflows: { noting },
});

/** Makes the tables by the migration that `svc migrate generate` writes. @returns the migration */
export async function createTables(db: Database): Promise<string> {
  const before = await emptySnapshot();
  const text = await writeMigration(before, await takeSnapshot({ schema, auth }, before), { renames: [], drops: [] });
  await db.sql(`set role svc_owner; ${text}`);
  await db.sql(api["~svc"].crud.map(crudFile).join("\n"));
  await db.sql(`reset role; ${realtimeFile(followedTables(api, schema))}`);
  return text ?? "";
}
