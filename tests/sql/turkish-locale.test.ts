// If this file fails, `svc db drift` reports differences in every Turkish database that no command repairs, or related rows
// of a resource with an I in its prefix are an error there: lower('I') is ı.
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
});
