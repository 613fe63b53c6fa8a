// If this file fails, two callers with the same idempotency key share a run.
import { expect, test } from "vitest";
import { database } from "../support/database.ts";

const db = database();

const started = (login: "request" | "system", text: string) => async (user: string) => {
  const client = await db.connect(login);
  await client.query("begin");
  if (login === "request") await client.query("select set_config('svc.user_id', $1, true)", [user]);
  const { rows } = await client.query<{ id: string }>(text);
  await client.query("commit");
  return rows[0]?.id;
};
const asCaller = started("request", `select svc.start_workflow('order', 1, '{"json":null}', 'key', null, null) as id`);
const asSystem = started(
  "system",
  `select svc_private.start_system_workflow('order', 1, '{"json":null}', 'key', null, null) as id`,
);

test("users, strangers and the system have keys of their own", async () => {
  await db.sql(
    `insert into auth."user" (id, name, email) values ('ann', 'Ann', 'ann@x.test'), ('bob', 'Bob', 'bob@x.test')`,
  );
  const runs = [await asCaller("ann"), await asCaller("bob"), await asCaller(""), await asSystem("")];
  expect(new Set(runs).size).toBe(4);
  expect([await asCaller("ann"), await asCaller("bob"), await asCaller(""), await asSystem("")]).toEqual(runs);
});
