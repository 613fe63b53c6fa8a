// If this file fails, a claim sends two deliveries of a row at once, lets an endpoint wait behind one that cannot be sent to,
// sends to an endpoint that asked to wait, or ends deliveries that belong to others.
import { beforeEach, expect, test } from "vitest";
import { database, waitsForLock } from "../support/database.ts";
import { webhooks } from "./application.ts";

const db = database();
const { addEndpoint } = webhooks(db); // declares them
beforeEach(() => db.sql("truncate svc.webhook_deliveries, svc_private.webhook_leases, endpoints"));

const base = {
  webhook: "note.done",
  source: "env",
  endpoint: "a",
  row_key: "1",
  state: "pending",
  body: "{}",
  due_at: "2020-01-01",
  ended_at: null as string | null,
  owner: null as string | null,
};
const later = "2090-01-01";

/** Adds a delivery. @returns its id */
async function add(difference: Partial<typeof base> = {}): Promise<string> {
  const all = { ...base, ...difference };
  const names = Object.keys(all);
  const [row] = await db.sql(
    `insert into svc.webhook_deliveries (${names}) values (${names.map((_, place) => `$${place + 1}`)}) returning id`,
    Object.values(all),
  );
  return row?.id;
}
/** What an endpoint is being sent. */
const lease = (endpoint: string, difference: { busy_until?: string; places?: number; sending?: string[] } = {}) => {
  const { busy_until, places, sending } = { busy_until: "2021-01-01", places: 10, sending: [], ...difference };
  return db.sql(
    "insert into svc_private.webhook_leases (source, endpoint, busy_until, places, sending) values ('env', $1, $2, $3, $4)",
    [endpoint, busy_until, places, sending],
  );
};
const claim = async (most = 50): Promise<string[]> =>
  (await db.sql("select id from svc_private.claim_deliveries($1, '1 minute')", [most])).map(({ id }) => id);
const one = async (id: string) => (await db.sql("select * from svc.webhook_deliveries where id = $1", [id]))[0];

test("a delivery is claimed once, with its lease, and again when that has ended", async () => {
  const id = await add();
  const asked = await db.sql("select * from svc_private.claim_deliveries(9, '1 minute')");
  expect(asked).toEqual([
    { id, webhook: "note.done", source: "env", endpoint: "a", body: "{}", attempt: 1, url: null, secret: null },
  ]);
  expect(await claim()).toEqual([]);
  const [left] = await db.sql("select due_at - now() between '30 s' and '1 min' as it from svc.webhook_deliveries");
  expect(left).toEqual({ it: true });
  await db.sql("update svc.webhook_deliveries set due_at = now()");
  expect(await claim()).toEqual([id]);
  expect(await one(id)).toMatchObject({ attempts: 2, state: "pending" });
});

test("what is sent first is what has been due longest, one of each row, as many as the endpoint has places", async () => {
  await lease("a", { places: 2 });
  // Other endpoints, which have asked to wait.
  for (const [source, endpoint] of [
    ["env", "b"],
    ['"public"."others"', "a"],
  ] as const) {
    await add({ source, endpoint, row_key: "0", due_at: "2019-01-01" });
    await db.sql(
      "insert into svc_private.webhook_leases (source, endpoint, busy_until) values ($1, $2, now() + interval '1 hour')",
      [source, endpoint],
    );
  }
  await add({ row_key: "1", due_at: "2020-01-03" });
  const [second, first] = [
    await add({ row_key: "2", due_at: "2020-01-02" }),
    await add({ row_key: "3", due_at: "2020-01-01" }),
  ];
  await add({ row_key: "3", due_at: "2020-01-01" });
  expect(await claim()).toEqual([first, second]);
  expect(await claim()).toEqual([]);
});

test.each([
  ["has nothing that is due", { due_at: later }, undefined],
  ["is sent as many as it may get", {}, { places: 1 }],
])("an endpoint that %s takes no turn of another one", async (_, difference, places) => {
  const sending = await add({ due_at: later, row_key: "2" });
  await add(difference);
  await add({ row_key: "3", state: "sent", ended_at: "2021-01-01" }); // neither this one counts, nor one of another source
  await add({ source: '"public"."others"' });
  await db.sql(`insert into svc_private.webhook_leases (source, endpoint, busy_until)
    values ('"public"."others"', 'a', now() + interval '1 hour')`);
  if (places) await lease("a", { ...places, sending: [sending] });
  const other = await add({ endpoint: "b" });
  await lease("b");
  expect(await claim(1)).toEqual([other]);
});

