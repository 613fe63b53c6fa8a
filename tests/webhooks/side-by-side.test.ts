// If this file fails, a receiver gets one delivery at a time however many wait, two of one row at once or in the wrong order, or more
// than it takes while it fails.
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { database } from "../support/database.ts";
import { webhooks } from "./application.ts";

const db = database();
const { answers, deliveries, worker, hurry, settled, addEndpoint, addNote } = webhooks(db);

interface Claimed extends Record<string, unknown> {
  id: string;
  endpoint: string;
  attempt: number;
  body: string;
}
const claim = (most = 50) =>
  db.sql<Claimed>("select id, endpoint, attempt, body from svc_private.claim_deliveries($1, '1 minute')", [most]);
const end = ({ id, attempt }: Claimed, status = 200, waitMs: number | null = null) =>
  db.sql("select svc_private.end_delivery($1, $2, $3, case when $3 <> 200 then 'no' end, $4)", [
    id,
    attempt,
    status,
    waitMs,
  ]);
const title = ({ body }: Claimed) => JSON.parse(body).data.title;
const change = (id: number, ...titles: string[]) =>
  titles.reduce<Promise<unknown>>(
    (before, one) => before.then(() => db.sql("update notes set title = $2 where id = $1", [id, one])),
    Promise.resolve(),
  );
/** @returns the deliveries to the endpoint that are being sent, when it has as many at once as it may have */
async function widen(endpoint: string, open: Claimed[] = []): Promise<Claimed[]> {
  await db.sql("insert into notes (user_id, title) select 'ann', 'filler' from generate_series(1, 60)");
  for (let before = -1; open.length > before; ) {
    before = open.length;
    if (open[0]) await end(open.shift() as Claimed);
    open.push(...(await claim()).filter((one) => one.endpoint === endpoint));
  }
  return open;
}

test("an endpoint that answers gets one more at a time after each answer, up to ten; one that fails gets one", async () => {
  const endpoint = await addEndpoint("ann", "/ann");
  await addNote("ann", "first");
  const [first] = await claim();
  await db.sql("insert into notes (user_id, title) select 'ann', n::text from generate_series(1, 40) n");
  expect(await claim()).toEqual([]);
  await end(first as Claimed);
  const second = await claim();
  expect(second).toHaveLength(2);
  const open = await widen(endpoint, second);
  expect(open).toHaveLength(10);
  expect(await claim()).toEqual([]);
  await end(open.pop() as Claimed, 500);
  expect(await claim()).toEqual([]);
  await hurry(); // those that are being sent are as of a killed worker
  expect(await claim()).toHaveLength(1);
});

test("of one row one delivery is sent at a time, in the order of its changes, and other rows beside it", async () => {
  const endpoint = await addEndpoint("ann", "/ann");
  for (const one of await widen(endpoint)) await end(one);
  await db.sql("delete from svc.webhook_deliveries where state = 'pending'");
  const [one, other] = [await addNote("ann", "a1"), await addNote("ann", "b1")];
  await change(one, "a2", "a3");
  await change(other, "b2");
  const open = await claim();
  expect(open.map(title)).toEqual(["a1", "b1"]);
  expect(await claim()).toEqual([]);
  await end(open[0] as Claimed);
  const [next, ...more] = await claim();
  expect([title(next as Claimed), more]).toEqual(["a2", []]);
  await end(next as Claimed, 500);
  expect(await claim()).toEqual([]);
  await end(open[1] as Claimed);
  expect((await claim()).map(title)).toEqual(["b2"]);
});

test("a dead delivery that is retried is not sent beside a later one of its row", async () => {
  await addEndpoint("ann", "/ann");
  const id = await addNote("ann", "1");
  const [first] = await claim();
  await end(first as Claimed, 410);
  await change(id, "2");
  await addNote("ann", "other");
  const [second] = await claim();
  await db.sql("update svc_private.webhook_leases set places = 10");
  expect(title(second as Claimed)).toBe("2");
  await db.sql("select svc_private.retry_deliveries(null, null)");
  expect((await claim()).map(title)).toEqual(["other"]);
  await end(second as Claimed);
  expect((await claim()).map(title)).toEqual(["1"]);
});

test("a row with thousands of waiting deliveries keeps no other row waiting, and each claim reads fewer of them", async () => {
  const endpoint = await addEndpoint("ann", "/ann");
  await db.sql(
    "insert into svc_private.webhook_leases (source, endpoint, busy_until, places) values ($1, $2, now(), 10)",
    ['"public"."endpoints"', endpoint],
  );
  const hot = await addNote("ann", "hot");
  await db.sql(
    `insert into svc.webhook_deliveries (webhook, source, endpoint, owner, row_key, body)
     select webhook, source, endpoint, owner, row_key, body from svc.webhook_deliveries, generate_series(1, 2500)`,
  );
  await addNote("ann", "other");
  const first = await claim();
  expect(first.map(title)).toEqual(["hot", "other"]);
  for (let open = first[0] as Claimed, n = 0; n < 4; n++) {
    await end(open);
    const [next, ...more] = await claim();
    expect([title(next as Claimed), more]).toEqual(["hot", []]);
    open = next as Claimed;
  }
  const due = "select from svc.webhook_deliveries where state = 'pending' and due_at <= now() and row_key like $1";
  expect(await db.sql(due, [`%[${hot}]`])).toEqual([]);
});

