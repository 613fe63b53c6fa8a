// If this file fails, a service starts although every API key can do all that its user may in some table, or a misspelt scope
// closes a table for good without a word.

import { sql } from "drizzle-orm";
import { pgPolicy, pgTable, serial, text } from "drizzle-orm/pg-core";
import { beforeAll, describe, expect, test } from "vitest";
import { defineApi } from "../../src/app/api.ts";
import { checkScopeNames } from "../../src/app/check-scope-names.ts";
import { checkScopes } from "../../src/auth/api-keys/check-scopes.ts";
import {
  createSvcHttpRouteBuilders,
  createSvcProcedureBuilders,
  defineAuth,
  ownerRls,
  scoped,
} from "../../src/index.ts";
import { DefinitionError } from "../../src/kit/definition-error.ts";
import { takeSnapshot } from "../../src/migrate/generate/schema-snapshot.ts";
import { database } from "../support/database.ts";

const db = database("platform");
const auth = defineAuth({ apiKeys: { prefix: "acme", scopes: ["tickets:read", "tickets:write"] } });
const check = (its: Parameters<typeof checkScopes>[1] = auth) => checkScopes(db.pool("auth", 1), its);
const signedIn = "svc_authenticated";

describe("svc migrate generate", () => {
  const policiesOf = async (extra: (t: { userId: never }) => unknown[], keys = true) => {
    const columns = { id: serial("id").primaryKey(), userId: text("user_id").notNull() };
    const table = pgTable("things", columns, (t) => extra(t as never) as never[]);
    const { tables } = await takeSnapshot({ schema: { table }, auth: keys ? auth : {} }, null);
    return Object.keys(tables["public.things"]?.policies ?? {}).filter((name) => name.startsWith("closed"));
  };
  const asking = (verb: "select" | "all", as: "permissive" | "restrictive") =>
    pgPolicy("mine", { as, for: verb, to: signedIn, using: sql`(select svc.has_scope('tickets:read'))` });

  test("closes what no policy opens to keys, and nothing without apiKeys", async () => {
    expect(await policiesOf((t) => ownerRls(t.userId))).toEqual(["closed_to_keys"]);
    expect(await policiesOf((t) => ownerRls(t.userId), false)).toEqual([]);
    expect(await policiesOf((t) => [...ownerRls(t.userId), ...scoped({ read: "tickets:read" })])).toEqual([]);
    expect(await policiesOf((t) => [...ownerRls(t.userId), asking("all", "restrictive")])).toEqual([]);
    const open = ["insert", "update", "delete"].map((verb) => `closed_to_keys_${verb}`);
    expect(await policiesOf((t) => [...ownerRls(t.userId), asking("select", "restrictive")])).toEqual(open);
    expect(await policiesOf((t) => ownerRls(t.userId, { write: "nobody" }))).toEqual(["closed_to_keys_select"]);
    // A policy that admits keys with a scope does not close the others.
    expect(await policiesOf((t) => [...ownerRls(t.userId), asking("all", "permissive")])).toEqual(["closed_to_keys"]);
    expect(await policiesOf(() => [asking("all", "permissive")])).toEqual([]);
    const beside = pgPolicy("beside", {
      to: signedIn,
      using: sql`user_id = (select svc.current_user_id()) or (select svc.has_scope('tickets:read'))`,
    });
    expect(await policiesOf(() => [beside])).toEqual(["closed_to_keys"]);
  });

  test("closes what a policy asks about in the half that PostgreSQL does not check", async () => {
    const asks = sql`(select svc.has_scope('tickets:read'))`;
    const both = { as: "restrictive", for: "all", to: signedIn } as const;
    const reads = pgPolicy("reads", { ...both, using: asks, withCheck: sql`true` });
    expect(await policiesOf((t) => [...ownerRls(t.userId), reads])).toEqual(["closed_to_keys_insert"]);
    const writes = pgPolicy("writes", { ...both, using: sql`true`, withCheck: asks });
    const open = ["select", "delete"].map((verb) => `closed_to_keys_${verb}`);
    expect(await policiesOf((t) => [...ownerRls(t.userId), writes])).toEqual(open);
    const own = pgPolicy("own", { for: "all", to: signedIn, using: asks, withCheck: sql`true` });
    expect(await policiesOf(() => [own])).toEqual(["closed_to_keys_insert"]);
  });
});

