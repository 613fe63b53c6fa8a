// If this file fails, every reached limit, every job that another worker holds and every duplicate key in unsafeDb
// costs a new connection: a process under load spends its time, and the server's, on connecting.
import { pino } from "pino";
import { afterAll, beforeEach, expect, test } from "vitest";
import { createCredits } from "../../src/ai/credits.ts";
import { systemDatabase } from "../../src/postgres/database.ts";
import { sqlState } from "../../src/postgres/errors.ts";
import { createPool, type OnePool } from "../../src/postgres/pools.ts";
import { queryText } from "../../src/postgres/refusals.ts";
import * as schema from "../fixture/backend/schema.ts";
import { database } from "../support/database.ts";

const db = database();
const limits = { waitMs: 5_000, statementTimeoutMs: 5_000, idleInTransactionMs: 5_000 };
let one: OnePool;
let opened: number;
beforeEach(async () => {
  await one?.close();
  one = createPool("system", db.urls.system, { request: 1, system: 3, auth: 1, ...limits }, pino({ level: "silent" }));
  opened = 0;
  one.pool.on("connect", () => opened++);
});
afterAll(() => one?.close());

const config = { creditsPerRequest: 1, creditsPerUserPerDay: 1 } as Parameters<typeof createCredits>[1];
const finish = { name: "svc_finish_job", text: "select svc.finish_job($1, $2)", values: ["1", "nobody"] };
const ending = { name: "ending", text: "select pg_terminate_backend(pg_backend_pid())" };
const expected: [string, string, () => Promise<unknown>][] = [
  [
    "a limit of credits",
    "SV402",
    () =>
      createCredits(one.pool, config).reserve({ userId: null, operation: "x", model: "x", estimate: { credits: 9 } }),
  ],
  ["the end of a job that somebody else has", "SV409", () => one.pool.query(finish)],
  ["a statement that is sent as a packet", "SV409", () => queryText(one.pool, finish)],
  [
    "a row in unsafeDb that breaks a rule",
    "23502",
    () =>
      systemDatabase(one.pool, schema)
        .insert(schema.notes)
        .values({ title: "x", userId: null as never }),
  ],
];
test.each(expected)("%s is refused a hundred times over the connections that there are", async (_what, state, run) => {
  for (let round = 0; round < 50; round++) {
    const refused = await Promise.all([run(), run()].map((running) => running.catch((error: unknown) => error)));
    expect(refused.map(sqlState)).toEqual([state, state]);
  }
  expect(opened).toBeLessThanOrEqual(3); // as many as the pool has
  expect((await one.pool.query("select 1 as it")).rows).toEqual([{ it: 1 }]);
});

test("a connection that failed inside a transaction of its own, or broke, is not used again", async () => {
  const { rows } = await one.pool.query("select pg_backend_pid() as pid");
  await expect(one.pool.query("begin; select 1 / 0")).rejects.toThrow("division by zero");
  await expect.poll(() => one.pool.totalCount).toBe(0);
  const next = await one.pool.query("select pg_backend_pid() as pid, txid_current_if_assigned() as id");
  expect(next.rows[0].pid).not.toBe(rows[0].pid);
  await expect(one.pool.query("select pg_terminate_backend(pg_backend_pid())")).rejects.toThrow(/terminat/);
  await expect(queryText(one.pool, { ...ending, values: [] })).rejects.toThrow(/terminat/);
  expect((await one.pool.query("select 1 as it")).rows).toEqual([{ it: 1 }]);
  expect(opened).toBe(4);
});

test("unsafeDb leaves neither a transaction nor a setting on a connection, which other calls use next", async () => {
  const unsafeDb = systemDatabase(one.pool, schema);
  await db.sql("create table public.kept (title text); grant select, insert on public.kept to svc_system");
  const insert = (title: string) => `insert into public.kept values ('${title}')`;
  for (const begin of ["begin", "start transaction", `begin; ${insert("half")}`]) {
    const refused = { cause: { message: expect.stringMatching(/not ended/) } };
    await expect(unsafeDb.execute(begin)).rejects.toMatchObject(refused);
  }
  await unsafeDb.execute(`begin; ${insert("whole")}; commit`);
  expect(await db.sql("select title from public.kept")).toEqual([{ title: "whole" }]);

  for (const set of [
    "set statement_timeout = 1",
    " SET role svc_auth",
    "set session characteristics as transaction read only",
    "/* of a report */ -- and a note\n set statement_timeout = 1",
  ]) {
    const refused = { cause: { message: expect.stringMatching(/SET LOCAL/) } };
    await expect(unsafeDb.execute(set)).rejects.toMatchObject(refused);
    await expect(unsafeDb.transaction((inner) => inner.execute(set))).rejects.toMatchObject(refused);
  }
  await unsafeDb.transaction(async (inner) => {
    await inner.execute("set transaction isolation level serializable");
    await inner.execute("set local statement_timeout = 123");
    await inner.execute("set\n  local statement_timeout = 124");
  });
  for (let turn = 0; turn < 6; turn++) {
    expect((await unsafeDb.execute("show statement_timeout")).rows).toEqual([{ statement_timeout: "0" }]);
  }
  await db.sql("drop table public.kept");
});

test("a statement that is sent as a packet answers with the text of its first column", async () => {
  const text = "select $1::json from generate_series(1, $2)";
  const answer = (rows: number) => queryText(one.pool, { name: "answer", text, values: ['{"a": 1}', rows] });
  expect(await answer(1)).toBe('{"a": 1}');
  expect(await answer(0)).toBeNull();
  await expect(answer("x" as never)).rejects.toThrow("invalid input syntax");
  expect(await Promise.all([answer(1), answer(1), answer(0), answer(1)])).toEqual([
    '{"a": 1}',
    '{"a": 1}',
    null,
    '{"a": 1}',
  ]);
});
