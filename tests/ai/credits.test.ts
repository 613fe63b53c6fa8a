// If this file fails, AI calls cost more than their caps allow, or a call that is lost, or ends twice, is paid or counted wrongly.
import { expect, test } from "vitest";
import { database, waitsForLock } from "../support/database.ts";

const db = database();

/** The row of the ledger, or the SQLSTATE. Each request may cost 100, each user 10 a day. */
const reserve = (user: string | null, amount: number, cap: number | null = 10) =>
  db.sql("select svc_private.reserve_credits($1, 'chat', 'm', $2, 100, $3) as id", [user, amount, cap]).then(
    ([row]) => Number(row?.id),
    ({ code }) => code,
  );
const addUser = (id: string) =>
  db.sql(`insert into auth."user" (id, name, email) values ($1, $1, $1 || '@x.test')`, [id]);

test("a call may reach a cap, and not exceed it", async () => {
  await addUser("ann");
  expect(await reserve("ann", 100.000001, null)).toBe("SV402");
  expect(await reserve(null, 100, null)).toEqual(expect.any(Number));
  expect(await reserve("ann", 4)).toEqual(expect.any(Number));
  expect(await reserve("ann", 6.000001)).toBe("SV402");
  expect(await reserve("ann", 6)).toEqual(expect.any(Number));
});

test("a reservation that nothing settled counts until it expires", async () => {
  await addUser("bob");
  const lost = await reserve("bob", 10);
  expect(await reserve("bob", 1)).toBe("SV402");
  await db.sql("update svc.ai_ledger set expires_at = clock_timestamp() where id = $1", [lost]);
  expect(await reserve("bob", 10)).toEqual(expect.any(Number));
});

test("a user's next call waits for the reservation of the one before", async () => {
  await addUser("cid");
  const first = await db.connect("system");
  await first.query("begin; select svc_private.reserve_credits('cid', 'chat', 'm', 6, 100, 10)");
  const next = reserve("cid", 6);
  const waiting = await db.connect("admin");
  await expect.poll(async () => (await waiting.query(waitsForLock)).rows).toHaveLength(1);
  await first.query("commit");
  expect(await next).toBe("SV402");
});

test("a reservation is charged once, at most its amount, and not after its release", async () => {
  const settle = async (id: number, amount: number) =>
    (await db.sql("select svc_private.settle_credits($1, $2, 1, 1)::float as it", [id, amount]))[0]?.it;
  const [paid, released] = [await reserve(null, 4, null), await reserve(null, 4, null)];
  await db.sql("select svc_private.release_credits($1)", [released]);
  expect([await settle(paid, 9), await settle(paid, 1), await settle(released, 1)]).toEqual([4, null, null]);
  await db.sql("select svc_private.release_credits($1)", [paid]);
  expect(await db.sql("select state, charged::float from svc.ai_ledger where id = $1", [paid])).toEqual([
    { state: "settled", charged: 4 },
  ]);
});

test("of two workers that complete a transcription at once, one is paid, and its text is kept", async () => {
  await addUser("dan");
  const [recording, id] = ["00000000-0000-4000-8000-00000000000d", "00000000-0000-4000-8000-00000000001d"];
  await db.sql(
    `insert into svc.storage_objects (id, user_id, name, size, type, sha256)
     values ($1, 'dan', 'a', 1, 'audio/wav', repeat('0', 64))`,
    [recording],
  );
  await db.sql("insert into svc.ai_transcriptions (id, user_id, storage_id, model) values ($1, 'dan', $2, 'local-m')", [
    id,
    recording,
  ]);
  const [one, other] = [await db.connect("system"), await db.connect("system")];
  const reservations = [await reserve("dan", 1), await reserve("dan", 1)];
  const complete = (text: string, reservation: number) =>
    `select svc_private.complete_transcription('${id}', '${text}', ${reservation}, 1)`;
  await one.query("begin");
  await one.query(complete("the first", reservations[0]));
  const late = other.query(complete("the second", reservations[1]));
  await expect.poll(() => db.sql(waitsForLock)).toHaveLength(1);
  await one.query("commit");
  await late;
  expect(await db.sql("select state from svc.ai_ledger where user_id = 'dan' order by id")).toEqual([
    { state: "settled" },
    { state: "released" },
  ]);
  await db.sql("select svc_private.end_transcription($1, 'failed', null, 'late', null)", [id]); // by a third one
  expect(await db.sql("select status, text from svc.ai_transcriptions where user_id = 'dan'")).toEqual([
    { status: "completed", text: "the first" },
  ]);
});
