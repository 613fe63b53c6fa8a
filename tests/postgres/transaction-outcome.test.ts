// If this file fails, a transaction is taken for committed, or for lost, by a server that cannot know it.
import { expect, test } from "vitest";
import { database } from "../support/database.ts";

const db = database();

/** @returns the id of a transaction that has ended */
async function transaction(how: "commit" | "rollback"): Promise<string> {
  const client = await db.connect("admin");
  await client.query("begin");
  const { rows } = await client.query("select pg_current_xact_id()::text as id");
  await client.query(how);
  return rows[0].id;
}
const outcome = async (id: string, server: string | null, place: string | null) => {
  const text = `select svc.transaction_outcome($1::text::xid8, coalesce($2, svc.server_incarnation()), $3) as it`;
  return (await db.sql(text, [id, server, place]))[0]?.it;
};

test("the server that ran it knows both ends", async () => {
  expect(await outcome(await transaction("commit"), null, null)).toBe("committed");
  expect(await outcome(await transaction("rollback"), null, null)).toBe("aborted");
});

test("another server believes no commit under the same id, and every end without one", async () => {
  expect(await outcome(await transaction("commit"), "another", null)).toBeNull();
  expect(await outcome(await transaction("commit"), "another", "0/1")).toBeNull(); // it has recovered nothing
  expect(await outcome(await transaction("rollback"), "another", null)).toBe("aborted");
});

test("an id that was not given out yet is of a transaction that was lost", async () => {
  expect(await outcome("9000000000", "another", null)).toBe("aborted");
});
