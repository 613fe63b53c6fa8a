// If this file fails, an organization is left without an owner, an invitation counts twice, or somebody joins by the word of a
// member who was removed at the same moment. Two transactions are held open at the same time, in both orders.
import { expect, test } from "vitest";
import { database, waitsForLock } from "../support/database.ts";
import { until } from "../support/worker.ts";
import { type Person, people } from "./people.ts";

const db = database("platform");
const { users, begin, outcome, found, add, invite, invited, accept, accepting, members } = people(db);

type Step = [who: Person, text: string, values: unknown[]];

/**
 * Runs both at once: the second begins while the first is open.
 *
 * @param waits whether the second waits for the first; otherwise it commits before the first
 * @returns what became of both
 */
async function race(first: Step, second: Step, waits = true) {
  const [one, two] = [await begin(first[0]), await begin(second[0])];
  await one.query(first[1], first[2]);
  const answer = outcome(two, second[1], second[2]);
  if (waits) await until(async () => (await db.sql(waitsForLock)).length > 0);
  else await answer;
  const winner = await outcome(one, "select");
  const loser = await answer;
  return [winner, loser].map((rows) => (typeof rows === "string" ? rows : "done"));
}

const leave = (who: Person): Step => [who, "delete from svc.organization_members where user_id = $1", [who.id]];
const setRole = (by: Person, of: Person, role: string): Step => [
  by,
  "update svc.organization_members set role = $2 where user_id = $1",
  [of.id, role],
];
const remove = (by: Person, of: Person): Step => [
  by,
  "delete from svc.organization_members where user_id = $1",
  [of.id],
];
const accepts = (who: Person, invitation: string): Step => [who, accepting, [invitation]];

async function twoOwners() {
  const [ann, bob] = (await users("ann", "bob")) as [Person, Person];
  const org = await found(ann);
  await add(org, bob, "owner");
  return { ann, bob, org };
}

test("of two owners who leave at once, one stays", async () => {
  const { ann, bob, org } = await twoOwners();
  expect(await race(leave(ann), leave(bob))).toEqual(["done", "AP409"]);
  expect(await members(org)).toEqual({ bob: "owner" });
});

test("of two owners who demote each other at once, one stays", async () => {
  const { ann, bob, org } = await twoOwners();
  expect(await race(setRole(ann, bob, "member"), setRole(bob, ann, "member"))).toEqual(["done", "AP409"]);
  expect(await members(org)).toEqual({ ann: "owner", bob: "member" });
});

test("of two owners who delete their accounts at once, one stays", async () => {
  const { ann, bob, org } = await twoOwners();
  const [one, two] = [await db.connect("auth"), await db.connect("auth")];
  for (const client of [one, two]) await client.query("begin");
  const text = 'delete from auth."user" where id = $1';
  await one.query(text, [ann.id]);
  const answer = outcome(two, text, [bob.id]);
  await until(async () => (await db.sql(waitsForLock)).length > 0);
  expect([await outcome(one, "select"), await answer]).toEqual([[{}], "AP409"]);
  expect(await members(org)).toEqual({ bob: "owner" });
});

test("an invitation that is accepted twice at once counts once", async () => {
  const { ann, org } = await twoOwners();
  const [cat] = (await users("cat")) as [Person];
  const id = await invited(ann, org, cat.email);
  const [one, two] = [await begin(cat), await begin(cat)];
  const first = await one.query(accepting, [id]);
  const answer = outcome(two, accepting, [id]);
  await until(async () => (await db.sql(waitsForLock)).length > 0);
  await outcome(one, "select");
  expect([first.rows, await answer]).toEqual([[{ org }], [{ org: null }]]);
});

test("of two invitations of an address at once, one is made", async () => {
  const { ann, bob, org } = await twoOwners();
  const inviting = (who: Person): Step => [
    who,
    "select svc.invite_to_organization($1, 'x@example.com', 'member')",
    [org],
  ];
  expect(await race(inviting(ann), inviting(bob))).toEqual(["done", "23505"]);
});

test("who is removed while an invitation of theirs is accepted has either invited in time, or not", async () => {
  const { ann, bob, org } = await twoOwners();
  const [dan, eve] = (await users("dan", "eve")) as [Person, Person];
  const [ofDan, ofEve] = [await invited(bob, org, dan.email), await invited(bob, org, eve.email, "admin")];
  expect(await race(accepts(dan, ofDan), setRole(ann, bob, "member"))).toEqual(["done", "done"]);
  expect(await accept(eve, ofEve)).toBe(null);

  const [fay, gil] = (await users("fay", "gil")) as [Person, Person];
  await add(org, fay, "admin");
  const ofGil = await invited(fay, org, gil.email);
  expect(await race(remove(ann, fay), accepts(gil, ofGil))).toEqual(["done", "done"]);
  expect(await members(org)).toEqual({ ann: "owner", bob: "member", dan: "member" });
});

