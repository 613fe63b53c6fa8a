/** An application with audited tables, made and migrated as `svc migrate generate` and `svc codegen` do. */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import {
  audited,
  createCrudFactory,
  createSvcProcedureBuilders,
  defineApi,
  openRls,
  ownerRls,
  v,
  workflow,
} from "@svc/core";
import { eq } from "drizzle-orm";
import {
  bigint,
  customType,
  doublePrecision,
  integer,
  json,
  numeric,
  pgTable,
  primaryKey,
  text,
  timestamp,
  uuid,
} from "drizzle-orm/pg-core";
import { crudFile } from "../../src/crud/crud-sql.ts";
import { auditedTables } from "../../src/history/audited.ts";
import { historyFile } from "../../src/history/history-sql.ts";
import { migrate } from "../../src/migrate/migrate.ts";
import { leavePlatform, migrationsOf } from "../codegen/evolution.ts";
import type { Database } from "../support/database.ts";
import { root } from "../support/global-setup.ts";

const bytea = customType<{ data: Buffer }>({ dataType: () => "bytea" });

/** Rows of one user. */
const invoices = pgTable(
  "invoices",
  {
    id: uuid("id").primaryKey().defaultRandom(),
    userId: text("user_id").notNull(),
    title: text("title").notNull(),
    iban: text("iban"),
    note: text("note"),
    secret: text("secret"),
    cents: bigint("cents", { mode: "bigint" }),
    rate: numeric("rate"),
    share: doublePrecision("share"),
    dueAt: timestamp("due_at"),
    scan: bytea("scan"),
    extra: json("extra"),
    deletedAt: timestamp("deleted_at", { withTimezone: true }),
    createdAt: timestamp("created_at", { withTimezone: true }).notNull().defaultNow(),
    updatedAt: timestamp("updated_at", { withTimezone: true }).notNull().defaultNow(),
  },
  (t) => [...ownerRls(t.userId), ...audited({ omit: [t.iban] })],
);

/** Everybody reads them, and their keys can be used again. */
const slugs = pgTable("slugs", { id: text("id").primaryKey(), owner: text("owner") }, () => [
  ...openRls({ read: "anyone", write: "authenticated" }),
  ...audited(),
]);

/** A key of two columns. */
const seats = pgTable("seats", { row: text("row"), place: integer("place"), guest: text("guest") }, (t) => [
  primaryKey({ columns: [t.row, t.place] }),
  ...openRls({ read: "authenticated", write: "authenticated" }),
  ...audited(),
]);

export const schema = { invoices, slugs, seats };

const procedure = createSvcProcedureBuilders<typeof schema>();
const createCrud = createCrudFactory(procedure, schema);
const named = v.object({ id: v.string(), title: v.string() });

const rename = procedure.mutation
  .name("invoices.rename")
  .input(named)
  .handler(async ({ context, input }) => {
    await context.db.update(invoices).set({ title: input.title }).where(eq(invoices.id, input.id));
    if (input.title === "refused") throw new Error("rolled back");
  });
const later = procedure.mutation
  .name("invoices.later")
  .input(named)
  .handler(({ context, input }) => context.scheduler.runAfter(0, "invoices.job", input));
const job = procedure.internal
  .name("invoices.job")
  .input(named)
  .handler(async ({ context, input }) => {
    await context.db.update(invoices).set({ title: input.title }).where(eq(invoices.id, input.id));
  });
const asSystem = procedure.internal
  .name("invoices.system")
  .runAs("system")
  .input(named)
  .handler(async ({ context, input }) => {
    await context.db.update(invoices).set({ title: input.title }).where(eq(invoices.id, input.id));
  });

const byRun = workflow("invoices.run", {
  args: named,
  handler: (wf, { id, title }) =>
    wf.step("rename", async () => {
      await wf.db.update(invoices).set({ title }).where(eq(invoices.id, id));
    }),
});
const start = procedure.mutation
  .name("invoices.start")
  .input(named)
  .handler(({ context, input }) => context.workflows.start(byRun, input));

export const api = defineApi({
  workflows: { byRun },
  procedures: {
    invoices: createCrud(invoices, {
      history: true,
      columns: { omit: ["secret"] },
      softDelete: { field: "deletedAt" },
      defaultLimit: 3,
      maxLimit: 5,
    }),
    slugs: createCrud(slugs, { history: true, allowAnonymous: true }),
    rename,
    later,
    start,
    job,
    asSystem,
  },
});

/** Applies the files of an application with these tables to a database of the platform. */
async function install(db: Database, migration: string, tables: object = schema): Promise<void> {
  await mkdir(join(root, ".svc"), { recursive: true });
  const application = await mkdtemp(join(root, ".svc/history-"));
  const files: Record<string, string> = {
    "migrations/0001_create_tables.sql": migration,
    "sql/history.sql": historyFile(auditedTables(tables as Record<string, unknown>)),
  };
  for (const crud of api["~svc"].crud) files[`sql/crud/${crud.prefix}.sql`] = crudFile(crud);
  for (const folder of ["migrations", "sql/crud"]) await mkdir(join(application, folder), { recursive: true });
  for (const [path, text] of Object.entries(files)) await writeFile(join(application, path), text);
  await migrate({ adminUrl: db.url("admin"), platform: root, application });
  await rm(application, { recursive: true });
}

export async function installAll(db: Database): Promise<void> {
  await leavePlatform(db);
  await install(db, (await migrationsOf({ schema }))[0] ?? "");
}
