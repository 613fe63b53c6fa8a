/** Organizations with invoices beside the fixture's tables, as an application declares them. */

import { eq } from "drizzle-orm";
import { getTableConfig } from "drizzle-orm/pg-core";
import { crudFile } from "../../src/crud/crud-sql.ts";
import { followedTables } from "../../src/crud/followed-tables.ts";
import { realtimeFile } from "../../src/crud/realtime-sql.ts";
import {
  channel,
  createCrudFactory,
  createOrganizations,
  createSvcProcedureBuilders,
  defineAuth,
  type InvitationMail,
  organizations,
  v,
} from "../../src/index.ts";
import * as fixture from "../fixture/backend/schema.ts";
import { createPolicy, rendered } from "../policies/mutations.ts";
import type { Database } from "../support/database.ts";
import { apiWith } from "../support/service.ts";
import * as own from "./schema.ts";

export const schema = { ...fixture, ...own, organizations };

/** Invitations that the mailer got. */
export const mails: InvitationMail[] = [];

export const auth = defineAuth({
  organizations: {
    roles: ["owner", "admin", "editor", "member"],
    page: "https://app.example.com/invitations",
    sendInvitation: (mail) => void mails.push(mail),
  },
});

const procedure = createSvcProcedureBuilders<typeof schema>();
const createCrud = createCrudFactory(procedure, schema);

const floor = channel("floor", {
  input: v.object({ orgId: v.string() }),
  join: async ({ context, input }) =>
    (await context.db.$count(schema.invoices, eq(schema.invoices.orgId, input.orgId))) > 0,
  notices: { said: v.object({ text: v.string() }) },
});

export const api = apiWith({
  channels: { floor },
  procedures: {
    ...createOrganizations(auth),
    invoices: createCrud(schema.invoices, { include: ["org"], allowedFilters: ["orgId"] }),
    tell: procedure.mutation
      .input(v.object({ orgId: v.string(), text: v.string() }))
      .handler(({ context, input: { orgId, text } }) => context.realtime.send(floor, { orgId }, "said", { text })),
    titles: procedure.query.handler(({ context }) =>
      context.db.select({ title: schema.invoices.title }).from(schema.invoices),
    ),
  },
});

/** Creates what `svc migrate` would. */
export async function install(db: Database): Promise<void> {
  mails.length = 0; // the files of a worker share this module
  await db.sql("set synchronous_commit to on");
  await db.sql(
    `create table public.invoices (id uuid primary key default gen_random_uuid(), org_id text not null references svc.organizations (id)
       on delete cascade, title text not null);
     create index invoices_org on public.invoices (org_id);
     alter table public.invoices enable row level security;
     grant select, insert, update, delete on public.invoices to svc_authenticated, svc_system;
     alter table public.invoices owner to svc_owner;`,
  );
  await db.sql(
    getTableConfig(schema.invoices)
      .policies.map((policy) => createPolicy("public.invoices", rendered(policy)))
      .join("\n"),
  );
  await db.sql(
    `set role svc_owner; ${api["~svc"].crud
      .filter(({ prefix }) => /^(invoices|organization)/.test(prefix))
      .map(crudFile)
      .join("\n")}; ${realtimeFile(followedTables(api, schema))}; reset role`,
  );
}
