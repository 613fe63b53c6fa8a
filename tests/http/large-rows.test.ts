// If this file fails, one call whose answer is very large ends the process, with the calls and sockets of everybody else.
import { sql } from "drizzle-orm";
import { beforeAll, describe, expect, test } from "vitest";
import { v } from "../../src/index.ts";
import { procedure } from "../fixture/backend/index.ts";
import * as schema from "../fixture/backend/schema.ts";
import { database } from "../support/database.ts";
import { apiWith, service, type User } from "../support/service.ts";

const one = sql`(values (1)) as one`;
const repeated = ({ letters }: { letters: number }) => sql<string>`repeat('x', ${letters}::integer)`;
const sizes = v.object({ letters: v.number() });
const procedures = {
  read: procedure.query
    .name("large.read")
    .input(sizes)
    .handler(async ({ context, input }) => {
      const [row] = await context.db.select({ text: repeated(input) }).from(one);
      return row?.text.length;
    }),
  write: procedure.mutation
    .name("large.write")
    .input(sizes)
    .handler(async ({ context, input }) => {
      const { user } = context.auth.requireAuth();
      await context.db.insert(schema.notes).values({ userId: user.id, title: "written" });
      await context.db.select({ text: repeated(input) }).from(one);
    }),
  /** Rows of different lengths, and a long one behind them. */
  many: procedure.query
    .name("large.many")
    .input(v.object({ rows: v.number(), letters: v.optional(v.number()) }))
    .handler(async ({ context, input: { rows, letters = 0 } }) => {
      const size = sql`case when n <= ${rows}::integer then n % 7 else ${letters}::integer end`;
      const numbers = sql`generate_series(1, ${rows}::integer + sign(${letters}::integer)::integer) as n`;
      return (await context.db.select({ text: sql<string>`repeat('x', ${size})` }).from(numbers)).length;
    }),
  asSystem: procedure.query
    .name("large.asSystem")
    .input(sizes)
    .handler(async ({ context, input }) => {
      const [row] = await context.unsafeDb.select({ text: repeated(input) }).from(one);
      return row?.text.length;
    }),
};
const db = database();
const most = 65_536;
const svc = service(db, apiWith({ procedures }), { limits: { rowBytes: most } } as never);
const tooLarge = { status: 400, body: { code: "BAD_REQUEST", error: "The answer is too large." } };
/** A row is sent with its length, its number of columns, and the length of each value: ten bytes. */
const largest = most - 10;
const justTooLarge = largest + 1;
let ann: User;
beforeAll(async () => {
  ann = await svc.signUp("ann");
});

describe("a row that PostgreSQL sends", () => {
  test("is read up to the limit, and refused beyond it, on connections that serve again", async () => {
    expect(await svc.query(ann, "large.read", { letters: largest })).toMatchObject({
      status: 200,
      body: { json: largest },
    });
    expect(await svc.query(ann, "large.read", { letters: justTooLarge })).toMatchObject(tooLarge);
    const after = await Promise.all([1, 2, 3, 4, 5, 6].map((letters) => svc.query(ann, "large.read", { letters })));
    expect(after.map(({ body }) => body.json)).toEqual([1, 2, 3, 4, 5, 6]);
  });

  test("is noticed behind many small ones, at whose headers a packet may end", async () => {
    for (const rows of [40_000, 40_001, 40_002, 40_003]) {
      expect(await svc.query(ann, "large.many", { rows })).toMatchObject({ body: { json: rows } });
      expect(await svc.query(ann, "large.many", { rows, letters: justTooLarge })).toMatchObject(tooLarge);
    }
  });

  test("may be larger for the system", async () => {
    expect(await svc.query(ann, "large.asSystem", { letters: justTooLarge })).toMatchObject({
      body: { json: justTooLarge },
    });
  });

  test("undoes the mutation that reads it", async () => {
    expect(await svc.mutate(ann, "large.write", { letters: justTooLarge })).toMatchObject(tooLarge);
    expect(await db.sql("select from notes where title = 'written'")).toEqual([]);
    expect(await svc.mutate(ann, "large.write", { letters: 1 })).toMatchObject({ status: 200 });
  });
});

test("a generated list that is too large is refused, and a page with fewer rows is read", async () => {
  const bob = await svc.signUp("bob");
  const size = 1_000;
  const filled = "insert into notes (user_id, title) select $1, repeat('x', $2::int) from generate_series(1, 70)";
  await db.sql(filled, [bob.id, size]);
  expect(await svc.query(bob, "notes.list", { limit: 70 })).toMatchObject(tooLarge);
  const page = await svc.query(bob, "notes.list", { limit: 2 });
  expect(page.body.json.data.map(({ title }: { title: string }) => title.length)).toEqual([size, size]);
});

test("of reads that share a connection, only the one whose row is too large is refused", async () => {
  const cem = await svc.signUp("cem");
  await db.sql("insert into notes (user_id, title) select $1, repeat('x', 1000) from generate_series(1, 70)", [cem.id]);
  const page = (limit: number) => svc.query(cem, "notes.list", { limit });
  for (let round = 0; round < 30; round++) {
    await Promise.all([page(1), page(1)]); // its statement is prepared, and was quick
    const answers = await Promise.all([2, 70, 3, 4, 5].map(page));
    const rows = answers.map(({ status, body }) => (status === 200 ? body.json.data.length : body.code));
    expect(rows).toEqual([2, "BAD_REQUEST", 3, 4, 5]);
  }
});
