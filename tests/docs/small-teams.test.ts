// If this file fails, a company built as in docs/how-to/small-teams.md shows strangers its invoices, or lets them join.
import { expect, test } from "vitest";
import { documented } from "./documented.ts";

const { db, person, call, lint } = documented("docs/how-to/small-teams.md");

test("members share invoices and add members; strangers see nothing and cannot join", async () => {
  const [ann, bob, eve] = await Promise.all(["ann", "bob", "eve"].map(person));
  await call("mutation", eve.token, "companies.found", { name: "Evil" });
  const { id: companyId } = (await call("mutation", ann.token, "companies.found", { name: "Blue" })).body.json;
  const invite = (token: string, userId: string) => call("mutation", token, "companies.invite", { companyId, userId });
  expect((await invite(eve.token, eve.user.id)).status).toBe(403);
  expect((await invite(ann.token, bob.user.id)).status).toBe(200);

  const invoice = await call("mutation", bob.token, "invoices.create", { companyId, title: "Paint" });
  expect(invoice.status).toBe(200);
  expect((await call("mutation", eve.token, "invoices.create", { companyId, title: "Mine" })).status).toBe(403);

  const sees = async (token: string) => {
    const lists = await Promise.all(["companies", "invoices"].map((name) => call("query", token, `${name}.list`)));
    return lists.flatMap(({ body }) =>
      body.json.data.map((row: { name?: string; title?: string }) => row.name ?? row.title),
    );
  };
  expect(await sees(ann.token)).toEqual(["Blue", "Paint"]);
  expect(await sees(bob.token)).toEqual(["Blue", "Paint"]);
  expect(await sees(eve.token)).toEqual(["Evil"]);
});

test("a membership needs an account, and ends with it", async () => {
  const [gus, hal] = await Promise.all(["gus", "hal"].map(person));
  const { id: companyId } = (await call("mutation", gus.token, "companies.found", { name: "Green" })).body.json;
  const invite = (userId: string) => call("mutation", gus.token, "companies.invite", { companyId, userId });
  expect([(await invite("nobody")).body.code, (await invite(hal.user.id)).status]).toEqual(["CONFLICT", 200]);
  await db.sql(`delete from auth."user" where id = $1`, [hal.user.id]);
  expect(await db.sql("select user_id from memberships where company_id = $1", [companyId])).toEqual([
    { user_id: gus.user.id },
  ]);
});

test("SQL of a request joins no company either", async () => {
  const eve = await person("eva");
  await db.sql("insert into companies (id, name) values (99, 'Red')");
  const join = `begin; select set_config('svc.user_id', '${eve.user.id}', true), set_config('role', 'svc_authenticated', true);
    insert into memberships (company_id, user_id) values (99, '${eve.user.id}')`;
  await expect(db.sql(join)).rejects.toThrow("violates row-level security policy");
});

test("the linter has nothing against it", async () => {
  expect(await lint()).toEqual([]);
});