test("who is demoted while inviting has no invitation that counts", async () => {
  const { ann, bob, org } = await twoOwners();
  const [hal] = (await users("hal")) as [Person];
  // The invitation is not yet visible to the demotion, which cannot cancel it.
  const inviting: Step = [bob, "select svc.invite_to_organization($1, $2, 'owner')", [org, hal.email]];
  expect(await race(inviting, setRole(ann, bob, "admin"), false)).toEqual(["done", "done"]);
  const [row] = await db.sql("select id from svc.organization_invitations where email = $1", [hal.email]);
  expect(await accept(hal, row?.id)).toBe(null);
});

test("an admin demotes nobody who becomes an owner at the same moment", async () => {
  const { ann, org } = await twoOwners();
  const [ida, jo] = (await users("ida", "jo")) as [Person, Person];
  await add(org, ida, "admin");
  await add(org, jo);
  expect(await race(setRole(ann, jo, "owner"), remove(ida, jo))).toEqual(["done", "done"]);
  expect(await members(org)).toMatchObject({ jo: "owner" });
});

test("an organization that is deleted while somebody joins is gone, with all its rows", async () => {
  const { ann, org } = await twoOwners();
  const [kim] = (await users("kim")) as [Person];
  const id = await invited(ann, org, kim.email);
  const deleting: Step = [ann, "delete from svc.organizations where id = $1", [org]];
  expect(await race(accepts(kim, id), deleting)).toEqual(["done", "done"]);
  expect(await members(org)).toEqual({});
});

test("the limit of a day holds for invitations at once", async () => {
  const { ann, org } = await twoOwners();
  const many =
    "select svc.invite_to_organization($1, 'g' || n || '@example.com', 'member') from generate_series(1, 99) n";
  const [one, two, three] = [await begin(ann), await begin(ann), await begin(ann)];
  await one.query(many, [org]);
  const later = [two, three].map((client, at) =>
    outcome(client, "select svc.invite_to_organization($1, $2, 'member')", [org, `late${at}@example.com`]),
  );
  await until(async () => (await db.sql(waitsForLock)).length === 2);
  await outcome(one, "select");
  const answers = (await Promise.all(later)).map((rows) => (typeof rows === "string" ? rows : "done")).sort();
  expect(answers).toEqual(["AP429", "done"]);
  expect(await invite(ann, org, "last@example.com")).toBe("AP429");
});

test("an organization is deleted between two statements of somebody who joins, and neither fails", async () => {
  const { ann, org } = await twoOwners();
  const [lou] = (await users("lou")) as [Person];
  const id = await invited(ann, org, lou.email);
  await db.sql(`create function public.pause() returns trigger language plpgsql as $$
      begin perform pg_advisory_xact_lock(42); return null; end $$;
    create trigger pause after update on svc.organization_invitations for each row execute function public.pause();
    select pg_advisory_lock(42)`);
  const [joining, deleting] = [await begin(lou), await begin(ann)];
  const joined = outcome(joining, accepting, [id]);
  await until(async () => (await db.sql(waitsForLock)).length === 1);
  const deleted = outcome(deleting, "delete from svc.organizations where id = $1", [org]);
  await until(async () => (await db.sql(waitsForLock)).length === 2);
  await db.sql("select pg_advisory_unlock(42); drop trigger pause on svc.organization_invitations");
  expect([await joined, await deleted]).toEqual([[{ org }], []]);
});

test("an account that creates organizations at once owns a hundred at most", async () => {
  const [mia] = (await users("mia")) as [Person];
  await db.sql(
    `with made as (insert into svc.organizations (name) select 'Acme' from generate_series(1, 99) returning id)
     insert into svc.organization_members (org_id, user_id, role) select id, $1, 'owner' from made`,
    [mia.id],
  );
  const create: Step = [mia, "select svc.create_organization('Acme')", []];
  expect(await race(create, create)).toEqual(["done", "AP429"]);
});

test("an organization that gets service accounts at once has twenty at most", async () => {
  const [noa, pia] = (await users("noa", "pia")) as [Person, Person];
  const org = await found(noa);
  await add(org, pia, "owner");
  const text = "insert into svc.service_accounts (org_id, name, role) values ($1, 'x', 'member')";
  for (let n = 0; n < 19; n++) await db.sql(text, [org]);
  expect(await race([noa, text, [org]], [pia, text, [org]])).toEqual(["done", "AP409"]);
});

test("who joins while changing the address is a member with the new one", async () => {
  const { org } = await twoOwners();
  const [kim] = (await users("kim")) as [Person];
  const changing = await db.connect("admin");
  await changing.query("begin");
  await changing.query(`update auth."user" set email = 'new@example.com' where id = $1`, [kim.id]);
  const [joining, joined] = [
    await db.connect("admin"),
    "select email from svc.organization_members where user_id = $1",
  ];
  const added = joining.query(
    "insert into svc.organization_members (org_id, user_id, role) values ($1, $2, 'member')",
    [org, kim.id],
  );
  await until(async () => (await db.sql(waitsForLock)).length === 1);
  await changing.query("commit");
  await added;
  expect(await db.sql(joined, [kim.id])).toEqual([{ email: "new@example.com" }]);
});
