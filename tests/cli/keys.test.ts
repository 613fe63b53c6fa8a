// If this file fails, an operator cannot see the API keys of users, or cannot end one.
import { beforeAll, expect, test } from "vitest";
import { fixture, svcHere } from "../support/cli.ts";
import { database } from "../support/database.ts";

const db = database();
const run = (...args: string[]) => svcHere(db, fixture, ["keys", ...args], { DATABASE_ADMIN_URL: "" });

beforeAll(async () => {
  await db.sql(
    `insert into auth."user" (id, name, email) values ('ann', 'Ann', 'ann@x.test'), ('bob', 'Bob', 'bob@x.test')`,
  );
  await db.sql(
    `insert into auth.api_key (id, user_id, name, start, hash, scopes, expires_at)
     select n::text, case when n < 3 then 'ann' else 'bob' end, 'key ' || n, 'acme_abc', sha256(n::text::bytea), '{a:b,c:d}',
            now() + '1 day'::interval
       from generate_series(1, 4) n`,
  );
});

test("svc keys lists keys without what opens them, and revokes one or all of a user, with a line for each act", async () => {
  const all = await run("list");
  expect(all.code).toBe(0);
  expect(all.out).toMatch(/ann@x\.test .*acme_abc….*a:b c:d.*never/);
  const ofAnn = await run("list", "--user", "ANN@x.test", "--json");
  expect(
    JSON.parse(ofAnn.out)
      .map(({ id }: { id: string }) => id)
      .sort(),
  ).toEqual(["1", "2"]);
  expect(ofAnn.out).not.toContain("hash");

  expect((await run("revoke")).code).not.toBe(0);
  expect((await run("revoke", "1", "--user", "ann")).code).not.toBe(0);
  expect((await run("revoke", "unknown")).error).toContain("svc keys list");
  expect((await run("revoke", "1")).error).toContain("Revoked 1 API key.");
  expect((await run("revoke", "--user", "bob@x.test")).error).toContain("Revoked 2 API keys.");
  expect(await db.sql("select id from auth.api_key")).toEqual([{ id: "2" }]);
  expect(await db.sql("select act, arguments, outcome from svc.operator_acts order by id")).toEqual([
    { act: "act_revoke_api_keys", arguments: { key: "1" }, outcome: "1 revoked" },
    { act: "act_revoke_api_keys", arguments: { user: "bob@x.test" }, outcome: "2 revoked" },
  ]);
});

test("svc keys names the organization of a service account", async () => {
  await db.sql(`insert into svc.organizations (id, name) values ('acme', 'Acme')`);
  const [{ id } = { id: "" }] = await db.sql<{ id: string }>(
    "insert into svc.service_accounts (org_id, name, role) values ('acme', 'Importer', 'member') returning id",
  );
  await db.sql(
    `insert into auth.api_key (user_id, name, start, hash, scopes, expires_at)
     values ($1, 'CI', 'acme_abc', sha256('service'), '{a:b}', now() + '1 day'::interval)`,
    [id],
  );
  expect((await run("list", "--user", id)).out).toMatch(/Importer of Acme .*CI .*acme_abc…/);
  expect((await run("revoke", "--user", id)).error).toContain("Revoked 1 API key.");
});
