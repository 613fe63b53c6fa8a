// If this file fails, a worker that was given up ends the attempt of another one, the end of a delivery wakes deliveries
// that wait for something else, or somebody sees or repeats deliveries to an endpoint that was not asked for.
import { beforeEach, expect, test } from "vitest";
import { database } from "../support/database.ts";
import { webhooks } from "./application.ts";

const db = database();
webhooks(db); // declares them
beforeEach(() => db.sql("truncate svc.webhook_deliveries, svc_private.webhook_leases"));

const base = {
  webhook: "note-changed",
  source: '"public"."endpoints"',
  endpoint: "1",
  row_key: "notes b",
  state: "pending",
  attempts: 0,
  due_at: "2030-01-01",
  ended_at: null as string | null,
};

/** Adds a delivery. @returns its id */
async function add(difference: Partial<typeof base> = {}): Promise<string> {
  const { webhook, source, endpoint, row_key, state, attempts, due_at, ended_at } = { ...base, ...difference };
  const [row] = await db.sql(
    `insert into svc.webhook_deliveries (webhook, source, endpoint, row_key, body, state, attempts, due_at, ended_at)
     values ($1, $2, $3, $4, '{}', $5, $6, $7, $8) returning id`,
    [webhook, source, endpoint, row_key, state, attempts, due_at, ended_at],
  );
  return row?.id;
}
const ended = { state: "sent", ended_at: "2020-01-01" };
const dead = { state: "dead", ended_at: "2020-01-01" };

async function end(id: string, attempt: number, error: string | null = null) {
  const [row] = await db.sql("select svc_private.end_delivery($1, $2, 200, $3, null) as state", [id, attempt, error]);
  return row?.state;
}
const one = async (id: string) => (await db.sql("select * from svc.webhook_deliveries where id = $1", [id]))[0];
const lease = (endpoint: string, source = base.source) =>
  db.sql(
    `insert into svc_private.webhook_leases (source, endpoint, busy_until, places) values ($1, $2, '2040-01-01', 4)`,
    [source, endpoint],
  );
const leases = () =>
  db.sql(
    "select source, endpoint, busy_until > '2039-01-01' as waits, places from svc_private.webhook_leases order by 1, 2",
  );

test("an attempt that another worker has begun anew ends nothing, whatever its answer was", async () => {
  const id = await add({ attempts: 2 });
  const before = await one(id);
  expect([await end(id, 1), await end(id, 1, "no")]).toEqual([null, null]);
  expect(await one(id)).toEqual(before);
});

test("an attempt whose end is stored keeps it, and tells it again", async () => {
  const id = await add({ attempts: 1 });
  expect(await end(id, 1)).toBe("sent");
  const before = await one(id);
  expect(await end(id, 1, "no")).toBe("sent");
  expect(await one(id)).toEqual(before);
});

test("an end changes how many the endpoint may get at the same time, and no other endpoint", async () => {
  for (const endpoint of ["1", "2"]) await lease(endpoint);
  await lease("1", '"public"."others"');
  await end(await add({ attempts: 1 }), 1, "no");
  expect((await leases()).map(({ places }) => places)).toEqual([1, 4, 4]);
});

test("an end makes the next delivery of its row due, among those of other rows, endpoints and states", async () => {
  await add({ endpoint: "0" });
  await add({ source: '"public"."a"' });
  const before = await add({ row_key: "notes a" });
  const id = await add({ attempts: 1 });
  const next = await add();
  const last = await add();
  await end(id, 1);
  const due = await db.sql("select id from svc.webhook_deliveries where state = 'pending' and due_at <= now()");
  expect(due).toEqual([{ id: next }]);
  expect((await one(before))?.due_at).toEqual((await one(last))?.due_at);
});

test.each([
  ["of another row", { row_key: "notes c" }],
  ["that waits for its own next attempt", { attempts: 1, due_at: "2031-01-01" }],
  ["that is due", { due_at: "2021-01-01" }],
  ["of another endpoint", { endpoint: "2" }],
  ["of another table of endpoints", { source: '"public"."others"' }],
])("an end leaves a delivery %s when it is due", async (_, difference) => {
  const id = await add({ attempts: 1 });
  const other = await add(difference);
  const before = await one(other);
  await end(id, 1);
  expect(await one(other)).toEqual(before);
});

test("deliveries to an endpoint are those of its table and key alone, also one that is asked for by its id", async () => {
  const ids = [await add(), await add({ endpoint: "2" }), await add({ source: '"public"."others"' })];
  const found = async (id: string | null) =>
    (await db.sql("select id from svc_private.find_endpoint_deliveries($1, '1', $2, null, 9)", [base.source, id])).map(
      (row) => row.id,
    );
  expect(await found(null)).toEqual([ids[0]]);
  expect([await found(ids[0] as string), await found(ids[1] as string), await found(ids[2] as string)]).toEqual([
    [ids[0]],
    [],
    [],
  ]);
});

test("only dead deliveries are sent again, those that were asked for, of webhooks that are declared", async () => {
  const ids = [
    await add({ ...dead, webhook: "note.done" }),
    await add(dead),
    await add(dead),
    await add(ended),
    await add({ ...dead, webhook: "gone" }),
  ];
  const retry = async (id: string | null, webhook: string | null) => {
    await db.sql("select svc_private.retry_deliveries($1, $2)", [id, webhook]);
    return Promise.all(ids.map(async (each) => (await one(each))?.state));
  };
  expect(await retry(null, "note.done")).toEqual(["pending", "dead", "dead", "sent", "dead"]);
  expect(await retry(ids[1] as string, null)).toEqual(["pending", "pending", "dead", "sent", "dead"]);
  expect(await retry(null, null)).toEqual(["pending", "pending", "pending", "sent", "dead"]);
});

test("a retry ends the wait of its endpoint alone", async () => {
  for (const endpoint of ["1", "2"]) await lease(endpoint);
  await lease("1", '"public"."others"');
  const id = await add(dead);
  await db.sql("select svc_private.retry_deliveries($1, null)", [id]);
  expect((await leases()).map(({ waits }) => waits)).toEqual([false, true, true]);
});
