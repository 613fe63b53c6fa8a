// If this file fails, invitations become a way to send mails to strangers without a limit, or a key does more than its scopes say.
import { expect, test } from "vitest";
import { database } from "../support/database.ts";
import { type Person, people } from "./people.ts";

const db = database("platform");
const { users, run, found, invite, invited, accept } = people(db);

test("invitations count for the limits after their organization was deleted", async () => {
  const [ann] = (await users("ann")) as [Person];
  for (let at = 0; at < 5; at++) {
    await invited(ann, await found(ann), "target@example.com");
    await run(ann, "delete from svc.organizations");
  }
  expect(await db.sql("select from svc.organization_invitations")).toEqual([]);
  expect(await invite(ann, await found(ann), "target@example.com")).toBe("AP429");
  expect(await invite(ann, await found(ann), "other@example.com")).toHaveLength(1);
});

test("no account alone keeps an address from being invited, and many send it so many mails at most", async () => {
  const strangers = await users(...Array.from({ length: 10 }, () => "stranger"));
  for (const stranger of strangers.slice(1)) {
    for (let at = 0; at < 5; at++) await invited(stranger, await found(stranger), "busy@example.com");
    expect(await invite(stranger, await found(stranger), "busy@example.com")).toBe("AP429");
  }
  const [bob] = (await users("bob")) as [Person];
  for (let at = 0; at < 5; at++) await invited(bob, await found(bob), "busy@example.com");
  expect(await invite(strangers[0] as Person, await found(bob), "busy@example.com")).not.toHaveLength(1);
  expect(await invite(strangers[0] as Person, await found(strangers[0] as Person), "busy@example.com")).toBe("AP429");
});

test.for([
  ["Ac\u200bme", "a space of no width"],
  ["\u202eemcA", "reversed text"],
  ["Acme\nInc", "a second line"],
  ["Ac\u200cme", "a joiner between Latin letters"],
  ["\u200d", "nothing to see"],
  ["\u3164", "a filler"],
  ["\u00a0\u3000", "nothing but wide spaces"],
  ["Acme\ufe0f", "a variant of no look"],
])("a name such as %j, with %s, is refused", async ([name]) => {
  const [gil] = (await users("gil")) as [Person];
  expect(await run(gil, "select svc.create_organization($1)", [name])).toBe("23514");
  const org = await found(gil);
  expect(await run(gil, "update svc.organizations set name = $2 where id = $1", [org, name])).toBe("23514");
});

test.for(["می‌خواهم", "Bücher & Söhne", "👩‍💻 Lab", "❤️ Hearts", "株式会社"])("the name %s is taken", async (name) => {
  const [hal] = (await users("hal")) as [Person];
  expect(await found(hal, name)).toBeTruthy();
});

test("no user has an id that reads as another one's with scopes", async () => {
  const [ian] = (await users("ian")) as [Person];
  const add = db.sql(
    "insert into auth.\"user\" (id, name, email, email_verified) values ($1, 'x', 'x@example.com', true)",
    [`${ian.id}\tkey\t*`],
  );
  await expect(add).rejects.toThrow("user_id_check");
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
