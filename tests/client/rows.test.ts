/** Rows of generated CRUD through the generated api.ts: the same values that Drizzle would return. */
import { eq } from "drizzle-orm";
import { expect, test } from "vitest";
import { createAuthClient, createSvcClient, type SvcClient } from "../../client/sdk/src/index.ts";
import { convertRows } from "../../client/sdk/src/rows.ts";
import { createSvcProcedureBuilders } from "../../src/contract/procedure.ts";
import { v } from "../../src/kit/v.ts";
import * as schema from "../fixture/backend/schema.ts";
import { api } from "../fixture/web/svc/api.ts";
import { database } from "../support/database.ts";
import { apiWith, service } from "../support/service.ts";

/** The same row, read by the application's own code and sent with its types. */
const throughDrizzle = createSvcProcedureBuilders<typeof schema>()
  .query.name("test.sample")
  .input(v.string())
  .handler(async ({ context, input }) => {
    const [row] = await context.db.select().from(schema.samples).where(eq(schema.samples.id, input));
    const { someBytes: _bytes, ...rest } = row ?? ({} as never);
    return rest;
  });

const running = service(database(), apiWith({ procedures: { throughDrizzle } }));

async function signedUp(): Promise<SvcClient<typeof api>> {
  const auth = createAuthClient(running.url, { sessionTokenStorage: "memory" });
  await auth.signUp(`${crypto.randomUUID()}@example.com`, "correct horse", "Ann");
  return createSvcClient({ api, baseUrl: running.url, auth });
}

const sample = {
  anInteger: 7,
  aBigint: 9007199254740993n,
  aNumber: 0.5,
  aNumeric: "12345678901234.5678",
  aBoolean: true,
  aText: "text",
  aMood: "calm" as const,
  anInstant: new Date("2026-01-02T03:04:05.678Z"),
  aTimestamp: new Date("2026-05-06T07:08:09.012Z"),
  aDate: "2026-02-28",
  aJson: { deep: [1, "2", null] },
  someBytes: new Uint8Array([0, 255, 65]),
  someTags: ["a", "b"],
};

test("every type of column comes back as it went", async () => {
  const client = await signedUp();
  expect(await client.mutate(api.samples.create, sample)).toMatchObject(sample);
});

test("a list and a get give the same rows", async () => {
  const client = await signedUp();
  const created = await client.mutate(api.samples.create, sample);
  expect(await client.query(api.samples.get, { id: created.id })).toEqual(created);
  expect(await client.query(api.samples.list)).toEqual({ data: [created], total: 1 });
});

test("they are what a procedure with Drizzle returns", async () => {
  const client = await signedUp();
  const { someBytes: _bytes, ...created } = await client.mutate(api.samples.create, sample);
  const same = { name: "test.sample", kind: "query" } as const;
  expect(await client.query(same, created.id)).toEqual(created);
});

test("null stays null, and what is not there stays away", async () => {
  const client = await signedUp();
  const created = await client.mutate(api.samples.create, {});
  expect(created).toMatchObject({ aBigint: null, anInstant: null, someBytes: null });
  expect(await client.mutate(api.samples.remove, { id: created.id })).toEqual({ id: created.id });
  expect(await client.query(api.samples.get, { id: created.id })).toBeNull();
});

test("an id of 64 bits is a bigint on the way there too", async () => {
  const client = await signedUp();
  expect(await client.query(api.announcements.get, { id: 9007199254740993n })).toBeNull();
});

test("a numeric that is no whole number stays a text where a bigint is declared, and the row arrives", () => {
  expect(convertRows({ id: 1, data: "NaN" }, { data: "bigint" }, "sums.get")).toEqual({ id: 1, data: "NaN" });
});

test("of createMany are converted, and a row with columns of the same names is one row", () => {
  const columns = { at: "date", data: "bigint" } as const;
  const at = "2026-01-02T03:04:05.678+00:00";
  expect(
    convertRows(
      {
        count: 2,
        data: [
          { id: 1, at },
          { id: 2, at: null },
        ],
      },
      columns,
      "sums.createMany",
    ),
  ).toEqual({
    count: 2,
    data: [
      { id: 1, at: new Date(at) },
      { id: 2, at: null },
    ],
  });
  expect(convertRows({ count: 3 }, columns, "sums.updateMany")).toEqual({ count: 3 });
  // Of a get that selects columns: a row without its id was taken for a page.
  for (const more of [{ id: 1, count: 2 }, { count: 2 }, { total: 2 }, {}]) {
    expect(convertRows({ ...more, data: ["9007199254740993"], at }, columns, "sums.get")).toEqual({
      ...more,
      data: [9007199254740993n],
      at: new Date(at),
    });
  }
});
