// If this file fails, a misspelt role shuts members out or lets nobody write, and nothing says so before users do.
import { sql } from "drizzle-orm";
import { type AnyPgColumn, integer, pgPolicy, pgTable, text } from "drizzle-orm/pg-core";
import { expect, test } from "vitest";
import { examineRoles } from "../../src/cli/doctor-work.ts";
import { createOrganizations, defineAuth, orgRls } from "../../src/index.ts";
import { checkOrganizations } from "../../src/organizations/check-organizations.ts";
import { database } from "../support/database.ts";

const db = database("platform");
const columns = { id: text("id").primaryKey(), orgId: text("org_id"), number: integer("number") };
type Options = Parameters<typeof orgRls>[1];
const policies = (options: unknown) => {
  const table = pgTable("invoices", columns, (t) => orgRls(t.orgId, options as Options));
  return { invoices: table };
};

test.for([
  [{ read: "owner" }, 'orgRls: read is "owner".\n  Give "member" or a list of roles that auth.ts declares'],
  [{ read: [] }, "orgRls: read is []."],
  [{ write: ["Owner"] }, 'orgRls: write is ["Owner"].\n  Give "member", "nobody" or a list'],
  [{ write: ["owner'); drop"] }, "orgRls: write is"],
  [{ write: null }, "orgRls: write is null."],
  [
    { read: ["owner"], write: ["owner", "editor"] },
    "orgRls: editor may write rows, but not read them.\n  Add the roles",
  ],
  [{ read: ["owner"], write: "member" }, "orgRls: every member may write rows, but not read them."],
] as const)("orgRls with %j is refused, with the remedy", ([options, message]) => {
  expect(() => orgRls(policies({}).invoices.orgId, options as unknown as Options)).toThrow(message);
});

test("orgRls takes a column for the id of an organization", () => {
  const { invoices } = policies({});
  expect(() => orgRls(invoices.number)).toThrow(
    'orgRls got column "number", which cannot hold the id of an organization.',
  );
  expect(() => orgRls(undefined as unknown as AnyPgColumn)).toThrow("orgRls got no column");
});

test("a role that auth.ts does not declare is an error when the application is loaded", () => {
  const auth = defineAuth({ organizations: { roles: ["owner", "editor"] } });
  const schema = policies({ write: ["owner", "edtor"] });
  expect(() => checkOrganizations({ auth, schema })).toThrow(
    'A policy of table "invoices" names the role "edtor", which auth.ts does not declare.\n  Did you mean "editor"?',
  );
  expect(() => checkOrganizations({ auth, schema: policies({ read: ["admin"] }) })).toThrow('names the role "admin"');
  expect(() => checkOrganizations({ auth, schema: policies({ write: ["owner", "editor"] }) })).not.toThrow();
  expect(() =>
    checkOrganizations({ auth: { organizations: true }, schema: policies({ write: ["admin"] }) }),
  ).not.toThrow();
  expect(() => checkOrganizations({ auth: {}, schema: policies({}) })).toThrow(
    'Table "invoices" has policies of organizations, and auth.ts declares none.\n  Write defineAuth({ organizations: true })',
  );
});

test("so is a misspelt role in a policy of the application's own", () => {
  const auth = defineAuth({ organizations: { roles: ["owner", "editor"] } });
  const schema = (roles: string) => ({
    invoices: pgTable("invoices", columns, (t) => [
      pgPolicy("delete_some", {
        for: "delete",
        using: sql`${t.orgId} = any (array(select svc.my_orgs(${sql.raw(roles)})))`,
      }),
    ]),
  });
  for (const roles of ["", "'owner'", "'owner', 'editor'"]) {
    expect(() => checkOrganizations({ auth, schema: schema(roles) })).not.toThrow();
  }
  for (const roles of ["'ower'", "'editor', 'ower'", "variadic array['ower']"]) {
    expect(() => checkOrganizations({ auth, schema: schema(roles) })).toThrow(
      'A policy of table "invoices" names the role "ower", which auth.ts does not declare.\n  Did you mean "owner"?',
    );
  }
});

test.for([
  [{ organizations: false }, "organizations: must be true or { roles?, sendInvitation?, page? }"],
  [{ organizations: { roles: ["admin"] } }, 'needs "owner"'],
  [{ organizations: { roles: ["owner", "owner"] } }, "names a role twice"],
  [{ organizations: { roles: ["owner", "The boss"] } }, "must be a name in lower case"],
  [{ organizations: { page: "app.example.com" } }, "must be a path such as /invitations, or a URL"],
] as const)("defineAuth(%j) is refused", ([definition, message]) => {
  expect(() => defineAuth(definition as never)).toThrow(message);
});

test("createOrganizations needs the declaration", () => {
  expect(() => createOrganizations({})).toThrow("createOrganizations: auth.ts declares no organizations.");
});

test("svc doctor names members with a role that is not declared any more", async () => {
  await db.sql(`insert into auth."user" (id, name, email) values ('ann', 'ann', 'a@example.com'), ('bob', 'bob', 'b@example.com');
    insert into svc.organizations (id, name) values ('acme', 'Acme');
    insert into svc.organization_members (org_id, user_id, role) values ('acme', 'ann', 'owner'), ('acme', 'bob', 'admin')`);
  const told = (roles?: string[]) =>
    examineRoles(db.pool("system"), defineAuth(roles ? { organizations: { roles } } : {}));
  expect(await told()).toEqual([]);
  expect(await told(["owner", "admin"])).toEqual([]);
  expect(await told(["owner", "member"])).toMatchObject([
    { kind: "advice", text: expect.stringContaining("admin (1)") },
  ]);
});
