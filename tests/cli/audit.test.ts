// If this file fails, an operator cannot see who changed a row, also when the row is gone.
import { beforeAll, expect, test } from "vitest";
import { fixture, svcHere } from "../support/cli.ts";
import { database } from "../support/database.ts";

const db = database();
const svc = (...args: string[]) => svcHere(db, fixture, ["audit", ...args], { DATABASE_ADMIN_URL: "" });
const json = async (...args: string[]) => JSON.parse((await svc(...args, "--json")).out);

beforeAll(async () => {
  await db.sql("create table public.orders (id integer primary key, title text, iban text)");
  await db.sql("select svc_private.install_history($1)", [
    JSON.stringify([{ table: "public.orders", keys: ["id"], omit: ["iban"] }]),
  ]);
  await db.sql("insert into orders values (1, 'Hail', 'DE02'), (2, 'Fire', 'DE03')");
  await db.sql("select set_config('svc.user_id', 'ann', false)");
  await db.sql("update orders set title = 'Wind \u001b[2J', iban = 'DE99' where id = 1");
  await db.sql("select set_config('svc.user_id', '', false)");
  await db.sql("delete from orders where id = 1");
});

test("the changes of a row, newest first, with who made them; those of a removed row, too", async () => {
  const { code, text } = await svc("orders", "--row", "1");
  expect(code).toBe(0);
  const lines = text.split("\n");
  expect(lines[0]).toMatch(/^entry +at \(UTC\) +table +row +operation +by +via +changed$/);
  expect(lines[1]).toMatch(/ public\.orders +1 +delete +\S+ +- +id, iban, title$/);
  expect(lines[2]).toMatch(/ update +ann +- +iban, title: "Hail" → "Wind/);
  expect(lines[3]).toMatch(/ insert +/);
  expect(lines).toHaveLength(5);
  for (const hidden of ["\u001b[2J", "DE0", "DE9"]) expect(text).not.toContain(hidden);
});

test("every option chooses entries, and --json gives all that is known of each", async () => {
  const operations = async (...args: string[]) =>
    (await json(...args)).map((one: { operation: string }) => one.operation);
  expect(await operations()).toEqual(["delete", "update", "insert", "insert"]);
  expect(await operations("orders", "--actor", "ann")).toEqual(["update"]);
  expect(await operations("public.orders", "--limit", "1")).toEqual(["delete"]);
  expect(await operations("--since", "1 day")).toHaveLength(4);
  expect(await operations("--since", "2999-01-01T00:00:00Z")).toEqual([]);
  const [newest, ...older] = await json("--row", "1");
  expect(await json("--row", "1", "--before", newest.id)).toEqual(older);
  expect(older[0]).toEqual({
    id: expect.stringMatching(/^\d+$/),
    at: expect.stringMatching(/Z$/),
    relation: "public.orders",
    row_id: "1",
    operation: "update",
    actor: "ann",
    login: expect.any(String),
    via: null,
    request: null,
    trace: null,
    changed: { iban: null, title: ["Hail", "Wind \u001b[2J"] },
  });
});

test.for([
  [["order"], "Did you mean orders?"],
  [["--since", "soon"], "--since"],
  [["--before", "x"], "--before x is not an entry"],
  [["--limit", "many"], "--limit many"],
] as const)("%j says what to give", async ([args, named]) => {
  const { code, text } = await svc(...args);
  expect([code, text]).toEqual([1, expect.stringContaining(named)]);
});

test("the entries of a table that is no longer audited are still there", async () => {
  await db.sql("select svc_private.install_history('[]')");
  expect((await svc("orders")).code).toBe(0);
});
