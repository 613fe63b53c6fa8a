// If this file fails, invitations as in docs/how-to/invitations.md let people join who were not invited.
import { expect, test } from "vitest";
import { documented } from "./documented.ts";

const { db, person, call, lint } = documented("docs/how-to/invitations.md");

test("the owner of a verified address joins once; others, and strangers of the team, do not", async () => {
  const [ann, bob, eve] = await Promise.all(["ann", "bob", "eve"].map(person));
  await db.sql("insert into memberships (team_id, user_id) values (7, $1)", [ann.user.id]);
  const invite = async ({ token }: { token: string }, email: string) =>
    (await call("mutation", token, "invitations.create", { teamId: 7, email })).status;
  // By the session token: verifying the address ends the JWT.
  const accept = async ({ sessionToken }: { sessionToken: string }, id: string) => {
    const { status, body } = await call("mutation", sessionToken, "invitations.accept", { id });
    return status === 200 ? body.json : status;
  };
  expect(await invite(eve, "eve@example.com")).toBe(403);
  expect(await invite(ann, "Bob@Example.com")).toBe(200);
  expect(await invite(ann, "bob@example.com")).toBe(409);
  const [{ id }] = (await db.sql<{ id: string }>("select id from invitations")) as [{ id: string }];

  await db.sql(`update auth."user" set email_verified = true where id = $1`, [eve.user.id]);
  expect([await accept(eve, id), await accept(bob, id)]).toEqual([404, 404]);
  await db.sql(`update auth."user" set email_verified = true where id = $1`, [bob.user.id]);
  expect([await accept(bob, id), await accept(bob, id)]).toEqual([{ teamId: 7 }, 404]);
  expect(
    await db.sql("select user_id from memberships where team_id = 7 order by user_id = $1", [bob.user.id]),
  ).toEqual([{ user_id: ann.user.id }, { user_id: bob.user.id }]);
});

test("an address is invited again after a day, also when its invitation has expired", async () => {
  const [fay, gil] = await Promise.all(["fay", "gil"].map(person));
  await db.sql(`update auth."user" set email_verified = true where id = $1`, [gil.user.id]);
  await db.sql("insert into memberships (team_id, user_id) values (9, $1)", [fay.user.id]);
  const invite = async () =>
    (await call("mutation", fay.token, "invitations.create", { teamId: 9, email: gil.user.email })).status;
  expect([await invite(), await invite()]).toEqual([200, 409]);
  const [{ id }] = (await db.sql<{ id: string }>(
    "update invitations set sent_at = now() - interval '8 days' where team_id = 9 returning id",
  )) as [{ id: string }];
  const accept = async () => (await call("mutation", gil.sessionToken, "invitations.accept", { id })).status;
  expect(await accept()).toBe(404);
  expect([await invite(), await accept()]).toEqual([200, 200]);
});

test("an invitation ends when the member who sent it leaves the team, and counts again if another member renews it", async () => {
  const [hal, ida, jo] = await Promise.all(["hal", "ida", "jo"].map(person));
  await db.sql(`update auth."user" set email_verified = true where id = $1`, [jo.user.id]);
  await db.sql("insert into memberships (team_id, user_id) values (10, $1), (10, $2)", [hal.user.id, ida.user.id]);
  const invite = async ({ token }: { token: string }) =>
    (await call("mutation", token, "invitations.create", { teamId: 10, email: jo.user.email })).status;
  expect(await invite(hal)).toBe(200);
  const [{ id }] = (await db.sql<{ id: string }>("select id from invitations where team_id = 10")) as [{ id: string }];
  await db.sql("delete from memberships where user_id = $1", [hal.user.id]);
  const accept = async () => (await call("mutation", jo.sessionToken, "invitations.accept", { id })).status;
  expect(await accept()).toBe(404);
  await db.sql("update invitations set sent_at = now() - interval '2 days' where id = $1", [id]);
  expect([await invite(ida), await accept()]).toEqual([200, 200]);
});

test("a member is not invited, so an old invitation brings no removed member back", async () => {
  const [kit, lou, mia] = await Promise.all(["kit", "lou", "mia"].map(person));
  await db.sql("insert into memberships (team_id, user_id) values (11, $1), (11, $2)", [kit.user.id, lou.user.id]);
  const invite = async ({ token }: { token: string }) =>
    (await call("mutation", token, "invitations.create", { teamId: 11, email: lou.user.email })).status;
  // A stranger gets the same answer for every address.
  expect([await invite(kit), await invite(mia)]).toEqual([409, 403]);
});

test("a membership ends with the account", async () => {
  const [ned, oli] = await Promise.all(["ned", "oli"].map(person));
  await db.sql("insert into memberships (team_id, user_id) values (12, $1), (12, $2)", [ned.user.id, oli.user.id]);
  await db.sql(`delete from auth."user" where id = $1`, [oli.user.id]);
  expect(await db.sql("select user_id from memberships where team_id = 12")).toEqual([{ user_id: ned.user.id }]);
});

test("a team sends 50 invitations a day, also if many are sent at once", async () => {
  const cleo = await person("cleo");
  await db.sql("insert into memberships (team_id, user_id) values (8, $1)", [cleo.user.id]);
  await db.sql(
    "insert into invitations (team_id, invited_by, email) select 8, 'x', n || '@example.com' from generate_series(1, 45) n",
  );
  const answers = await Promise.all(
    Array.from({ length: 40 }, (_, n) =>
      call("mutation", cleo.token, "invitations.create", { teamId: 8, email: `dan${n}@example.com` }),
    ),
  );
  const refused = answers.filter(({ status }) => status !== 200);
  expect(refused.map(({ status, body }) => [status, body.code])).toEqual(Array(35).fill([429, "RATE_LIMITED"]));
});

test("the linter has nothing against it", async () => {
  expect(await lint()).toEqual([]);
});
