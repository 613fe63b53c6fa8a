// If this file fails, an API key that is made while the account is being deleted makes the deletion fail: each waits for the other.
import { expect, test } from "vitest";
import { database, waitsForLock } from "../support/database.ts";

const db = database();

test("an API key is made while the account is being deleted", async () => {
  await db.sql(`insert into auth."user" (id, name, email) values ('ann', 'Ann', 'ann@example.com')`);
  await db.sql(
    "insert into auth.session (id, user_id, token, expires_at) values ('s', 'ann', 't', now() + interval '1 day')",
  );
  const [deleting, adding] = [await db.connect("auth"), await db.connect("auth")];
  await deleting.query(`begin; select from auth."user" where id = 'ann' for update`);
  const added = adding
    .query("select refused from auth.add_api_key('s', 'ann', 'n', 's', sha256('k'), '{*}', '1 day', 10)")
    .then(
      ({ rows }) => rows,
      (error) => error,
    );
  await expect.poll(() => db.sql(waitsForLock)).toHaveLength(1);
  await deleting.query(`delete from auth."user" where id = 'ann'; commit`);
  expect(await added).toEqual([{ refused: "ended" }]);
});
