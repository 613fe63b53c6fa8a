// If this file fails, nobody can tell afterwards which administrator changed a row while acting as its user.
import { admin } from "better-auth/plugins";
import { afterAll, beforeAll, expect, test } from "vitest";
import { defineAuth } from "../../src/contract/auth.ts";
import { database } from "../support/database.ts";
import { migrateAuth } from "../support/plugin-tables.ts";
import { TestService } from "../support/service.ts";
import { api, installAll, schema } from "./application.ts";

const db = database();
const auth = defineAuth({ betterAuth: (defaults) => ({ ...defaults, plugins: [admin()] }) });
const app = new TestService(db, api, {}, schema, undefined, auth);
beforeAll(async () => {
  await migrateAuth(db, auth);
  await installAll(db);
  await app.start();
});
afterAll(() => app.stop());

test("operators see which administrator made a change in a visit, by a session token and by a JWT", async () => {
  const [ann, boss] = [await app.signUp("ann"), await app.signUp("boss")];
  await db.sql(`update auth."user" set role = 'admin' where id = $1`, [boss.id]);
  const asBoss = { ...boss, token: boss.sessionToken };
  const { body } = await app.post("/api/auth/admin/impersonate-user", { userId: ann.id }, asBoss);
  const visit = { ...ann, token: body.sessionToken };
  const jwt = { ...ann, token: (await app.post("/api/auth/token", {}, visit)).body.token };
  for (const caller of [ann, visit, jwt]) await app.mutate(caller, "invoices.create", { title: "Hail" });
  const list = (actor: string) =>
    db.sql("select actor, via from svc_private.list_history(null, null, $1, null, null, 9)", [actor]);
  const made = { actor: ann.id, via: `svc request, visit of ${boss.id}` };
  expect(await list(ann.id)).toEqual([made, made, { actor: ann.id, via: "svc request" }]);
  expect(await list(boss.id)).toEqual([made, made]);
  const ofStudio = "select actor, via from svc_private.studio_audit('public.invoices', null, null, 1)";
  expect(await db.sql(ofStudio)).toEqual([made]);
  // The owner of the row sees the user alone.
  const [row] = await db.sql("select row_id as id from svc_private.history_entries where impersonated_by is not null");
  const { data } = (await app.query(ann, "invoices.history", { id: row?.id })).body.json;
  expect(data).toEqual([expect.objectContaining({ actor: ann.id })]);
  expect(JSON.stringify(data)).not.toContain(boss.id);
});
