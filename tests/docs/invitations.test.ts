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

test("the membership of a deleted account ends with it", async () => {
  const gus = await person("gus");
  await db.sql("insert into memberships (team_id, user_id) values (6, $1)", [gus.user.id]);
  await db.sql(`delete from auth."user" where id = $1`, [gus.user.id]);
  expect(await db.sql("select from memberships where team_id = 6")).toEqual([]);
});

test("a team sends 50 invitations a day, also at once", async () => {
  const cleo = await person("cleo");
  await db.sql("insert into memberships (team_id, user_id) values (8, $1)", [cleo.user.id]);
  await db.sql(
    "insert into invitations (team_id, invited_by, email) select 8, 'x', n || '@example.com' from generate_series(1, 45) n",
  );
  const answers = await Promise.all(
    Array.from({ length: 15 }, (_, place) =>
      call("mutation", cleo.token, "invitations.create", { teamId: 8, email: `dan${place}@example.com` }),
    ),
  );
  const sent = answers.filter(({ status }) => status === 200);
  const refused = answers.filter(({ status, body }) => status === 429 && body.code === "RATE_LIMITED");
  expect([sent.length, refused.length]).toEqual([5, 10]);
});

test("the linter has nothing against it", async () => {
  expect(await lint()).toEqual([]);
});
