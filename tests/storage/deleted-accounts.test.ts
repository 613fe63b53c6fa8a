// If this file fails, an upload that ends while the account of its user is being deleted makes the deletion fail, or the other way
// round: each waits for the other.
import { expect, test } from "vitest";
import { database, waitsForLock } from "../support/database.ts";

const db = database();
const zeros = "0".repeat(64);

test.each([
  [
    "a file of a call is stored",
    "call",
    `svc.store_object($1, gen_random_uuid(), 5, '${zeros}')::text`,
    { code: "SV404" },
  ],
  ["a signed URL is made", "call", `svc.open_upload_url($1, '${zeros}', '1 hour')::text`, { code: "23503" }],
  ["an upload in parts is finished", "parts", `svc_private.finish_upload($1, gen_random_uuid(), 5, '${zeros}')`, false],
])("%s while the account is being deleted", async (_what, kind, call, outcome) => {
  await db.sql(`insert into auth."user" (id, name, email) values ('ann', 'Ann', 'ann@example.com')`);
  const [{ id } = { id: "" }] = await db.sql(
    `select id from svc_private.reserve_upload('ann', false, $1, 'a.bin', 'a/b', 'private', 5, '1 hour', 10, null, null)`,
    [kind],
  );
  const [deleting, storing] = [await db.connect("auth"), await db.connect("system")];
  await storing.query("set svc.user_id = 'ann'");
  await deleting.query(`begin; select from auth."user" where id = 'ann' for update`);
  const stored = storing.query(`select ${call} as it`, [id]).then(
    ({ rows }) => rows[0].it,
    (error) => error,
  );
  await expect.poll(() => db.sql(waitsForLock)).toHaveLength(1);
  await deleting.query(`delete from auth."user" where id = 'ann'; commit`);
  if (typeof outcome === "object") expect(await stored).toMatchObject(outcome);
  else expect(await stored).toBe(outcome);
});
