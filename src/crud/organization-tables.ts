/**
 * The platform's tables of organizations, for foreign keys, handlers and generated CRUD of applications. Platform migrations
 * create them, so `svc migrate generate` leaves them out. The policies below say to realtime who reads a row; those in
 * force are in `sql/policies/`.
 * Next hop: `migrations/0067_create_organizations.sql`, `migrations/0073_create_service_accounts.sql`.
 */
import { sql } from "drizzle-orm";
import { pgPolicy, pgSchema, text, timestamp, uuid } from "drizzle-orm/pg-core";
import { offer } from "../kit/offered-tables.ts";
import { orgRls } from "./org-rls.ts";
import { authenticated } from "./rls.ts";

const svc = pgSchema("svc");
const createdAt = () => timestamp("created_at", { withTimezone: true }).notNull().defaultNow();

/** Organizations. Members see theirs. */
export const organizations = offer(
  svc.table(
    "organizations",
    {
      id: text("id").primaryKey().default(sql`gen_random_uuid()`),
      name: text("name").notNull(),
      createdAt: createdAt(),
    },
    (t) => orgRls(t.id, { write: "nobody" }),
  ),
);

const orgId = () =>
  text("org_id")
    .notNull()
    .references(() => organizations.id, { onDelete: "cascade" });

/** Who belongs to which organization, in which role. Members see all members. */
export const organizationMembers = offer(
  svc.table(
    "organization_members",
    {
      id: uuid("id").primaryKey().defaultRandom(),
      orgId: orgId(),
      userId: text("user_id").notNull(),
      role: text("role").notNull(),
      /** A copy of the user's. */
      name: text("name").notNull(),
      /** A copy of the user's. */
      email: text("email").notNull(),
      createdAt: createdAt(),
    },
    (t) => orgRls(t.orgId, { write: "nobody" }),
  ),
);

/** Members that are programs, also those that were removed. Owners and admins see them. */
export const serviceAccounts = offer(
  svc.table(
    "service_accounts",
    {
      /** Of its user: `svc.current_user_id()` of its calls. */
      id: text("id").primaryKey(),
      orgId: orgId(),
      name: text("name").notNull(),
      /** Null after it was removed. */
      role: text("role"),
      /** The id of the user who created it, who may be gone. */
      createdBy: text("created_by"),
      createdAt: createdAt(),
    },
    (t) => orgRls(t.orgId, { read: ["owner", "admin"], write: "nobody" }),
  ),
);

/** Invitations. Owners and admins see those of their organization, and everybody those to the own verified address. */
export const organizationInvitations = offer(
  svc.table(
    "organization_invitations",
    {
      id: uuid("id").primaryKey().defaultRandom(),
      orgId: orgId(),
      orgName: text("org_name").notNull(),
      email: text("email").notNull(),
      role: text("role").notNull(),
      invitedBy: text("invited_by").notNull(),
      state: text("state", { enum: ["pending", "accepted", "rejected", "canceled", "expired"] })
        .notNull()
        .default("pending"),
      createdAt: createdAt(),
      expiresAt: timestamp("expires_at", { withTimezone: true }).notNull(),
    },
    (t) => [
      pgPolicy("select_admin_or_invited", {
        for: "select",
        to: authenticated,
        using: sql`${t.orgId} = any (array(select svc.my_orgs('owner', 'admin'))) or ${t.email} = (select svc.verified_email())`,
      }),
    ],
  ),
);
