// If this file fails, Turkish databases, in which lower('I') is ı, send invitations to other addresses and webhooks of the operation
// "ınsert", do not find users by their addresses, or have differences that no command repairs.
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { compareFacts, readFacts } from "../../src/migrate/drift.ts";
import { migrate } from "../../src/migrate/migrate.ts";
import { execute } from "../support/admin.ts";
import { Database, database } from "../support/database.ts";
import { root } from "../support/global-setup.ts";

const usual = database("platform");
const turkish = new Database();
// A database can have an ICU locale since PostgreSQL 15, if the server is built with ICU.
const [icu] = await execute(inject("urls").admin, "select from pg_collation where collname = 'tr-x-icu'");
const hasTurkish = icu?.rowCount !== 0 && Number.parseInt(inject("serverVersion"), 10) >= 15;

describe.runIf(hasTurkish)("a Turkish database", () => {
  beforeAll(async () => {
    await turkish.create("template0 locale_provider icu icu_locale 'tr-TR'");
    await migrate({ adminUrl: turkish.url("admin"), platform: root });
  });
  afterAll(() => turkish.drop());

  test("does not differ from another one with the same files", async () => {
    const [one, other] = await Promise.all([usual.connect("admin"), turkish.connect("admin")]);
    expect((await other.query("select lower('I') as letter")).rows).toEqual([{ letter: "ı" }]);
    expect(compareFacts(await readFacts(one), await readFacts(other))).toEqual([]);
  });

  test("finds the description of a resource with an I in its prefix", async () => {
    const admin = await turkish.connect("admin");
    await admin.query(
      `create function svc_crud.Items_resource() returns jsonb language sql as $$ select '{"name": "Items"}'::jsonb $$`,
    );
    const { rows } = await admin.query("select svc_hidden.crud_resource('Items') as found");
    expect(rows).toEqual([{ found: { name: "Items" } }]);
  });

  test("names the privileges of PUBLIC in the linter", async () => {
    const admin = await turkish.connect("admin");
    await admin.query("create table public.open (id int primary key); grant insert on public.open to public");
    const { rows } = await admin.query("select problem from svc_private.lint_public_grant");
    expect(rows).toEqual([{ problem: "gives insert to PUBLIC" }]);
  });

  test("invites the address that was written, and finds users by it", async () => {
    const admin = await turkish.connect("admin");
    await admin.query(`insert into auth."user" (id, name, email, email_verified) values ('ann', 'Ann', 'info@example.com', true),
        ('eva', 'Eva', 'élan@example.com', true);
      insert into auth.api_key (user_id, name, start, hash, scopes, expires_at) values ('ann', 'k', 'k', sha256('k'), '{*}', 'infinity');
      insert into svc.organizations (id, name) values ('acme', 'Acme')`);
    const invite = `insert into svc.organization_invitations (org_id, email, role, invited_by)
      values ('acme', $1, 'member', 'ann') returning email`;
    for (const address of ["SINIF@EXAMPLE.COM", "ÇIĞ@EXAMPLE.COM"])
      expect((await admin.query(invite, [address])).rows).toEqual([{ email: address.toLowerCase() }]);
    for (const found of [
      "auth.find_user_id('INFO@EXAMPLE.COM') id where id is not null",
      "auth.find_user_id('ÉLAN@EXAMPLE.COM') id where id is not null", // the application has added this user
      "svc_private.studio_people('ÉLAN@', null, 9)",
      "svc_private.studio_people('INFO@', null, 9)",
      "svc_private.list_all_api_keys('INFO@EXAMPLE.COM', 9)",
    ])
      expect((await admin.query(`select from ${found}`)).rowCount, found).toBe(1);
    const revoke = "select svc_private.act_revoke_api_keys(null, 'INFO@EXAMPLE.COM') as revoked";
    expect((await admin.query(revoke)).rows).toEqual([{ revoked: 1 }]);
  });

  test("tells receivers of webhooks which operation it was, and migrates their tables", async () => {
    const admin = await turkish.connect("admin");
    const declared = {
      name: "made",
      table: "public.items",
      key: ["id"],
      columns: ["id"],
      data: "t.id",
      when: ["insert"],
      env: "A_HOOK",
    };
    await admin.query("set role svc_owner; create table public.items (id int primary key)");
    await admin.query("select svc_private.install_webhooks($1)", [JSON.stringify([declared])]);
    await admin.query("insert into public.items values (1)");
    const { rows } = await admin.query("select body::json ->> 'operation' as operation from svc.webhook_deliveries");
    expect(rows).toEqual([{ operation: "insert" }]);
    await admin.query("select svc_private.release_webhooks('ALTER TABLE ITEMS ALTER ID TYPE BIGINT')");
    expect((await admin.query("select from svc_private.list_webhooks()")).rowCount).toBe(0);
  });
});
