// If this file fails, the tables of migrations/ are not those that the installed version of the library writes to.
import { getMigrations } from "better-auth/db/migration";
import { jwt } from "better-auth/plugins";
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createLibrary } from "../../src/auth/library.ts";
import { createLog } from "../../src/service/log.ts";
import { origin, secret } from "../support/auth-server.ts";
import { database } from "../support/database.ts";

const db = database();
let pool: pg.Pool;
beforeAll(() => {
  pool = new pg.Pool({ connectionString: db.url("auth"), max: 2 });
});
afterAll(() => pool.end());

const jwksColumns = {
  publicKey: "public_key",
  privateKey: "private_key",
  createdAt: "created_at",
  expiresAt: "expires_at",
};

/** What the library's own generator would still add for its core and its jwt plugin. */
async function missing() {
  const log = createLog("silent");
  const library = await createLibrary({
    pool,
    secrets: [secret],
    origins: { own: origin, all: [origin] },
    definition: {},
    fields: {},
    log,
  });
  const plugins = [jwt({ schema: { jwks: { fields: jwksColumns } } })];
  const { toBeCreated, toBeAdded } = await getMigrations({ ...library.context.options, plugins });
  return [...toBeCreated, ...toBeAdded].map(({ table, fields }) => ({ table, fields: Object.keys(fields) }));
}

test("the library's generator finds nothing to add", async () => {
  expect(await missing()).toEqual([]);
});

test("and would notice: a column that is gone is one it wants back", async () => {
  await db.sql("alter table auth.session drop column ip_address");
  expect(await missing()).toEqual([{ table: "session", fields: ["ip_address"] }]);
});
