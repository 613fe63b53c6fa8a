// If this file fails, a handler that runs several statements at once breaks with the driver's next major version, which
// will refuse a statement while another one runs on the same connection.
import { once } from "node:events";
import { sql } from "drizzle-orm";
import pg from "pg";
import { expect, test } from "vitest";
import { serializeQueries } from "../../src/kit/in-turn.ts";
import { procedure } from "../fixture/backend/index.ts";
import { guestbook } from "../fixture/backend/schema.ts";
import { database } from "../support/database.ts";
import { apiWith, service } from "../support/service.ts";
import { workers } from "../support/worker.ts";

const db = database();
const several = [1, 2, 3, 4];
const api = apiWith({
  procedures: {
    asSystem: procedure.internal
      .name("turns.asSystem")
      .runAs("system")
      .handler(async ({ context }) => {
        const counts = await Promise.all(several.map(() => context.db.select({ n: sql`1` }).from(guestbook)));
        await context.db.insert(guestbook).values({ message: `asked ${counts.length} times` });
      }),
    enqueue: procedure.mutation
      .name("turns.enqueue")
      .allowAnonymous()
      .handler(({ context }) => context.scheduler.runAfter(0, "turns.asSystem")),
    unsafe: procedure.mutation.name("turns.unsafe").handler(({ context }) =>
      context.unsafeDb.transaction(async (tx) => {
        const failed = Promise.allSettled([
          ...several.map((n) => tx.execute(sql`select ${n}::int as n`)),
          tx.execute(sql`select no_such_column`),
          tx.execute(sql`select 6 as n`),
        ]);
        return (await failed).map(({ status }) => status);
      }),
    ),
  },
});
const app = service(db, api);
const startWorker = workers(db, api);

// The driver's warning would end this process (tests/support/warnings.ts).
test("statements that a system's handler asks for at once run one after the other", async () => {
  await startWorker();
  expect((await app.mutate(null, "turns.enqueue")).status).toBe(200);
  await expect.poll(() => db.sql("select message from guestbook")).toEqual([{ message: "asked 4 times" }]);
});

test("in the order in which they were asked for, also after one that failed", async () => {
  const { body } = await app.mutate(await app.signUp("patient"), "turns.unsafe");
  expect(body.json).toEqual([...several.map(() => "fulfilled"), "rejected", "rejected"]);
});

test("a cursor, or a statement with a callback, gets what the driver gives it", async () => {
  const client = await db.connect("system");
  serializeQueries(client);
  const own = new pg.Query("select 1 as one");
  expect(client.query(own)).toBe(own);
  await once(own, "end");
  const { promise, resolve } = Promise.withResolvers<unknown>();
  client.query("select 2 as two", (_error, { rows }) => resolve(rows));
  expect(await promise).toEqual([{ two: 2 }]);
});
