// If this file fails, the compiler takes a role that auth.ts does not declare.
import { expectTypeOf, test } from "vitest";
import { createOrganizations, defineAuth, type OrganizationRole, type Procedure } from "../../src/index.ts";

type InputOf<P> = P extends Procedure<infer T> ? T["input"] : never;

const auth = defineAuth({ organizations: { roles: ["owner", "editor"] } });
const plain = defineAuth({ organizations: true });

test("inputs take the declared roles", () => {
  expectTypeOf<OrganizationRole<typeof auth>>().toEqualTypeOf<"owner" | "editor">();
  expectTypeOf<OrganizationRole<typeof plain>>().toEqualTypeOf<"owner" | "admin" | "member">();
  const made = createOrganizations(auth);
  type Invite = InputOf<typeof made.organizationInvitations.create>;
  expectTypeOf<Invite>().toEqualTypeOf<{ orgId: string; email: string; role: "owner" | "editor" }>();
  type Change = InputOf<typeof made.organizationMembers.update>;
  expectTypeOf<Change["role"]>().toEqualTypeOf<"owner" | "editor">();
});

test("service accounts are there with API keys alone, own nothing, and their keys have declared scopes", () => {
  const keyed = createOrganizations(
    defineAuth({
      organizations: { roles: ["owner", "editor", "member"] },
      apiKeys: { prefix: "acme", scopes: ["invoices:read", "*"] },
    }),
  );
  expectTypeOf<InputOf<typeof keyed.serviceAccounts.create>["role"]>().toEqualTypeOf<"editor" | "member">();
  expectTypeOf<InputOf<typeof keyed.serviceAccountKeys.create>["scopes"]>().toEqualTypeOf<("invoices:read" | "*")[]>();
  expectTypeOf(createOrganizations(auth)).not.toHaveProperty("serviceAccounts");
});
