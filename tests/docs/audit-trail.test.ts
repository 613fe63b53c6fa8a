// If this file fails, an audit trail built as in docs/how-to/audit-trail.md misses changes, or discloses them to
// strangers.
import { expect, test } from "vitest";
import { documented } from "./documented.ts";

const { db, person, call, lint } = documented("docs/how-to/audit-trail.md");

test("every change is noted with who made it, and shown to those who see the row", async () => {
  const [ann, bob] = await Promise.all(["ann", "bob"].map(person));
  const { id } = (await call("mutation", ann.token, "claims.create", { title: "Hail" })).body.json;
  await call("mutation", ann.token, "claims.update", { id, title: "Hail and wind" });
  expect((await call("mutation", bob.token, "claims.update", { id, title: "Mine" })).status).toBe(404);
  await call("mutation", ann.token, "claims.remove", { id });
  await call("mutation", ann.token, "claims.restore", { id });
  await db.sql("update claims set title = 'Wind'");

  const history = async (token: string) =>
    (await call("query", token, "history.list", { filters: { claimId: id }, orderBy: "id", orderDir: "asc" })).body.json
      .data;
  const entries = (await history(ann.token)).map(({ actor, action, changed }: Record<string, object>) => [
    actor,
    action,
    changed,
  ]);
  const me = ann.user.id;
  expect(entries).toEqual([
    [me, "insert", expect.objectContaining({ title: [null, "Hail"] })],
    [me, "update", { title: ["Hail", "Hail and wind"] }],
    [me, "update", { deleted_at: [null, expect.any(String)] }],
    [me, "update", { deleted_at: [expect.any(String), null] }],
    [null, "update", { title: ["Hail and wind", "Wind"] }],
  ]);
  expect(await history(bob.token)).toEqual([]);
  expect((await call("query", ann.token, "claims.get", { id })).body.json.title).toBe("Wind");
});

test("jobs as the system and administrators falsify nothing, and an administrator who acts as a user is told apart", async () => {
  const cho = await person("cho");
  const { id } = (await call("mutation", cho.token, "claims.create", { title: "Fire" })).body.json;
  const forge =
    "insert into audit_entries (claim_id, login, action, changed) values (gen_random_uuid(), 'x', 'x', '{}')";
  for (const login of ["system", "admin"] as const) {
    const client = await db.connect(login);
    for (const text of ["update audit_entries set actor = 'bob'", "delete from audit_entries", forge]) {
      await expect(client.query(text), `${login}: ${text}`).rejects.toMatchObject({ code: "AP403" });
    }
  }
  const admin = await db.connect("admin");
  for (const table of ["audit_entries", "claims"]) {
    await expect(admin.query(`truncate ${table}`)).rejects.toMatchObject({ code: "AP403" });
  }
  await admin.query("begin");
  await admin.query("select set_config('svc.user_id', $1, true)", [cho.user.id]);
  await admin.query("update claims set title = 'Flood' where id = $1", [id]);
  await admin.query("commit");
  const noted = await db.sql("select actor, login from audit_entries where claim_id = $1 order by id", [id]);
  const [{ name }] = (await admin.query("select session_user as name")).rows;
  expect(noted).toEqual([
    { actor: cho.user.id, login: expect.stringContaining("request") },
    { actor: cho.user.id, login: name },
  ]);
});

test("the linter has nothing against it", async () => expect(await lint()).toEqual([]));
