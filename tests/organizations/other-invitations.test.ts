// If this file fails, an invitation ends because of another one, of somebody else who leaves, or of its age alone.
import { expect, test } from "vitest";
import { database } from "../support/database.ts";
import { type Person, people } from "./people.ts";

const db = database("platform");
const { users, run, found, add, invited } = people(db);
const states = async (org: string) =>
  Object.fromEntries(
    (await db.sql("select email, state from svc.organization_invitations where org_id = $1", [org])).map((row) => [
      row.email.split("@")[0],
      row.state,
    ]),
  );

test("somebody who leaves ends invitations to the own address, and those to others stay", async () => {
  const [ann, bob] = (await users("ann", "bob")) as [Person, Person];
  const org = await found(ann);
  await invited(ann, org, "other@example.com");
  const own = await invited(ann, org, bob.email);
  await add(org, bob);
  await run(bob, "delete from svc.organization_members where user_id = $1", [bob.id]);
  expect(await states(org)).toMatchObject({ other: "pending" });
  expect(await db.sql("select state from svc.organization_invitations where id = $1", [own])).toEqual([
    { state: "canceled" },
  ]);
});

test("a new invitation marks the one of its address that has expired, and no other one", async () => {
  const [ann] = (await users("ann")) as [Person];
  const org = await found(ann);
  const ids = [];
  for (const name of ["same", "other", "done"]) ids.push(await invited(ann, org, `${name}@example.com`));
  await db.sql("update svc.organization_invitations set expires_at = now() - interval '1 day' where org_id = $1", [
    org,
  ]);
  await db.sql("update svc.organization_invitations set state = 'canceled' where id = $1", [ids[2]]);
  await invited(ann, org, "same@example.com");
  await invited(ann, org, "done@example.com");
  const left = await db.sql(
    "select state from svc.organization_invitations where id = any ($1) order by array_position($1, id)",
    [ids],
  );
  expect(left.map(({ state }) => state)).toEqual(["expired", "pending", "canceled"]);
});

test("the sweep keeps an old invitation that still counts", async () => {
  const [ann] = (await users("ann")) as [Person];
  const org = await found(ann);
  for (const name of ["open", "expired", "canceled"]) await invited(ann, org, `${name}@example.com`);
  await db.sql(
    "update svc.organization_invitations set created_at = '2020-01-01', expires_at = 'tomorrow' where org_id = $1",
    [org],
  );
  await db.sql(
    "update svc.organization_invitations set expires_at = 'yesterday' where org_id = $1 and email ~ 'expired'",
    [org],
  );
  await db.sql("update svc.organization_invitations set state = 'canceled' where org_id = $1 and email ~ 'canceled'", [
    org,
  ]);
  await invited(ann, org, "new@example.com");
  await db.sql("select svc_private.sweep_invitations('30 days', 100)");
  expect(await states(org)).toEqual({ open: "pending", new: "pending" });
});
