// If this file fails, a nested transaction of a handler that has succeeded loses its rows, or keeps those of one that has failed.
import { setTimeout as sleep } from "node:timers/promises";
import { beforeEach, expect, test } from "vitest";
import { type CrudOptions, createCrudFactory } from "../../src/index.ts";
import { procedure } from "../fixture/backend/index.ts";
import { guestbook } from "../fixture/backend/schema.ts";
import { database } from "../support/database.ts";
import { apiWith, service } from "../support/service.ts";

type Db = Parameters<Parameters<typeof mutation.handler>[0]>[0]["context"]["db"];
const mutation = procedure.mutation.name("nested.write").allowAnonymous();

const write = (db: Db, message: string) => db.insert(guestbook).values({ message });
/** Writes, waits, and fails if the message says so. */
const nested = (db: Db, message: string, ms = 0) =>
  db.transaction(async (inner) => {
    await write(inner, message);
    await sleep(ms);
    await write(inner, `${message} again`);
    if (message.startsWith("fails")) throw new Error(message);
  });

const handlers: Record<string, (db: Db) => Promise<unknown>> = {
  kept: (db) => write(db, "kept"),
  "side by side, the first of which fails late": (db) =>
    Promise.allSettled([nested(db, "fails", 20), nested(db, "a"), nested(db, "b", 10)]),
  "side by side, the second of which fails early": (db) =>
    Promise.allSettled([nested(db, "a", 20), nested(db, "fails"), nested(db, "b", 10)]),
  "inside each other, by either handle": (db) =>
    db.transaction(async (inner) => {
      await nested(inner, "a");
      await Promise.allSettled([nested(db, "fails", 10), nested(inner, "b"), nested(db, "fails too")]);
    }),
  "inside one that fails before they end": async (db) => {
    const outer = db.transaction(async (inner) => {
      await write(inner, "lost");
      const failing = sleep(5).then(() => Promise.reject(new Error("fails")));
      await Promise.all([nested(inner, "lost too", 20), nested(inner, "lost as well"), failing]);
    });
    await outer.catch(() => {});
    await nested(db, "a");
    await nested(db, "b");
  },
  "inside one that does not wait for them": async (db) => {
    await db.transaction(async (inner) => {
      nested(inner, "a", 10).catch(() => {});
      nested(inner, "fails").catch(() => {});
    });
    await nested(db, "b");
  },
  "that the handler does not wait for": async (db) => {
    for (const message of ["a", "fails", "b"]) nested(db, message, 10).catch(() => {});
  },
  "after one that has failed": async (db) => {
    await nested(db, "fails").catch(() => {});
    await nested(db, "a");
    await nested(db, "b");
  },
  "begun in one of which a statement has failed": async (db) => {
    const failing = db.transaction(async (inner) => {
      await write(inner, "lost");
      await write(inner, null as never).catch(() => {});
      await nested(inner, "lost too").catch(() => {});
      await write(inner, "lost as well").catch(() => {});
    });
    await failing.catch(() => {});
    await nested(db, "a");
    await nested(db, "b");
  },
  "begun by code that outlives the one that it was in": async (db) => {
    let late: Promise<unknown> = Promise.resolve();
    await db.transaction(async (inner) => {
      await write(inner, "a");
      await write(inner, "a again");
      late = sleep(10).then(() => nested(db, "b"));
    });
    await Promise.allSettled([nested(db, "fails", 30), late]);
  },
  "begun by code that outlives the one that it was in, as that one ends": async (db) => {
    let late: Promise<unknown> = Promise.resolve();
    await db.transaction(async (inner) => {
      await write(inner, "a");
      await write(inner, "a again");
      // When the end has been sent, and before it is answered.
      late = new Promise(setImmediate).then(() => nested(db, "fails", 10));
    });
    await Promise.allSettled([nested(db, "b", 30), late]);
  },
};
/** Does not wait for a nested transaction, which fails later. */
const failLater = (db: Db) => void nested(db, "fails", 10).catch(() => {});
const hooks: NonNullable<CrudOptions<typeof guestbook>["hooks"]> = {
  beforeCreate: (row, { context }) => {
    failLater(context.db as unknown as Db);
    return row;
  },
};
const procedures = {
  later: procedure.mutation
    .name("nested.later")
    .allowAnonymous()
    .handler(({ context }) => failLater(context.db)),
  guestbook: createCrudFactory(procedure)(guestbook, { allowAnonymous: true, hooks }),
  write: mutation.handler(({ context, input }) => handlers[String(input)]?.(context.db).then(() => null)),
};

const db = database();
const app = service(db, apiWith({ procedures }));
beforeEach(() => db.sql("delete from guestbook"));

test.each(Object.keys(handlers).slice(1))("nested transactions %s", async (name) => {
  const { status, body } = await app.mutate(null, "nested.write", name);
  expect(status, JSON.stringify(body)).toBe(200);
  const rows = await db.sql("select message from guestbook order by id");
  expect(rows.map(({ message }) => message).sort()).toEqual(["a", "a again", "b", "b again"]);
});

test.each([
  ["the row after a hook", [{ name: "guestbook.create", args: { message: "kept" } }]],
  ["the next call of a batch", [{ name: "nested.later" }, { name: "nested.write", args: "kept" }]],
])("a nested transaction that is not awaited takes back its own rows alone, and not %s", async (_, calls) => {
  const { status, body } = await app.post("/api/batch", { calls });
  expect(status, JSON.stringify(body)).toBe(200);
  expect(await db.sql("select message from guestbook")).toEqual([{ message: "kept" }]);
});