test("what has ended, and what has lost its lease, takes no place", async () => {
  const sending = [
    await add({ row_key: "2", state: "sent", ended_at: "2021-01-01", due_at: later }),
    await add({ row_key: "3" }),
  ];
  await lease("a", { places: 1, sending });
  const [row] = await db.sql("select count(*)::integer from svc.webhook_deliveries where state = 'pending'");
  expect(row).toEqual({ count: 1 });
  expect(await claim()).toEqual([sending[1]]);
});

test("the endpoint that was served longest ago is first, before it one that never was", async () => {
  const ids: string[] = [];
  for (const endpoint of ["a", "b", "c"]) ids.push(await add({ endpoint }));
  await lease("a", { busy_until: "2022-01-01" });
  await lease("b", { busy_until: "2021-01-01" });
  expect([await claim(1), await claim(1), await claim(1)]).toEqual([[ids[2]], [ids[1]], [ids[0]]]);
});

test("endpoints share what a call returns", async () => {
  for (const endpoint of ["a", "b"]) {
    await lease(endpoint);
    for (const row_key of ["1", "2", "3", "4"]) await add({ endpoint, row_key });
  }
  const rows = await db.sql("select endpoint from svc_private.claim_deliveries(5, '1 minute')");
  expect(rows.map(({ endpoint }) => endpoint)).toEqual(["a", "a", "b", "b"]);
});

test("an endpoint that asked to wait gets nothing; a wait of more than a day is of a wrong clock", async () => {
  const ids = [await add(), await add({ endpoint: "b" })];
  await lease("b", { busy_until: "2080-01-01" });
  await db.sql(
    "insert into svc_private.webhook_leases (source, endpoint, busy_until) values ('env', 'a', now() + '23 h')",
  );
  expect(await claim()).toEqual([ids[1]]);
  await db.sql("update svc_private.webhook_leases set busy_until = now()");
  expect(await claim()).toEqual([ids[0]]);
});

test("a claim that waits for another one of the endpoint sends nothing that this one sends", async () => {
  const ids = [await add(), await add({ row_key: "2" })];
  await lease("a", { places: 1 });
  const other = await db.connect("system");
  await other.query("begin");
  const text = "select id from svc_private.claim_deliveries(50, '1 minute')";
  expect((await other.query(text)).rows).toEqual([{ id: ids[0] }]);
  const second = await db.connect("system");
  const waiting = second.query(text);
  await expect.poll(() => db.sql(waitsForLock)).toHaveLength(1);
  await other.query("commit");
  expect((await waiting).rows).toEqual([]);
});

test("of a row of which a later delivery is being sent an earlier one waits for it, others do not", async () => {
  const earlier = await add();
  const sent = await add({ due_at: later });
  const other = await add({ row_key: "2" });
  await lease("a", { sending: [sent] });
  expect(await claim()).toEqual([other]);
  expect((await one(earlier))?.due_at).toEqual((await one(sent))?.due_at);
});

test("of a row whose first delivery waits for its next attempt nothing is sent: the others get its time, and no other row's", async () => {
  await lease("a");
  const first = await add({ due_at: later });
  const [second, third] = [await add(), await add({ due_at: "2019-01-01" })];
  const other = await add({ row_key: "2", due_at: "2021-01-01" });
  const elsewhere = await add({ endpoint: "b", due_at: "2021-01-01" });
  expect((await claim()).sort()).toEqual([other, elsewhere].sort());
  const time = (await one(first))?.due_at;
  expect([(await one(second))?.due_at, (await one(third))?.due_at]).toEqual([time, time]);
});

test("after ten rows of which nothing can be sent a call looks no further, and the next one does", async () => {
  await lease("a");
  // Behind the first one of each row; each of the two calls sees one of the rows only when it gets there.
  for (let row = 10; row < 22; row++) await add({ row_key: `${row}`, due_at: later });
  for (let row = 10; row < 22; row++) await add({ row_key: `${row}` });
  const id = await add({ row_key: "99", due_at: "2021-01-01" });
  expect(await claim()).toEqual([id]);
});

test("a call ends when what it returns is larger than 16 MiB", async () => {
  await lease("a");
  const body = JSON.stringify("é".repeat(4_500_000));
  const ids: string[] = [];
  for (const row_key of ["1", "2", "3"]) ids.push(await add({ row_key, body }));
  const other = await add({ endpoint: "b", row_key: "4" });
  expect(await claim(40)).toEqual(ids.slice(0, 2));
  expect((await claim(40)).sort()).toEqual([ids[2], other].sort());
});

