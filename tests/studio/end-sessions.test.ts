// If this file fails, an operator does not see which sessions of a user are those of an administrator, or ends all sessions of an
// administrator, who still acts as other users.
import { admin, deviceAuthorization } from "better-auth/plugins";
import { beforeAll, expect, test } from "vitest";
import { defineAuth } from "../../src/contract/auth.ts";
import { database } from "../support/database.ts";
import { migrateAuth } from "../support/plugin-tables.ts";
import { studio } from "./test-studio.ts";

const plain = database("platform");
const db = database("platform");
const [opened, openedPlain] = [studio(db), studio(plain)];
const users = `insert into auth."user" (id, name, email) select n, n, n || '@example.com' from unnest($1::text[]) n`;
beforeAll(async () => {
  const plugins = [admin(), deviceAuthorization()];
  await migrateAuth(db, defineAuth({ betterAuth: (defaults) => ({ ...defaults, plugins }) }));
  await Promise.all([plain, db].map((one) => one.sql(users, [["boss", "ann"]])));
});

const session = `insert into auth.session (id, token, user_id, expires_at, updated_at`;
const values = "values ($1, $1, $2, now() + interval '1 hour', now()";
const left = () =>
  db.sql<{ id: string }>("select id from auth.session order by id").then((all) => all.map(({ id }) => id));
const ends = async (user: string, only: string | null, one = db) =>
  (await one.sql("select svc_private.act_end_sessions($1, $2) as ended", [user, only]))[0]?.ended;

test("all sessions of an administrator include the visits, and devices that were approved", async () => {
  for (const [id, user, visitor] of [
    ["ann's", "ann", null],
    ["boss's", "boss", null],
    ["boss's second", "boss", null],
    ["visit", "ann", "boss"],
  ]) {
    await db.sql(`${session}, impersonated_by) ${values}, $3)`, [id, user, visitor]);
  }
  await db.sql(`insert into auth.device_code (id, device_code, user_code, user_id, expires_at, status)
    values ('d', 'd', 'd', 'boss', now() + interval '1 hour', 'approved')`);
  expect(await ends("boss", "boss's")).toBe(1);
  expect(await left()).toEqual(["ann's", "boss's second", "visit"]);
  expect(await ends("boss", null)).toBe(2);
  expect(await left()).toEqual(["ann's"]);
  expect(await db.sql("select from auth.device_code")).toEqual([]);
});

test("without these plugins the user's own end", async () => {
  await plain.sql(`${session}) ${values})`, ["boss's", "boss"]);
  expect(await ends("boss", null, plain)).toBe(1);
  expect(await ends("boss", null, plain)).toBe(0);
});

test("the list of a user's sessions names the administrators of visits", async () => {
  await db.sql("delete from auth.session");
  await db.sql(`${session}, impersonated_by) ${values}, null)`, ["own", "ann"]);
  await db.sql(`${session}, impersonated_by) ${values}, $3)`, ["visit", "ann", "boss"]);
  const { sessions } = await opened.ask("person", { id: "ann" });
  expect(sessions.map(({ id, visit }: Record<string, unknown>) => [id, visit])).toEqual([
    ["visit", "boss"],
    ["own", null],
  ]);
  await plain.sql(`${session}) ${values})`, ["own", "ann"]);
  expect((await openedPlain.ask("person", { id: "ann" })).sessions).toMatchObject([{ id: "own", visit: null }]);
});
