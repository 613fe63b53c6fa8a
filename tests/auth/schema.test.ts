// If this file fails, the tables of migrations/ differ from those that the installed version of the library uses.
import { getMigrations } from "better-auth/db/migration";
import {
  admin,
  anonymous,
  deviceAuthorization,
  jwt,
  organization,
  phoneNumber,
  twoFactor,
  username,
} from "better-auth/plugins";
import type pg from "pg";
import { beforeAll, describe, expect, test } from "vitest";
import { createLibrary } from "../../src/auth/library.ts";
import { PluginMessages } from "../../src/auth/plugins/plugin-messages.ts";
import type { AuthDefinition } from "../../src/contract/auth.ts";
import { createLog } from "../../src/telemetry/log.ts";
import { origin, secret } from "../support/auth-server.ts";
import { database } from "../support/database.ts";
import { migrateAuth } from "../support/plugin-tables.ts";

const db = database();
let pool: pg.Pool;
beforeAll(() => {
  pool = db.pool("auth", 2);
});

const jwksColumns = {
  publicKey: "public_key",
  privateKey: "private_key",
  createdAt: "created_at",
  expiresAt: "expires_at",
};

/** What the library's own generator would still add for its core, its jwt plugin, and the application's plugins. */
async function missing(definition: AuthDefinition = {}) {
  const log = createLog("silent");
  const library = await createLibrary({
    pool,
    secrets: [secret],
    origins: { own: origin, all: [origin] },
    definition,
    fields: {},
    attempts: { newUser: async () => {} },
    messages: new PluginMessages(log),
    log,
  });
  const plugins = [...(library.context.options.plugins ?? []), jwt({ schema: { jwks: { fields: jwksColumns } } })];
  const { toBeCreated, toBeAdded, toBeAddedIndexes } = await getMigrations({ ...library.context.options, plugins });
  return [
    ...[...toBeCreated, ...toBeAdded].map(({ table, fields }) => ({ table, fields: Object.keys(fields) })),
    ...toBeAddedIndexes.map(({ name }) => ({ index: name })),
  ];
}

test("the library's generator finds nothing to add", async () => {
  expect(await missing()).toEqual([]);
});

describe("plugins", () => {
  const definition: AuthDefinition = {
    betterAuth: (defaults) => ({
      ...defaults,
      rateLimit: { enabled: true, storage: "database" },
      plugins: [
        twoFactor(),
        username(),
        admin(),
        phoneNumber(),
        anonymous(),
        deviceAuthorization({ verificationUri: "/device" }),
        organization({ teams: { enabled: true }, dynamicAccessControl: { enabled: true }, ac: undefined as never }),
      ],
    }),
  };

  test("lack much before the application's migration, and nothing after it", async () => {
    const lacking = (await missing(definition)).flatMap((item) => ("table" in item ? item.table : []));
    expect(lacking).toEqual(expect.arrayContaining(["two_factor", "team_member", "rate_limit", "user", "session"]));
    await migrateAuth(db, definition);
    expect(await missing(definition)).toEqual([]);
  });

  test("have an index for each of their foreign keys: svc db lint finds nothing that svc generated", async () => {
    const rows = await db.sql("select name from svc_private.lint_unindexed_foreign_key where name ~ ' on auth\\.'");
    expect(rows).toEqual([]);
    const indexed =
      "select indexrelid::regclass::text as name from pg_index where indrelid = 'auth.invitation'::regclass";
    expect((await db.sql(indexed)).map(({ name }) => name)).toContain("auth.invitation_inviter_id_idx");
  });

  test("have tables that the library's login works on, the system sees, and no request does", async () => {
    const rights = await db.sql(`
      select t.relname, t.relrowsecurity, r.rolname,
             has_table_privilege(r.rolname, t.oid, 'select') as reads,
             has_any_column_privilege(r.rolname, t.oid, 'insert') as inserts
        from pg_class t cross join pg_roles r
       where t.relnamespace = 'auth'::regnamespace and t.relkind = 'r'
         and r.rolname in ('svc_anonymous', 'svc_authenticated', 'svc_request', 'svc_auth', 'svc_system')`);
    expect(rights.filter(({ relname }) => relname === "two_factor")).toHaveLength(5);
    for (const { relname, relrowsecurity, rolname, reads, inserts } of rights) {
      const may = ["svc_auth", "svc_system"].includes(rolname);
      // Only the library may read passwords and signing keys.
      const writes = may && !(rolname === "svc_system" && ["account", "jwks"].includes(relname));
      expect([relrowsecurity, reads, inserts], `${rolname} on ${relname}`).toEqual([true, may, writes]);
    }
  });
});

test("and would notice: a column that is gone is one it wants back", async () => {
  await db.sql("alter table auth.session drop column ip_address");
  expect(await missing()).toEqual([{ table: "session", fields: ["ip_address"] }]);
});