test("thousands of rows that wait for their next attempt, and have changed since, keep no claim longer than a statement may take", async () => {
  const endpoint = await addEndpoint("ann", "/ann");
  await addNote("ann", "ready");
  await db.sql(
    `insert into svc.webhook_deliveries (webhook, source, endpoint, owner, row_key, body, attempts, due_at)
     select d.webhook, d.source, d.endpoint, d.owner, 'row ' || n, d.body, attempt, d.due_at + attempt * interval '1 hour' - interval '1 s'
       from svc.webhook_deliveries d, generate_series(1, 8000) n, unnest(array[1, 0]) attempt`,
  );
  const system = await db.connect("system");
  await system.query("set statement_timeout = '30s'"); // src/postgres/pools.ts
  const work = async () =>
    (await system.query("select endpoint, body from svc_private.claim_deliveries(50, '1 minute')")).rows;
  const got: Claimed[] = [];
  for (let n = 0; n < 20 && got.length === 0; n++) got.push(...(await work()));
  expect(got.map((one) => [one.endpoint, title(one)])).toEqual([[endpoint, "ready"]]);
});

test("neither a claim nor the end of a delivery reads what an endpoint has got before, however old the statistics are", async () => {
  await addEndpoint("ann", "/ann");
  await db.sql("analyze svc.webhook_deliveries");
  const id = await addNote("ann", "1");
  await change(id, "2");
  await addNote("ann", "other");
  const system = await db.connect("admin");
  await system.query("begin");
  const { rows } = await system.query("select * from svc_private.claim_deliveries(50, '1 minute')");
  await system.query("select svc_private.end_delivery($1, 1, 200, null, null)", [rows[0].id]);
  const scans = "select pg_stat_get_xact_numscans('svc.webhook_deliveries_endpoint'::regclass)::int as it";
  const { rows: count } = await system.query(scans);
  await system.query("rollback");
  expect(rows.map(title)).toEqual(["1"]);
  expect(count).toEqual([{ it: 0 }]);
});

test("an endpoint that asks to wait gets nothing until then, although deliveries to it are still being sent", async () => {
  const endpoint = await addEndpoint("ann", "/ann");
  const open = await widen(endpoint);
  await end(open[0] as Claimed, 429, 3_600_000);
  await end(open[1] as Claimed);
  expect(await claim()).toEqual([]);
});

test("many endpoints share what a worker sends at a time", async () => {
  const endpoints = [await addEndpoint("ann", "/a"), await addEndpoint("ann", "/b"), await addEndpoint("ann", "/c")];
  await db.sql("insert into notes (user_id, title) select 'ann', n::text from generate_series(1, 20) n");
  await db.sql(
    `insert into svc_private.webhook_leases (source, endpoint, busy_until, places)
     select '"public"."endpoints"', e, now(), 10 from unnest($1::text[]) e`,
    [endpoints],
  );
  const count = Object.groupBy(await claim(6), ({ endpoint }) => endpoint);
  expect(endpoints.map((one) => count[one]?.length)).toEqual([2, 2, 2]);
  expect(await claim(50)).toHaveLength(24);
});

test("a claim ends when it has sixteen mebibytes", async () => {
  for (const path of ["/a", "/b", "/c"]) await addEndpoint("ann", path);
  await addNote("ann", "x".repeat(9_000_000));
  expect([await claim(), await claim(), await claim()]).toMatchObject([{ length: 2 }, { length: 1 }, { length: 0 }]);
});

test("workers that run beside each other send each change once, rows in their order, whatever the receiver answers", async () => {
  const open = new Set<unknown>();
  const accepted = new Map<unknown, number[]>();
  let most = 0;
  let overlapped = 0;
  let turn = 0;
  answers.set("/ann", async ({ body: { data } }) => {
    if (open.has(data.id)) overlapped++;
    open.add(data.id);
    most = Math.max(most, open.size);
    const status = ++turn % 17 === 0 ? 500 : 200;
    await sleep(turn % 7);
    open.delete(data.id);
    if (status === 200) accepted.set(data.id, [...(accepted.get(data.id) ?? []), Number(data.title)]);
    return status;
  });
  await addEndpoint("ann", "/ann");
  await Promise.all([worker(), worker()]);
  await db.sql("insert into notes (user_id, title) select 'ann', '0' from generate_series(1, 20)");
  for (let n = 1; n <= 6; n++) await db.sql("update notes set title = $1", [String(n)]);
  const hurrying = setInterval(() => {
    // What is being sent is due in a minute.
    void db.sql(`update svc.webhook_deliveries set due_at = now()
      where state = 'pending' and last_error is not null and due_at < now() + interval '30 seconds'`);
  }, 50);
  await settled().finally(() => clearInterval(hurrying));
  expect(await deliveries()).toHaveLength(140);
  expect([...accepted.values()]).toEqual(Array(20).fill([0, 1, 2, 3, 4, 5, 6]));
  expect(overlapped).toBe(0);
  expect(most).toBeGreaterThan(1);
});

test("an endpoint whose wait is longer than a receiver may ask for gets its deliveries: the clock was set back", async () => {
  await addEndpoint("ann", "/ann");
  await addNote("ann", "1");
  for (const one of await claim()) await end(one, 429, 86_400_000);
  await addNote("ann", "2");
  expect(await claim()).toEqual([]);
  await db.sql("update svc_private.webhook_leases set busy_until = busy_until + interval '1 hour'");
  expect(await claim()).toHaveLength(1);
});