describe("a service", () => {
  beforeAll(() =>
    db.sql(`create table things (id serial primary key, user_id text);
            alter table things enable row level security;
            create policy own on things to svc_authenticated using (user_id = (select svc.current_user_id()))`),
  );

  test("does not start with a table that is open to every key, and names the remedy", async () => {
    await expect(check(defineAuth({}))).resolves.toBeUndefined();
    const error = await check().catch((thrown) => thrown);
    expect(error).toBeInstanceOf(DefinitionError);
    expect(error.message).toContain("public.things");
    expect(error.hint).toContain("svc migrate generate");
    await db.sql(
      "create policy reads on things as restrictive for select to svc_authenticated using (svc.has_scope('tickets:read'))",
    );
    await expect(check()).rejects.toThrow("public.things");
    await db.sql(
      "create policy closed on things as restrictive to svc_authenticated using ((select svc.has_scope('*')))",
    );
    await expect(check()).resolves.toBeUndefined();
  });

  test.for([
    ["using (svc.has_scope('*')) with check (true)", "new rows"],
    ["using (true) with check (svc.has_scope('*'))", "reading"],
  ])("does not start where a policy asks %s, so not about %s", async ([conditions]) => {
    await db.sql(`create table halves (id serial primary key, user_id text);
                  alter table halves enable row level security;
                  create policy own on halves to svc_authenticated using (user_id = (select svc.current_user_id()));
                  create policy half on halves as restrictive to svc_authenticated ${conditions}`);
    await expect(check()).rejects.toThrow("public.halves");
    await db.sql("drop table halves");
  });

  test.for([
    ["user_id = (select svc.current_user_id()) or (select svc.has_scope('tickets:read'))", false],
    ["not (select svc.has_scope('tickets:read'))", false],
    ["user_id = (select svc.current_user_id()) and (select svc.has_scope('tickets:read') or svc.has_scope('*'))", true],
    ["user_id = 'a' and svc.has_scope('tickets:read') or user_id = 'or' and (select svc.has_scope('*'))", true],
    ["user_id between 'a' and 'b' and (select svc.has_scope('*'))", true],
    ["(user_id in (select user_id from public.things) or svc.has_scope('*')) and svc.has_scope('tickets:read')", true],
  ] as const)("asks whether each alternative of a policy asks: %s", async ([condition, isClosed]) => {
    await db.sql(`create table either (id serial primary key, user_id text);
                  alter table either enable row level security;
                  create policy own on either to svc_authenticated using (${condition})`);
    if (isClosed) await expect(check()).resolves.toBeUndefined();
    else await expect(check()).rejects.toThrow("public.either");
    await db.sql("drop table either");
  });

  test("does not start with a view through which keys see tables of svc, unless it asks for a scope", async () => {
    const view = (condition: string) =>
      db.sql(`create or replace view files with (security_invoker) as select id, name from svc.storage_objects ${condition};
              grant select on files to svc_authenticated`);
    await view("");
    const error = await check().catch((thrown) => thrown);
    expect([error.message, error.hint]).toEqual([
      expect.stringContaining("public.files"),
      expect.stringContaining("view of svc's own tables"),
    ]);
    await view("where (select svc.has_scope('tickets:read'))");
    await expect(check()).resolves.toBeUndefined();
    // Of tables whose own policies ask: those of organizations.
    await db.sql(`drop view files;
                  create view teams with (security_invoker) as select id, name from svc.organizations;
                  grant select on teams to svc_authenticated`);
    await expect(check()).resolves.toBeUndefined();
    await db.sql("drop view teams");
  });

  test("does not start with a scope in a policy that is not declared", async () => {
    await db.sql(
      "create policy typo on things as restrictive for select to svc_authenticated using (svc.has_scope('tickets:reed'))",
    );
    const error = await check().catch((thrown) => thrown);
    expect([error.message, error.hint]).toEqual([
      expect.stringContaining("tickets:reed"),
      expect.stringContaining("tickets:read"),
    ]);
    await db.sql("drop policy typo on things");
  });
});

describe("an application is not loaded, and no migration written, with a scope that is not declared", () => {
  test("in code", () => {
    const { query } = createSvcProcedureBuilders();
    const { get } = createSvcHttpRouteBuilders();
    const its = { auth, schema: {} };
    const api = defineApi({ procedures: { a: { b: query.scope("ticket:read").handler(() => 1) } } });
    expect(() => checkScopeNames({ ...its, api })).toThrow(/"a\.b" asks for the scope "ticket:read"/);
    expect(() => checkScopeNames({ auth: {}, schema: {}, api })).not.toThrow();
    const c = get
      .path("/c")
      .scope("other")
      .handler(() => ({}));
    expect(() => checkScopeNames({ ...its, api: defineApi({ httpRoutes: { c } }) })).toThrow("The route /c");
  });

  test("in a policy of the schema", () => {
    const columns = { id: serial("id").primaryKey(), userId: text("user_id").notNull() };
    const schema = (scope: string) => ({
      things: pgTable("things", columns, () => [
        pgPolicy("x", {
          as: "restrictive",
          for: "insert",
          to: signedIn,
          withCheck: sql`(select svc.has_scope(${scope}))`,
        }),
      ]),
    });
    expect(() => checkScopeNames({ auth, schema: schema("tickets:write") })).not.toThrow();
    expect(() => checkScopeNames({ auth, schema: schema("*") })).not.toThrow();
    expect(() => checkScopeNames({ auth, schema: schema("tickets:rite") })).toThrow(
      'A policy of table "things" asks for the scope "tickets:rite", which apiKeys.scopes of defineAuth does not name.\n' +
        '  Did you mean "tickets:write"?',
    );
  });
});

test.for<[what: string, define: () => unknown]>([
  ["a prefix in upper case", () => defineAuth({ apiKeys: { prefix: "Acme", scopes: ["a"] } })],
  ["a prefix with an underscore", () => defineAuth({ apiKeys: { prefix: "ac_me", scopes: ["a"] } })],
  ["no scope", () => defineAuth({ apiKeys: { prefix: "acme", scopes: [] } })],
  ["a scope with a space", () => defineAuth({ apiKeys: { prefix: "acme", scopes: ["a b"] } })],
  ["a scope with a quote", () => scoped({ read: "a'b" })],
  ["scoped without a scope", () => scoped({})],
  ["an internal procedure with a scope", () => createSvcProcedureBuilders().internal.scope("a" as never)],
])("%s is a mistake when it is declared", ([, define]) => {
  expect(define).toThrow(DefinitionError);
});
