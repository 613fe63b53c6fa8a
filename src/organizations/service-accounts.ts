/**
 * The procedures of service accounts: members of an organization that are programs, and their API keys. As those of
 * `create-organizations.ts` they only say what is asked for.
 * Next hop: `sql/policies/svc.service_accounts.sql`, `sql/organizations/add_service_account_key.sql`.
 */
import { and, eq, sql } from "drizzle-orm";
import { z } from "zod";
import type { ApiKeyOptions, AuthDefinition } from "../contract/auth.ts";
import { createSvcProcedureBuilders } from "../contract/procedure.ts";
import { createCrudFactory } from "../crud/crud.ts";
import { organizationMembers, organizations, serviceAccounts } from "../crud/organization-tables.ts";
import { hashOf, keyLimits, makeKey, startOf } from "../kit/key-format.ts";
import { integer, oneOf } from "../kit/options.ts";
import { requireRow } from "../kit/require-row.ts";
import { SvcError } from "../kit/svc-error.ts";
import { v } from "../kit/v.ts";

/** The scopes that an application's `auth.ts` declares for API keys. */
type ScopeOf<A extends AuthDefinition> = A["apiKeys"] extends { scopes: readonly (infer Scope extends string)[] }
  ? Scope
  : never;

/** The procedures of service accounts; none where `auth.ts` declares no API keys. */
export type ServiceAccounts<A extends AuthDefinition, Role extends string> = [ScopeOf<A>] extends [never]
  ? object
  : ReturnType<typeof serviceAccountProcedures<Exclude<Role, "owner">, ScopeOf<A>>>;

const tables = { organizations, organizationMembers, serviceAccounts };
const builders = createSvcProcedureBuilders<typeof tables>();
const { query, mutation } = builders;
const createCrud = createCrudFactory(builders, tables);

/**
 * @param role of members
 * @param options of `auth.ts`
 */
export function serviceAccountProcedures<Role extends string, Scope extends string>(
  role: ReturnType<typeof oneOf<Role>>,
  options: ApiKeyOptions,
) {
  return { serviceAccounts: accountProcedures(role), serviceAccountKeys: keyProcedures<Scope>(options) };
}

const id = v.string();

function accountProcedures<Role extends string>(role: ReturnType<typeof oneOf<Role>>) {
  /** The membership decides, as for people: its policies say who changes and ends it. */
  const membership = (account: string) =>
    and(
      eq(organizationMembers.userId, account),
      // Without it the caller could name a person here.
      sql`svc.is_service(${account})`,
    );
  return {
    ...createCrud(serviceAccounts, {
      prefix: "serviceAccounts",
      methods: ["list", "get"],
      allowedFilters: ["orgId", "role"],
      searchFields: ["name"],
      include: ["org"],
    }),
    create: mutation
      .name("serviceAccounts.create")
      .input(v.object({ orgId: v.string(), name: v.string(), role }))
      .handler(async ({ context: { db }, input }) => {
        const { orgId, name, role } = input as { orgId: string; name: string; role: string };
        const made = sql`svc.create_service_account(${orgId}, ${name}, ${role}) as id`;
        const { id } = requireRow(await db.select({ id: sql<string>`id` }).from(made));
        return requireRow(await db.select().from(serviceAccounts).where(eq(serviceAccounts.id, id)));
      }),
    update: mutation
      .name("serviceAccounts.update")
      .input(v.object({ id, name: v.optional(v.string()), role: v.optional(role) }))
      .handler(async ({ context: { db }, input }) => {
        const { id, name, role } = input as { id: string; name?: string; role?: string };
        const own = eq(serviceAccounts.id, id);
        // As a removal does: both lock the membership first, and do not wait for each other.
        await db
          .select({ id: organizationMembers.id })
          .from(organizationMembers)
          .where(membership(id))
          .for("no key update");
        if (role !== undefined) {
          const change = db.update(organizationMembers).set({ role }).where(membership(id));
          requireRow(await change.returning({ id: organizationMembers.id }));
        }
        if (name !== undefined) {
          const change = db.update(serviceAccounts).set({ name: name.trim() }).where(own);
          requireRow(await change.returning({ id: serviceAccounts.id }));
        }
        return requireRow(await db.select().from(serviceAccounts).where(own));
      }),
    remove: mutation
      .name("serviceAccounts.remove")
      .input(v.object({ id }))
      .handler(async ({ context: { db }, input }) => {
        const removing = db.delete(organizationMembers).where(membership(input.id));
        requireRow(await removing.returning({ id: organizationMembers.id }));
      }),
  };
}

