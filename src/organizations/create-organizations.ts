/**
 * `createOrganizations`: the procedures of organizations. They only say what is asked for: policies and functions in SQL decide
 * (`sql/policies/svc.organization_members.sql`). Each statement runs as the caller; what the caller may not do is not found, or
 * refused with 403.
 * Next hop: `sql/organizations/`; `mail-invitation.ts` sends invitations, `service-accounts.ts` has those for programs.
 */
import { and, eq, sql } from "drizzle-orm";
import { type AuthDefinition, defaultRoles } from "../contract/auth.ts";
import { createSvcProcedureBuilders } from "../contract/procedure.ts";
import { createCrudFactory } from "../crud/crud.ts";
import { organizationInvitations, organizationMembers, organizations } from "../crud/organization-tables.ts";
import { DefinitionError } from "../kit/definition-error.ts";
import { oneOf } from "../kit/options.ts";
import { requireRow } from "../kit/require-row.ts";
import { SvcError } from "../kit/svc-error.ts";
import { v } from "../kit/v.ts";
import { invitationMailer } from "./mail-invitation.ts";
import { type ServiceAccounts, serviceAccountProcedures } from "./service-accounts.ts";

/** The roles that an application's `auth.ts` declares. */
export type OrganizationRole<A extends AuthDefinition> = A["organizations"] extends {
  roles: infer Roles extends readonly string[];
}
  ? Roles[number]
  : (typeof defaultRoles)[number];

const tables = { organizations, organizationMembers, organizationInvitations };
const { query, mutation, internal } = createSvcProcedureBuilders<typeof tables>();
const createCrud = createCrudFactory({ query, mutation, internal }, tables);

const id = v.string();
const mailJob = "organizationInvitations.mail";

/**
 * The procedures of organizations, for `defineApi`: `organizations`, `organizationMembers` and `organizationInvitations`; with
 * `apiKeys` also `serviceAccounts` and `serviceAccountKeys`. Leave one out by naming the others.
 *
 * @param auth the default export of `auth.ts`; its roles are the types of inputs
 * @throws DefinitionError when `auth.ts` does not declare organizations
 * @example
 * export default defineApi({ procedures: { ...createOrganizations(auth), invoices } });
 */
export function createOrganizations<const A extends AuthDefinition>(auth: A) {
  if (!auth.organizations) {
    throw new DefinitionError("createOrganizations: auth.ts declares no organizations.", {
      hint: "Write defineAuth({ organizations: true }) there, and give its default export: createOrganizations(auth).",
    });
  }
  const options = auth.organizations === true ? {} : auth.organizations;
  const role = oneOf((options.roles ?? defaultRoles) as readonly OrganizationRole<A>[]);
  return {
    organizations: organizationProcedures(),
    organizationMembers: memberProcedures(role),
    organizationInvitations: { ...invitationProcedures(role), mail: invitationMailer(mailJob, auth, options) },
    ...((auth.apiKeys && serviceAccountProcedures(role, auth.apiKeys)) as ServiceAccounts<A, OrganizationRole<A>>),
  };
}

function organizationProcedures() {
  const name = v.string();
  return {
    ...createCrud(organizations, { methods: ["list", "get", "remove"], searchFields: ["name"] }),
    create: mutation
      .name("organizations.create")
      .input(v.object({ name }))
      .handler(async ({ context: { db }, input }) => {
        const made = sql`svc.create_organization(${input.name}) as id`;
        return requireRow(await db.select({ id: sql<string>`id` }).from(made));
      }),
    update: mutation
      .name("organizations.update")
      .input(v.object({ id, name }))
      .handler(async ({ context: { db }, input }) => {
        const change = db.update(organizations).set({ name: input.name.trim() });
        return requireRow(await change.where(eq(organizations.id, input.id)).returning());
      }),
    leave: mutation
      .name("organizations.leave")
      .input(v.object({ id }))
      .handler(async ({ context: { auth, db }, input }) => {
        const { orgId, userId } = organizationMembers;
        const own = and(eq(orgId, input.id), eq(userId, auth.requireAuth().user.id));
        requireRow(await db.delete(organizationMembers).where(own).returning({ id: organizationMembers.id }));
      }),
  };
}

function memberProcedures<Role extends string>(role: ReturnType<typeof oneOf<Role>>) {
  return {
    ...createCrud(organizationMembers, {
      prefix: "organizationMembers",
      methods: ["list", "get", "remove"],
      allowedFilters: ["orgId", "userId", "role"],
      searchFields: ["name", "email"],
      include: ["org"],
    }),
    update: mutation
      .name("organizationMembers.update")
      .input(v.object({ id, role }))
      .handler(async ({ context: { db }, input }) => {
        const { id, role } = input as { id: string; role: string }; // generic until `auth` is known
        const change = db.update(organizationMembers).set({ role });
        return requireRow(await change.where(eq(organizationMembers.id, id)).returning());
      }),
  };
}

function invitationProcedures<Role extends string>(role: ReturnType<typeof oneOf<Role>>) {
  /** The policies say who ends a pending invitation in which way. */
  const end = (name: string, state: "rejected" | "canceled") =>
    mutation
      .name(`organizationInvitations.${name}`)
      .input(v.object({ id }))
      .handler(async ({ context: { db }, input }) => {
        const change = db.update(organizationInvitations).set({ state });
        const row = eq(organizationInvitations.id, input.id);
        requireRow(await change.where(row).returning({ id: organizationInvitations.id }));
      });
  return {
    ...createCrud(organizationInvitations, {
      prefix: "organizationInvitations",
      methods: ["list", "get"],
      allowedFilters: ["orgId", "email", "state"],
    }),
    create: mutation
      .name("organizationInvitations.create")
      .input(v.object({ orgId: v.string(), email: v.string(), role }))
      .handler(async ({ context: { db, scheduler }, input }) => {
        const { orgId, email, role } = input as { orgId: string; email: string; role: string };
        const invited = sql`svc.invite_to_organization(${orgId}, ${email}, ${role}) as id`;
        const { id } = requireRow(await db.select({ id: sql<string>`id` }).from(invited));
        await scheduler.runAfter(0, mailJob, { id });
        return requireRow(await db.select().from(organizationInvitations).where(eq(organizationInvitations.id, id)));
      }),
    accept: mutation
      .name("organizationInvitations.accept")
      .input(v.object({ id }))
      .handler(async ({ context: { db }, input }) => {
        const joined = sql`svc.accept_invitation(${input.id}) as org`;
        const [row] = await db.select({ orgId: sql<string | null>`org` }).from(joined);
        if (row?.orgId) return { orgId: row.orgId };
        throw new SvcError("NOT_FOUND", "There is no such invitation to a verified address of yours.", {
          hint: "It may be canceled or expired. Or your address is not verified yet.",
        });
      }),
    reject: end("reject", "rejected"),
    cancel: end("cancel", "canceled"),
  };
}
