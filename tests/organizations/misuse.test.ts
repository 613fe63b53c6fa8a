// If this file fails, invitations become a way to send mails to strangers without a limit, or a key does more than its scopes say.
import { expect, test } from "vitest";
import { database } from "../support/database.ts";
import { type Person, people } from "./people.ts";

const db = database("platform");
const { users, run, found, invite, invited, accept } = people(db);

test("invitations count for the limits after their organization was deleted", async () => {
  const [ann, bob] = (await users("ann", "bob")) as [Person, Person];
  for (let at = 0; at < 10; at++) {
    await invited(ann, await found(ann), "target@example.com");
    await run(ann, "delete from svc.organizations");
  }
  expect(await db.sql("select from svc.organization_invitations")).toEqual([]);
  expect(await invite(ann, await found(ann), "target@example.com")).toBe("AP429");
  expect(await invite(bob, await found(bob), "target@example.com")).toBe("AP429");
  expect(await invite(bob, await found(bob), "other@example.com")).toHaveLength(1);
});

test.for([
  "a@example.com,b@example.com",
  "a@example.com; b@example.com",
  "Ann <a@example.com>",
  "a@example.com\r\nbcc: b@example.com",
  "a@example.com b@example.com",
  "a@@example.com",
  '"a b"@example.com',
  "\u202ea@example.com",
  "a\u200b@example.com",
  "a@example.com\t",
  "@example.com",
])("%j is not one address", async (email) => {
  const [cat] = (await users("cat")) as [Person];
  expect(await invite(cat, await found(cat), email)).toBe("AP400");
});

test.for(["a+b@example.com", "o'neill_1@mail.example.co.uk", "jörg@bücher.example"])("%s is one", async (email) => {
  const [dan] = (await users("dan")) as [Person];
  expect(await invite(dan, await found(dan), email)).toHaveLength(1);
});

test("an API key makes and joins organizations only with the scope *", async () => {
  const [eve, fay] = (await users("eve", "fay")) as [Person, Person];
  const invitation = await invited(eve, await found(eve), fay.email);
  const key = (scopes: string) => ({ ...fay, id: `${fay.id}\tkey\t${scopes}` });
  expect(await run(key("tickets:write"), "select svc.create_organization('Mine')")).toBe("42501");
  await expect(accept(key("tickets:write"), invitation)).rejects.toThrow("42501");
  expect(await accept(key("*"), invitation)).not.toBe(null);
  expect(await run(key("*"), "select svc.create_organization('Mine')")).toHaveLength(1);
});
