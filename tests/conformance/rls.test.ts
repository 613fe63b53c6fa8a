// If this file fails, ownerRls() creates policies that show or open a user's rows to others. The other tests of
// isolation use policies of the fixture's migration; these use those that the helper declares.
import type { SQL } from "drizzle-orm";
import { getTableConfig, PgDialect, type PgPolicy, type PgRole, pgTable, serial, text } from "drizzle-orm/pg-core";
import { beforeAll, beforeEach, expect, test } from "vitest";
import { ownerRls } from "../../src/index.ts";
import { database } from "../support/database.ts";

const columns = () => ({ id: serial("id").primaryKey(), userId: text("user_id").notNull(), body: text("body") });
const tables = [
  pgTable("private_rows", columns(), (t) => ownerRls(t.userId)),
  pgTable("public_rows", columns(), (t) => ownerRls(t.userId, { read: "public" })),
];

const dialect = new PgDialect();
const clause = (word: string, condition?: SQL) =>
  condition ? `${word} (${dialect.sqlToQuery(condition.inlineParams()).sql})` : "";

/** A policy as a migration writes it. */
function createPolicy(table: string, { name, for: command, to, using, withCheck }: PgPolicy): string {
  const roles = ([to ?? "public"].flat() as (string | PgRole)[]).map((role) =>
    typeof role === "string" ? role : role.name,
  );
  const conditions = `${clause("using", using)} ${clause("with check", withCheck)}`;
  return `create policy ${name} on ${table} for ${command} to ${roles.join(", ")} ${conditions}`;
}

const db = database();
beforeAll(async () => {
  for (const table of tables) {
    const { name, policies } = getTableConfig(table);
    await db.sql(`create table ${name} (id serial primary key, user_id text not null, body text)`);
    await db.sql(`alter table ${name} enable row level security`);
    for (const policy of policies) await db.sql(createPolicy(name, policy));
    // Everybody has every privilege: only the policies decide.
    await db.sql(`grant all on ${name} to svc_anonymous, svc_authenticated`);
    await db.sql(`grant usage on sequence ${name}_id_seq to svc_anonymous, svc_authenticated`);
  }
});
beforeEach(async () => {
  await db.sql("truncate private_rows, public_rows");
  await db.sql("insert into private_rows (user_id) values ('ann'); insert into public_rows (user_id) values ('ann')");
});

/** The number of rows that a caller's statement affects, or "refused". */
async function touched(who: string, statement: string): Promise<number | string> {
  const client = await db.connect("request");
  await client.query("begin");
  const role = who === "nobody" ? "svc_anonymous" : "svc_authenticated";
  await client.query("select set_config('svc.user_id', $1, true), set_config('role', $2, true)", [
    who === "nobody" ? "" : who,
    role,
  ]);
  const result = await client.query(statement).catch((error: { code?: string }) => error);
  await client.query("rollback");
  if ("rowCount" in result) return result.rowCount ?? 0;
  return (result as { code?: string }).code === "42501" ? "refused" : "failed";
}

test.for([
  ["private_rows", "ann", 1, 1, 1, 1], ["private_rows", "bob", 0, "refused", 0, 0], ["private_rows", "nobody", 0, "refused", 0, 0],
  ["public_rows", "ann", 1, 1, 1, 1], ["public_rows", "bob", 1, "refused", 0, 0], ["public_rows", "nobody", 1, "refused", 0, 0],
] as const)("of a row in %s, %s may read %s, create %s, update %s, delete %s", async ([table, who, ...expected]) => {
  expect([
    await touched(who, `select from ${table}`),
    await touched(who, `insert into ${table} (user_id) values ('ann')`),
    await touched(who, `update ${table} set body = 'changed'`),
    await touched(who, `delete from ${table}`),
  ]).toEqual(expected);
}); // biome-ignore format: a table

test.for(["private_rows", "public_rows"])("an owner cannot give a row of %s away", async (table) => {
  expect(await touched("ann", `update ${table} set user_id = 'bob'`)).toBe("refused");
});