type Refused = "ended" | "impersonated" | "many";

function keyProcedures<Scope extends string>({ prefix, scopes, maxPerUser = keyLimits.perUser }: ApiKeyOptions) {
  const serviceAccountId = v.string();
  const name = z.string().trim().min(1).max(100);
  const days = integer(1, keyLimits.maxDays).default(keyLimits.days);
  const scope = oneOf(scopes as readonly Scope[]);
  const create = mutation
    .name("serviceAccountKeys.create")
    .input(z.object({ serviceAccountId: z.string(), name, scopes: z.array(scope).min(1), expiresInDays: days }))
    .handler(async ({ context: { auth, db }, input }) => {
      const { serviceAccountId, name, expiresInDays } = input;
      const own = [...new Set(input.scopes as readonly string[])];
      const key = makeKey(prefix);
      const start = startOf(key, prefix);
      const added = sql`svc.add_service_account_key(${auth.requireAuth().id}, ${serviceAccountId}, ${name}, ${start},
        ${hashOf(key)}, ${sql.param(own)}::text[], ${`${expiresInDays} days`}::interval, ${maxPerUser})`;
      const rows = await db
        .select({
          id: sql<string>`id`,
          createdAt: sql<Date>`created_at`.mapWith((at) => new Date(at)),
          expiresAt: sql<Date>`expires_at`.mapWith((at) => new Date(at)),
          refused: sql<Refused | null>`refused`,
        })
        .from(added);
      const { refused, ...made } = requireRow(rows);
      if (refused) throw refusal(refused, maxPerUser);
      return { ...made, name, start, scopes: own, key };
    });
  create["~svc"].procedure.isSecret = true;
  return {
    /** Its answer alone has the key. */
    create,
    list: query
      .name("serviceAccountKeys.list")
      .input(v.object({ serviceAccountId }))
      .handler(({ context: { db }, input }) =>
        db
          .select({
            id: sql<string>`id`,
            name: sql<string>`name`,
            start: sql<string>`start`,
            scopes: sql<string[]>`scopes`,
            createdBy: sql<string | null>`created_by`,
            createdAt: sql<Date>`created_at`.mapWith((at) => new Date(at)),
            expiresAt: sql<Date>`expires_at`.mapWith((at) => new Date(at)),
            lastUsedAt: sql<Date | null>`last_used_at`.mapWith((at) => at && new Date(at)),
          })
          .from(sql`svc.service_account_keys(${input.serviceAccountId})`),
      ),
    remove: mutation
      .name("serviceAccountKeys.remove")
      .input(v.object({ serviceAccountId, id }))
      .handler(async ({ context: { db }, input }) => {
        const removing = sql`svc.remove_service_account_key(${input.serviceAccountId}, ${input.id}) as removed`;
        const rows = await db.select({ removed: sql<boolean>`removed` }).from(removing);
        requireRow(rows.filter(({ removed }) => removed));
      }),
  };
}

function refusal(refused: Refused, most: number): SvcError {
  if (refused === "many") {
    return new SvcError("CONFLICT", `This service account has ${most} API keys.`, {
      hint: "Revoke one that is no longer used.",
    });
  }
  if (refused === "impersonated") {
    return new SvcError("FORBIDDEN", "An administrator who acts as a user cannot create API keys.");
  }
  return new SvcError("FORBIDDEN", "A key is created by a person who is signed in, not by an API key or a job.");
}
