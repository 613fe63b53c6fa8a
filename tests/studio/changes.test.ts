// If this file fails, an operator who edits rows as a user changes what the user may not change, changes a part, or
// leaves no line.
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { database } from "../support/database.ts";
import { studio } from "./test-studio.ts";

const db = database();
const opened = studio(db);
const table = "public.notes";
const change = (as: string | null, ...changes: object[]) =>
  opened.send("act", { act: "act_change_rows", as, changes: changes.map((one) => ({ table, ...one })) });
const lines = () => db.sql("select login, act, arguments, outcome from svc.operator_acts order by id");
const notes = () => db.sql("select id, user_id, title from notes order by id");
const rows = [
  { id: 1, user_id: "ann", title: "Ann's" },
  { id: 2, user_id: "ben", title: "Ben's" },
];

beforeAll(() =>
  db.sql(`insert into auth."user" (id, name, email) values
    ('ann', 'Ann', 'ann@example.com'), ('ben', 'Ben', 'ben@example.com')`),
);
beforeEach(async () => {
  await db.sql("truncate notes restart identity cascade");
  await db.sql("delete from svc.operator_acts");
  await db.sql("insert into notes (id, user_id, title) values (1, 'ann', 'Ann''s'), (2, 'ben', 'Ben''s')");
});

test("all are made as the user, in one transaction with one line, which holds no values", async () => {
  const { status, body } = await change(
    "ann",
    { command: "insert", set: { id: "3", user_id: "ann", title: "secret" } },
    { command: "update", key: ["1"], set: { title: "secret too" }, was: { title: "Ann's" } },
    { command: "delete", key: ["3"], was: { title: "secret" } },
  );
  expect([status, body]).toEqual([200, { done: 3 }]);
  expect(await notes()).toEqual([{ id: 1, user_id: "ann", title: "secret too" }, rows[1]]);
  expect(await lines()).toEqual([
    {
      login: "svc_studio_act",
      act: "act_change_rows",
      outcome: "3 changed",
      arguments: {
        as: "ann",
        changes: [
          { table, command: "insert", key: null, columns: ["id", "title", "user_id"] },
          { table, command: "update", key: ["1"], columns: ["title"] },
          { table, command: "delete", key: ["3"], columns: null },
        ],
      },
    },
  ]);
});

const good = { command: "update", key: ["1"], set: { title: "new" }, was: { title: "Ann's" } };

describe("nothing is changed, and no line is left, when one of them", () => {
  test.each<[title: string, as: string | null, bad: object, status: number, says: RegExp]>([
    [
      "is of a row that the user may not see",
      "ann",
      { command: "delete", key: ["2"], was: {} },
      409,
      /delete changed 0/,
    ],
    ["is of a row that has changed", "ann", { ...good, was: { title: "older" } }, 409, /update changed 0/],
    ["is of a row that is gone", "ann", { ...good, key: ["9"] }, 409, /update changed 0/],
    [
      "would give a row to another user",
      "ann",
      { command: "update", key: ["1"], set: { user_id: "ben" }, was: {} },
      403,
      /row-level security/,
    ],
    ["is made by somebody without an account", null, good, 403, /permission denied|row-level security/],
    ["names a column that is not there", "ann", { command: "insert", set: { 'title") --': "x" } }, 400, /no column/],
    ["names a table that is not there", "ann", { ...good, table: "public.nothing" }, 400, /does not exist/],
    ["names a table of the platform", "ann", { ...good, table: 'auth."user"' }, 403, /permission denied/],
    [
      "breaks a constraint",
      "ann",
      { command: "insert", set: { id: "1", user_id: "ann", title: "x" } },
      400,
      /duplicate/,
    ],
    ["has a value of another type", "ann", { ...good, key: ["one"] }, 400, /invalid input syntax/],
    ["sets nothing", "ann", { ...good, set: {} }, 400, /./],
    ["has a key of other columns", "ann", { ...good, key: ["1", "1"] }, 400, /no primary key of these columns/],
  ])("%s", async (_title, as, bad, status, says) => {
    const first = as === null ? [] : [good];
    const answer = await change(as, ...first, { ...bad, ...(as !== null && "was" in bad && { was: bad.was }) });
    expect([answer.status, answer.body.error]).toEqual([status, expect.stringMatching(says)]);
    expect(await notes()).toEqual(rows);
    expect(await lines()).toEqual([]);
  });
});

test("restrictive policies count as well", async () => {
  await db.sql(
    "create policy closed on notes as restrictive for update to svc_authenticated using (title <> 'Ann''s')",
  );
  expect((await change("ann", good)).status).toBe(409);
  await db.sql("drop policy closed on notes");
  expect((await change("ann", good)).status).toBe(200);
});

test("a value of char(n) or bit(n) is stored whole, and such a key finds its row", async () => {
  await db.sql(`
    create table coins (code char(3) primary key, flags bit(3));
    alter table coins enable row level security;
    create policy all_own on coins to svc_authenticated using (true);
    grant all on coins to svc_authenticated`);
  const { status, body } = await change(
    "ann",
    { table: "public.coins", command: "insert", set: { code: "EUR", flags: "101" } },
    {
      table: "public.coins",
      command: "update",
      key: ["EUR"],
      set: { code: "USD", flags: "011" },
      was: { flags: "101" },
    },
  );
  expect([status, body]).toEqual([200, { done: 2 }]);
  expect(await db.sql("select code, flags::text from coins")).toEqual([{ code: "USD", flags: "011" }]);
  const long = await change("ann", { table: "public.coins", command: "insert", set: { code: "EURO", flags: "1" } });
  expect([long.status, long.body.error]).toEqual([400, expect.stringMatching(/too long|does not match/)]);
});

test("what lies below the act is closed to every login", async () => {
  const one = JSON.stringify({ table, command: "delete", key: ["1"] });
  for (const login of ["studioRead", "studioAct", "request", "auth"] as const) {
    const client = await db.connect(login);
    for (const name of ["change_row", "change_row_as_anonymous", "change_row_as_authenticated"]) {
      await expect(client.query(`select svc_private.${name}($1)`, [one])).rejects.toMatchObject({ code: "42501" });
    }
  }
  for (const login of ["studioRead", "request", "auth"] as const) {
    const client = await db.connect(login);
    const act = client.query("select svc_private.act_change_rows('ann', jsonb_build_array($1::jsonb))", [one]);
    await expect(act).rejects.toMatchObject({ code: "42501" });
  }
  expect(await notes()).toEqual(rows);
});
