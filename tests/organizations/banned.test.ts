// If this file fails, somebody who is banned lets another account of theirs into the organization.
import { expect, test } from "vitest";
import { serviceAccountsWorld } from "./service-accounts-world.ts";

const { db, app, made } = serviceAccountsWorld();

test("an invitation of a banned member is not accepted while the ban lasts", async () => {
  const [owner, guest] = [await app.signUp("owner"), await app.signUp("guest")];
  await db.sql(`update auth."user" set email_verified = true where id = $1`, [guest.id]);
  const { id: orgId } = await made(owner, "organizations.create", { name: "Acme" });
  const { id } = await made(owner, "organizationInvitations.create", { orgId, email: guest.email, role: "owner" });
  const asGuest = { ...guest, token: guest.sessionToken };
  await db.sql('update auth."user" set banned = true where id = $1', [owner.id]);
  expect((await app.mutate(asGuest, "organizationInvitations.accept", { id })).status).toBe(404);
  await db.sql('update auth."user" set banned = false where id = $1', [owner.id]);
  expect(await made(asGuest, "organizationInvitations.accept", { id })).toEqual({ orgId });
});
