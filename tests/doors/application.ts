/** An application with a procedure for each member of the context that reads or changes rows. */
import { createCrudFactory } from "@svc/core";
import { sql } from "drizzle-orm";
import { integer, PgDialect, pgTable, pgView, text, uuid } from "drizzle-orm/pg-core";
import { z } from "zod";
import { crudFile } from "../../src/crud/crud-sql.ts";
import { audited, createAi, ownerRls, type SvcError, v, workflow } from "../../src/index.ts";
import { procedure } from "../fixture/backend/index.ts";
import * as schema from "../fixture/backend/schema.ts";
import { procedures as documents } from "../rag/application.ts";
import { searches } from "../search/application.ts";
import { fileProcedures } from "../support/files.ts";
import { apiWith } from "../support/service.ts";

const ai = createAi();
const { query, mutation } = procedure;
const byId = v.object({ id: v.string() });

/** The table of the searches as a CRUD resource, too. */
const pages = createCrudFactory(procedure)(schema.pages, {
  allowAnonymous: true,
  columns: { pick: ["userId", "title", "body", "rank", "corpus", "visibility"] },
  searchFields: ["body"],
  allowedFilters: ["userId", "corpus", "visibility"],
  defaultLimit: 100,
  many: true,
  aggregate: { groupBy: ["corpus"], measures: ["count"] },
  transfer: { export: true, import: true },
});

/** The same table, with a column by which rows are upserted. */
const labels = pgTable(
  "pages",
  {
    id: uuid("id").primaryKey().defaultRandom(),
    userId: text("user_id").notNull(),
    label: text("label").notNull().unique(),
    title: text("title").notNull(),
  },
  (t) => [...ownerRls(t.userId), ...audited()],
);
const labelled = createCrudFactory(procedure)(labels, {
  prefix: "labelled",
  allowAnonymous: true,
  upsertBy: ["label"],
  many: true,
  allowedFilters: ["label"],
  getBy: ["label"],
  history: true,
  transfer: { import: true },
});

/** Rows of each caller that refer to pages. */
const links = pgTable(
  "samples",
  {
    id: uuid("id").primaryKey().defaultRandom(),
    userId: text("user_id").notNull(),
    pageId: uuid("a_uuid").references(() => schema.pages.id),
  },
  (t) => ownerRls(t.userId),
);
const linked = createCrudFactory(procedure)(links, {
  prefix: "linked",
  allowAnonymous: true,
  include: ["page"],
  maxLimit: 100,
  defaultLimit: 100,
  aggregate: { measures: ["count"] },
});

/** One row for each page that the caller sees, with how many of the same corpus. */
const corpora = pgView("corpora", {
  id: uuid("id").primaryKey(),
  userId: text("user_id"),
  corpus: text("corpus"),
  visibility: text("visibility"),
  among: integer("among"),
}).with({ securityInvoker: true });
const ofPages = sql`select id, user_id, corpus, visibility, count(*) over (partition by corpus)::integer as among from pages`;
const viewed = createCrudFactory(procedure)(corpora.as(ofPages), {
  prefix: "viewed",
  allowAnonymous: true,
  allowedFilters: ["userId", "corpus", "visibility"],
  maxLimit: 100,
  defaultLimit: 100,
});

const rows = query
  .name("doors.rows")
  .allowAnonymous()
  .input(v.object({ table: v.string(), key: v.string() }))
  .handler(({ context, input: { table, key } }) => {
    const [folder = "", name = ""] = table.split(".");
    const id = sql<string>`${sql.identifier(key)}::text`;
    return context.db.select({ id }).from(sql`${sql.identifier(folder)}.${sql.identifier(name)}`);
  });
const requireOwned = query
  .name("files.requireOwned")
  .allowAnonymous()
  .input(byId)
  .handler(({ context, input }) => context.storage.requireOwned(input.id));
const transcription = query
  .name("doors.transcription")
  .allowAnonymous()
  .input(byId)
  .handler(({ input }) => ai.speech.transcription(input.id));
const runs = query
  .name("doors.runs")
  .allowAnonymous()
  .handler(({ context }) => context.workflows.list({ limit: 100 }));
const refresh = mutation
  .name("doors.refresh")
  .allowAnonymous()
  .input(z.object({ name: z.string(), args: z.looseObject({}).optional() }))
  .handler(({ context, input: { name, args } }) => context.realtime.refresh(name, args));

/** Converts the given files that its user may read. */
const conversion = workflow("doors.convert", {
  args: { ids: v.array(v.string()) },
  handler: async (wf, { ids }) => {
    const converted: string[] = [];
    for (const storageId of ids) {
      try {
        await wf.services.document.convert({ storageId, filename: "file.txt", corpus: "c", visibility: "private" });
        converted.push(storageId);
      } catch (error) {
        if ((error as SvcError).code !== "NOT_FOUND") throw error;
      }
    }
    return converted;
  },
});
const convert = mutation
  .name("doors.convert")
  .input(v.object({ ids: v.array(v.string()) }))
  .handler(({ context, input }) => context.workflows.start(conversion, input));

/** As `api.workflows` does, which refuses most of it for runs of a workflow that is not registered. */
const steered = v.object({ id: v.string() });
const signal = mutation
  .name("doors.signal")
  .input(steered)
  .handler(({ context, input }) => context.workflows.signal(input.id, "go"));
const cancel = mutation
  .name("doors.cancel")
  .input(steered)
  .handler(({ context, input }) => context.workflows.cancel(input.id));
const retry = mutation
  .name("doors.retry")
  .input(steered)
  .handler(({ context, input }) => context.workflows.retry(input.id));

/** The tests only use rows of its runs; a worker runs only in conversions.test.ts, which ignores them. */
const work = workflow("doors.work", { handler: async () => null });

export const api = apiWith({
  procedures: {
    searches,
    documents,
    files: fileProcedures,
    signal,
    cancel,
    retry,
    pages,
    labelled,
    linked,
    viewed,
    rows,
    requireOwned,
    transcription,
    runs,
    refresh,
    convert,
  },
  workflows: { work, conversion },
});

/** SQL that the fixture's migration lacks. A new row is even. */
export const pagesSql = `
  create function deliver() returns trigger language plpgsql security definer as $$ begin
    insert into svc.webhook_deliveries (webhook, source, endpoint, row_key, body)
      values ('made', '"public"."pages"', new.id::text, '', '{}');
    return new;
  end $$;
  create trigger deliver after insert on pages for each row execute function deliver();
  select svc_private.install_history('[{"table": "public.pages", "keys": ["id"], "omit": []}]');
  alter table pages add column label text not null unique default gen_random_uuid()::text, alter column rank set default 0;
  create view corpora with (security_invoker) as ${new PgDialect().sqlToQuery(ofPages).sql};
  grant select on corpora to svc_anonymous, svc_authenticated;
  ${api["~svc"].crud
    .filter(({ prefix }) => ["pages", "labelled", "linked", "viewed"].includes(prefix))
    .map(crudFile)
    .join("\n")}`;
