/** An application whose organizations have programs: invoices that keys reach by scopes, and diaries that they do not. */
import { eq, sql } from "drizzle-orm";
import { index, pgTable, serial, text } from "drizzle-orm/pg-core";
import { defineApi } from "../../src/app/api.ts";
import { crudFile } from "../../src/crud/crud-sql.ts";
import { followedTables } from "../../src/crud/followed-tables.ts";
import { realtimeFile } from "../../src/crud/realtime-sql.ts";
import {
  audited,
  channel,
  createCrudFactory,
  createOrganizations,
  createSvcHttpRouteBuilders,
  createSvcProcedureBuilders,
  defineAuth,
  organizationMembers,
  organizations,
  orgRls,
  ownerRls,
  scoped,
  v,
  workflow,
} from "../../src/index.ts";
import { writeMigration } from "../../src/migrate/generate/schema-migration.ts";
import { emptySnapshot, takeSnapshot } from "../../src/migrate/generate/schema-snapshot.ts";
import type { Database } from "../support/database.ts";

export const auth = defineAuth({
  apiKeys: { prefix: "acme", scopes: ["invoices:read", "invoices:write", "files:write", "*"], maxPerUser: 3 },
  organizations: { roles: ["owner", "admin", "editor", "member"] },
});

const invoices = pgTable(
  "invoices",
  {
    id: serial("id").primaryKey(),
    orgId: text("org_id")
      .notNull()
      .references(() => organizations.id, { onDelete: "cascade" }),
    userId: text("user_id").notNull().default(sql`svc.current_user_id()`),
    title: text("title").notNull(),
  },
  (t) => [
    index("invoices_org").on(t.orgId),
    ...orgRls(t.orgId, { write: ["owner", "admin", "editor"] }),
    ...scoped({ read: "invoices:read", write: "invoices:write" }),
    ...audited(),
  ],
);
/** No policy asks for a scope. */
const diaries = pgTable(
  "diaries",
  { id: serial("id").primaryKey(), userId: text("user_id").notNull(), title: text("title").notNull() },
  (t) => ownerRls(t.userId),
);
export const schema = { invoices, diaries, organizations, organizationMembers };

const builders = createSvcProcedureBuilders<typeof schema>();
const { query, mutation, internal } = builders;
const { get } = createSvcHttpRouteBuilders<typeof schema>();
const createCrud = createCrudFactory(builders, schema);

const actor = sql<string>`svc.current_actor()`;
const own = sql<string[]>`array(select svc.my_orgs())`;

const who = query
  .name("who")
  .scope("invoices:read")
  .handler(async ({ context }) => {
    const [said] = await context.db.select({ actor, own }).from(sql`(select) as one`);
    return { ...said, user: context.auth.requireAuth().user };
  });
/** A job and a run that write as the account whose call starts them. */
const note = internal
  .name("note")
  .input(v.object({ orgId: v.string() }))
  .handler(async ({ context, input }) => {
    const [said] = await context.db.select({ actor }).from(sql`(select) as one`);
    await context.db.insert(invoices).values({ orgId: input.orgId, title: `by ${said?.actor}` });
    // A job asks for no scope. What a service account may not do is closed to it nevertheless.
    await context.db.delete(organizationMembers).where(eq(organizationMembers.orgId, input.orgId));
  });
const noting = workflow("noting", {
  args: { orgId: v.string() },
  handler: (wf, { orgId }) =>
    wf.step("note", async () => {
      await wf.db.insert(invoices).values({ orgId, title: "by run" });
    }),
});
const later = mutation
  .name("later")
  .scope("invoices:write")
  .input(v.object({ orgId: v.string() }))
  .handler(async ({ context, input }) => {
    await context.scheduler.runAfter(0, "note", input);
    await context.workflows.start(noting, input);
  });
const account = mutation
  .name("account")
  .scope("invoices:write")
  .handler(({ context }) => context.auth.updateUser({ name: "Renamed" }));

const link = mutation
  .name("link")
  .scope("files:write")
  .handler(({ context }) => context.storage.createUploadUrl());

const pieces = async function* (read: () => Promise<number>) {
  for (;;) {
    yield `${await read()}\n`;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
};
const following = get
  .path("/api/following")
  .scope("invoices:read")
  .handler(({ context }) => ({ body: pieces(() => context.read((db) => db.$count(invoices))) }));

const talk = channel("talk", {
  input: v.object({}),
  join: async ({ context }) => (await context.db.$count(invoices)) > 0,
  messages: { said: v.object({ text: v.string() }) },
});

export const api = defineApi({
  channels: { talk },
  procedures: {
    ...createOrganizations(auth),
    invoices: createCrud(schema.invoices, {
      allowedFilters: ["orgId"],
      include: ["org"],
      history: true,
      transfer: { export: true },
    }),
    diaries: createCrud(diaries),
    all: { who, note, later, account, link },
  },
  httpRoutes: { following },
  workflows: { noting },
});

/** Makes the tables by the migration that `svc migrate generate` writes. */
export async function createTables(db: Database): Promise<void> {
  const before = await emptySnapshot();
  const text = await writeMigration(before, await takeSnapshot({ schema, auth }, before), { renames: [], drops: [] });
  await db.sql(`set role svc_owner; ${text}`);
  await db.sql(api["~svc"].crud.map(crudFile).join("\n"));
  await db.sql(`select svc_private.install_history('[{"table": "public.invoices", "keys": ["id"], "omit": []}]')`);
  await db.sql(`reset role; ${realtimeFile(followedTables(api, schema))}`);
}
