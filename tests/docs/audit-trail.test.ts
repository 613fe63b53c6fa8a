// If this file fails, an audit trail built as in docs/how-to/audit-trail.md misses changes, or discloses them to
// strangers.
import { expect, test } from "vitest";
import { documented } from "./documented.ts";

const { db, person, call, lint } = documented("docs/how-to/audit-trail.md");

test("every change is noted with who made it, and shown to those who see the row", async () => {
  const [ann, bob] = await Promise.all(["ann", "bob"].map(person));
  const { id } = (await call("mutation", ann.token, "claims.create", { title: "Hail", iban: "DE02" })).body.json;
  await call("mutation", ann.token, "claims.update", { id, title: "Hail and wind", iban: "DE99" });
  expect((await call("mutation", bob.token, "claims.update", { id, title: "Mine" })).status).toBe(404);
  await call("mutation", ann.token, "claims.remove", { id });
  expect((await call("query", ann.token, "claims.history", { id })).status).toBe(404);
  await call("mutation", ann.token, "claims.restore", { id });
  await db.sql("update claims set title = 'Wind'");

  const { data } = (await call("query", ann.token, "claims.history", { id })).body.json;
  const me = ann.user.id;
  expect(data.map(({ actor, operation, changed }: Record<string, object>) => [actor, operation, changed])).toEqual([
    [null, "update", { title: ["Hail and wind", "Wind"] }],
    [me, "update", { deletedAt: [expect.any(String), null] }],
    [me, "update", { deletedAt: [null, expect.any(String)] }],
    [me, "update", { title: ["Hail", "Hail and wind"], iban: null }],
    [me, "insert", expect.objectContaining({ title: [null, "Hail"], iban: null })],
  ]);
  expect((await call("query", bob.token, "claims.history", { id })).status).toBe(404);
  const kept = JSON.stringify(await db.sql("select * from svc_private.history_entries"));
  expect(kept).toContain("Hail");
  expect(kept).not.toMatch(/DE02|DE99/);
});

test("administrators and jobs falsify nothing, and an administrator who acts as a user is told apart", async () => {
  const cho = await person("cho");
  const { id } = (await call("mutation", cho.token, "claims.create", { title: "Fire" })).body.json;
  for (const login of ["system", "admin"] as const) {
    const client = await db.connect(login);
    for (const text of [
      "update svc_private.history_entries set actor = 'bob'",
      "delete from svc_private.history_entries",
    ]) {
      await expect(client.query(text), `${login}: ${text}`).rejects.toMatchObject({ code: "42501" });
    }
  }
  const admin = await db.connect("admin");
  await admin.query("begin");
  await admin.query("select set_config('svc.user_id', $1, true)", [cho.user.id]);
  await admin.query("update claims set title = 'Flood' where id = $1", [id]);
  await admin.query("commit");
  const noted = await db.sql("select actor, login from svc_private.history_entries where row_id = $1 order by id", [
    id,
  ]);
  const [{ name }] = (await admin.query("select session_user as name")).rows;
  expect(noted).toEqual([
    { actor: cho.user.id, login: expect.stringContaining("request") },
    { actor: cho.user.id, login: name },
  ]);
});

test("the linter has nothing against it", async () => expect(await lint()).toEqual([]));