const source = '"public"."endpoints"';
const said = async (id: string) => {
  const { state, last_error } = (await one(id)) ?? {};
  return [state, last_error];
};

test("deliveries to an endpoint that was deleted are dead, but for what is being sent and what is another one's", async () => {
  const gone = "00000000-0000-4000-8000-000000000000";
  const [sending, dead, also] = [
    await add({ source, endpoint: gone, row_key: "2", due_at: later }),
    await add({ source, endpoint: gone }),
    await add({ source, endpoint: gone, due_at: later }),
  ];
  const sent = await add({ source, endpoint: gone, state: "sent", ended_at: "2021-01-01" });
  const kept = [await add({ endpoint: gone, due_at: later }), await add({ source, endpoint: "b", due_at: later })];
  await db.sql(
    "insert into svc_private.webhook_leases (source, endpoint, busy_until, places, sending) values ($1, $2, now(), 9, array[$3::uuid])",
    [source, gone, sending],
  );
  expect(await claim()).toEqual([]);
  expect([await said(dead), await said(also)]).toEqual(Array(2).fill(["dead", "The endpoint was deleted."]));
  expect(await said(sent)).toEqual(["sent", null]);
  for (const id of [sending, ...kept]) expect(await said(id)).toEqual(["pending", null]);
});

test("what was noted for the owner before is dead, and the rest of it is sent", async () => {
  const webhook = "note-changed";
  const endpoint = await addEndpoint("ann", "/ann");
  const other = await addEndpoint("ann", "/other");
  await db.sql(
    "insert into svc_private.webhook_leases (source, endpoint, busy_until, places) values ($1, $2, now(), 9)",
    [source, endpoint],
  );
  const to = { source, endpoint, webhook };
  const dead = [
    await add({ ...to, owner: "bob", row_key: "1" }),
    await add({ ...to, owner: "bob", row_key: "2", due_at: later }),
  ];
  const pending = [
    await add({ ...to, endpoint: other, owner: "bob", due_at: later }),
    await add({ ...to, owner: "ann", row_key: "3", due_at: later }),
    await add({ ...to, webhook: "note.done", owner: "bob", row_key: "4", due_at: later }),
  ];
  const sent = [await add({ ...to, owner: "ann", row_key: "5" }), await add({ ...to, row_key: "6" })];
  expect(await claim()).toEqual(sent);
  for (const id of dead) expect(await said(id)).toEqual(["dead", "The endpoint belongs to somebody else now."]);
  for (const id of pending) expect(await said(id)).toEqual(["pending", null]);
});

test("an endpoint that is off is looked at again after the lease, and nothing of it is sent", async () => {
  const endpoint = await addEndpoint("ann", "/ann");
  await db.sql("update endpoints set enabled = false");
  const id = await add({ source, endpoint });
  await lease(endpoint); // of another source, and one of another endpoint
  await db.sql("insert into svc_private.webhook_leases (source, endpoint, busy_until) values ($1, 'b', '2021-01-01')", [
    source,
  ]);
  expect(await claim()).toEqual([]);
  expect(await db.sql("select from svc_private.webhook_leases where busy_until < now()")).toHaveLength(2);
  const [row] = await db.sql(
    "select busy_until between now() + '30 s' and now() + '1 min' as waits from svc_private.webhook_leases where source = $1 and endpoint = $2",
    [source, endpoint],
  );
  expect(row).toEqual({ waits: true });
  await db.sql("update endpoints set enabled = true");
  expect(await claim()).toEqual([]);
  await db.sql("update svc_private.webhook_leases set busy_until = now()");
  const [claimed] = await db.sql(
    "select id, secret is not null as has from svc_private.claim_deliveries(9, '1 minute')",
  );
  expect(claimed).toEqual({ id, has: true });
});

test("the URL and the secret of an endpoint go with its own deliveries alone", async () => {
  await add({ source, endpoint: await addEndpoint("ann", "/ann") });
  await add();
  const text =
    "select source, url is not null as url, secret is not null as secret from svc_private.claim_deliveries(9, '1 min')";
  expect(await db.sql(text)).toEqual([
    { source, url: true, secret: true },
    { source: "env", url: false, secret: false },
  ]);
});
