/** If this file fails, users who spend their credits and are deleted stop the AI calls of the system. */
import { expect, test } from "vitest";
import { database } from "../support/database.ts";

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
