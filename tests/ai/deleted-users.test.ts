/**
 * If this file fails, users who spend their credits and are deleted stop the AI calls of the system, or what a worker stores for them
 * makes the deletion fail.
 */
import { expect, test } from "vitest";
import { database, waitsForLock } from "../support/database.ts";

const db = database();

const reserve = async (user: string | null) =>
  (await db.sql("select svc_private.reserve_credits($1, 'chat', 'm', 6, 100, 10) as id", [user]))[0]?.id;

test("what a deleted user spent counts neither for the system nor for anonymous callers", async () => {
  await db.sql(`insert into auth."user" (id, name, email) values ('ann', 'Ann', 'ann@example.com')`);
  expect(await reserve("ann")).toBeDefined();
  await db.sql(`delete from auth."user" where id = 'ann'`);
  expect(await reserve(null)).toBeDefined();
  await expect(reserve(null)).rejects.toMatchObject({ code: "SV402" });
});

test.each([
  [
    "a transcription is completed",
    (reservation: unknown) => [
      "select svc_private.complete_transcription('00000000-0000-4000-8000-000000000001', 'text', $1, 1)::text as it",
      [reservation],
    ],
    "",
  ],
  [
    "a conversion is kept",
    (reservation: unknown) => [
      "select svc_private.keep_conversion('bob', repeat('0', 64), 'o', '{}', $1)::text as it",
      [JSON.stringify([{ id: reservation, amount: 1 }])],
    ],
    { code: "23503" },
  ],
] as const)("%s while the account is being deleted", async (_what, statement, outcome) => {
  await db.sql(`insert into auth."user" (id, name, email) values ('bob', 'Bob', 'bob@example.com')`);
  const reservation = await reserve("bob");
  await db.sql(
    `insert into svc.storage_objects (id, user_id, name, size, type, sha256)
     values ('00000000-0000-4000-8000-000000000002', 'bob', 'a', 1, 'audio/wav', repeat('0', 64))`,
  );
  await db.sql(
    `insert into svc.ai_transcriptions (id, user_id, storage_id, model)
     values ('00000000-0000-4000-8000-000000000001', 'bob', '00000000-0000-4000-8000-000000000002', 'local-m')`,
  );
  await db.sql("select svc_private.claim_conversion('bob', repeat('0', 64), 'o', '1 hour')");
  const [deleting, storing] = [await db.connect("admin"), await db.connect("system")];
  // In the order of the deletion: the user, the ledger, then transcriptions and conversions.
  await deleting.query(`begin; select from auth."user" where id = 'bob' for update`);
  await deleting.query("update svc.ai_ledger set user_id = null where user_id = 'bob'");
  const [text, values] = statement(reservation);
  const stored = storing.query(text as string, values as unknown[]).then(
    ({ rows }) => rows[0].it,
    (error) => error,
  );
  await expect.poll(() => db.sql(waitsForLock)).toHaveLength(1);
  await deleting.query(`delete from auth."user" where id = 'bob'; commit`);
  if (typeof outcome === "object") expect(await stored).toMatchObject(outcome);
  else expect(await stored).toBe(outcome);
});
