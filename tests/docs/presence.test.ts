// If this file fails, presence as in docs/how-to/presence.md shows strangers who is online, or lets members speak for others.
import { expect, test } from "vitest";
import { documented } from "./documented.ts";

const { db, person, call, lint } = documented("docs/how-to/presence.md");

test("members see who is online and types; strangers see nothing, and nobody beats for another team", async () => {
  const [ann, bob, eve] = await Promise.all(["ann", "bob", "eve"].map(person));
  await db.sql(
    "insert into memberships (team_id, user_id, name) values (1, $1, 'ann'), (1, $2, 'bob'), (2, $3, 'eve')",
    [ann.user.id, bob.user.id, eve.user.id],
  );
  const beat = async ({ token }: { token: string }, args: object) =>
    (await call("mutation", token, "presence.beat", { teamId: 1, ...args })).status;
  const seen = async ({ token }: { token: string }) =>
    (await call("query", token, "presence.now", { teamId: 1 })).body.json.map(
      ({ name, typing }: { name: string; typing: boolean }) => `${name}${typing ? " types" : ""}`,
    );
  expect(await seen(bob)).toEqual([]);
  expect([await beat(ann, { typing: true }), await beat(bob, {}), await beat(eve, {})]).toEqual([200, 200, 403]);
  expect(await seen(bob)).toEqual(["ann types", "bob"]);
  expect(await seen(eve)).toEqual([]);
  expect(await beat(ann, {})).toBe(200);
  expect(await seen(bob)).toEqual(["ann types", "bob"]);
  expect(await beat(ann, { typing: false })).toBe(200);
  await db.sql("update presence set seen_at = now() - interval '2 minutes', name = 'bobby' where user_id = $1", [
    bob.user.id,
  ]);
  expect(await seen(ann)).toEqual(["ann"]);
  expect(await beat(bob, {})).toBe(200);
  expect(await seen(ann)).toEqual(["ann", "bob"]); // the name of the account, not that of the row
});

test("SQL of a request cannot make another member type", async () => {
  const [cleo, dan] = await Promise.all(["cleo", "dan"].map(person));
  await db.sql("insert into memberships (team_id, user_id, name) values (3, $1, 'cleo'), (3, $2, 'dan')", [
    cleo.user.id,
    dan.user.id,
  ]);
  await call("mutation", dan.token, "presence.beat", { teamId: 3 });
  const as = `begin; select set_config('svc.user_id', '${cleo.user.id}', true), set_config('role', 'svc_authenticated', true);`;
  await db.sql(`${as} update presence set typed_at = now(); commit`);
  expect(await db.sql("select from presence where typed_at is not null")).toEqual([]);
  const speak = `${as} insert into presence (team_id, user_id, name, seen_at) values (3, 'x', 'x', now())`;
  await expect(db.sql(speak)).rejects.toThrow("violates row-level security policy");
});

test("the linter has nothing against it", async () => {
  expect(await lint()).toEqual([]);
});
