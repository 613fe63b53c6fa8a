// If this file fails, some order of calls at the same moment leaves an organization without an owner, keeps an invitation that its
// sender may not send, or is answered with a failure of ours. Random calls of several users; the seed is in the test's name.
import { afterAll, beforeAll, expect, test } from "vitest";
import { database } from "../support/database.ts";
import { TestService, type User } from "../support/service.ts";
import { api, auth, install, schema } from "./application.ts";

const db = database();
const running = new TestService(db, api, {}, schema, undefined, auth);
beforeAll(async () => {
  await install(db);
  await running.start();
});
afterAll(() => running.stop());

async function user(name: string): Promise<User> {
  const { sessionToken, ...others } = await running.signUp(name);
  await db.sql('update auth."user" set email_verified = true where id = $1', [others.id]);
  return { ...others, sessionToken, token: sessionToken };
}

/** Mulberry32. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const seed = Date.now() % 1_000_000;
test(`calls of eight users at once, seed ${seed}`, async () => {
  const random = randomFrom(seed);
  const pick = <T>(all: readonly T[]): T => all[Math.floor(random() * all.length)] as T;
  const people = await Promise.all([..."abcdefgh"].map(user));
  const ids = async (table: string) =>
    (await db.sql<{ id: string }>(`select id from svc.${table}`)).map(({ id }) => id);
  const failures: unknown[] = [];
  const succeeded = new Set<string>();

  async function act(): Promise<void> {
    const at = Math.floor(random() * people.length);
    const who = people[at] as User;
    const [orgs, members] = [await ids("organizations"), await ids("organization_members")];
    const open = await ids("organization_invitations where state = 'pending'");
    const role = pick(["owner", "owner", "admin", "member"]);
    const calls: [name: string, args: object][] = [
      ["organizations.create", { name: "Acme" }],
      ["organizations.leave", { id: pick(orgs) }],
      ["organizations.remove", { id: pick(orgs) }],
      ["organizationMembers.update", { id: pick(members), role }],
      ["organizationMembers.remove", { id: pick(members) }],
      ["organizationInvitations.create", { orgId: pick(orgs), email: pick(people).email, role }],
      ["organizationInvitations.cancel", { id: pick(open) }],
      ["organizationInvitations.reject", { id: pick(open) }],
      ["delete-user", {}],
    ];
    // Few random invitations meet their person.
    const mine =
      "organization_invitations i where i.state = 'pending' and exists (select from auth.\"user\" u where u.email = i.email";
    const own = pick(await ids(`${mine} and u.id = '${who.id}')`));
    const few = orgs.length < 3 && calls[0];
    const [name, args] = few || (own && random() < 0.7 ? ["organizationInvitations.accept", { id: own }] : pick(calls));
    const { status, body } =
      name === "delete-user"
        ? await running.post("/api/auth/delete-user", { password: "correct horse" }, who)
        : await running.mutate(who, name, args);
    if (status >= 500) failures.push([name, body]);
    if (status === 200) succeeded.add(name);
    if (status === 200 && name === "delete-user") people[at] = await user("new");
  }

  const caller = async () => {
    for (let at = 0; at < 120; at++) await act();
  };
  await Promise.all(Array.from({ length: 10 }, caller));

  expect(failures).toEqual([]);
  expect([...succeeded]).toContain("organizationInvitations.accept");
  expect(
    await db.sql(`select id from svc.organizations o where not exists (
      select from svc.organization_members m where m.org_id = o.id and m.role = 'owner')`),
  ).toEqual([]);
  // One that was made while its sender was demoted stays, and does not count.
  const unsendable = await db.sql<{
    id: string;
    email: string;
  }>(`select i.id, i.email from svc.organization_invitations i
    where i.state = 'pending' and not exists (select from svc.organization_members m
      where m.org_id = i.org_id and m.user_id = i.invited_by and svc_private.may_offer(m.role, i.role))`);
  for (const { id, email } of unsendable) {
    const invited = people.find((one) => one.email === email);
    if (invited) expect((await running.mutate(invited, "organizationInvitations.accept", { id })).status).toBe(404);
  }
}, 120_000);
