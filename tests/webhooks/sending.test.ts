// If this file fails, a webhook is lost, comes unsigned, out of order or to a redirect, is given up too early, or never.

import { fork } from "node:child_process";
import { createHmac } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readSecrets, signatureHeaders } from "../../src/webhooks/signature.ts";
import { database } from "../support/database.ts";
import { secret as serviceSecret } from "../support/service.ts";
import { until } from "../support/worker.ts";
import { otherSecret, secret, webhooks } from "./application.ts";

const db = database();
const { got, answers, waits, deliveries, config, worker, hurry, settled, addEndpoint, addNote } = webhooks(db);

const paths = (path: string) => got.filter((one) => one.path === path).map(({ body }) => body.data.title);
const states = async () => (await deliveries()).map(({ state, attempts }) => [state, attempts]);
const done = (title: string) => db.sql("update notes set done = true where title = $1", [title]);
const verify = ({ headers, text }: (typeof got)[number], key: string) =>
  String(headers["webhook-signature"])
    .split(" ")
    .includes(
      `v1,${createHmac("sha256", Buffer.from(key.slice(6), "base64"))
        .update(`${headers["webhook-id"]}.${headers["webhook-timestamp"]}.${text}`)
        .digest("base64")}`,
    );

test("signatures are those of Standard Webhooks: its published example", () => {
  const keys = readSecrets("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
  expect(signatureHeaders(keys, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, '{"test": 2432232314}')).toEqual({
    "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
    "webhook-timestamp": "1614265330",
    "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
  });
  for (const wrong of ["whsec_", "whsec_c2hvcnQ=", secret.slice(6), `${secret}!`]) {
    expect(() => readSecrets(wrong)).toThrow("The secret is not whsec_ and 24 to 64 bytes in base64.");
  }
});

test("each receiver gets its deliveries once, signed with its secret", async () => {
  await worker();
  await addEndpoint("ann", "/ann");
  await addNote("ann", "boat");
  await done("boat");
  await settled();
  expect(paths("/ann")).toEqual(["boat"]);
  expect(paths("/done")).toEqual(["boat"]);
  for (const one of got) {
    expect(verify(one, one.path === "/done" ? secret : otherSecret)).toBe(true);
    expect(verify(one, one.path === "/done" ? otherSecret : secret)).toBe(false);
    expect(one.headers).toMatchObject({ "content-type": "application/json", "user-agent": "svc" });
  }
  const sent = await deliveries();
  expect(sent.map(({ id }) => id).sort()).toEqual(got.map(({ headers }) => headers["webhook-id"]).sort());
  expect(sent.map(({ state, last_status }) => [state, last_status])).toEqual(Array(2).fill(["sent", 200]));
});

test("while a secret is replaced, both sign", async () => {
  await worker({ config: await config({ DONE_HOOK_SECRET: `${otherSecret}, ${secret}` }) });
  await addNote("ann", "boat");
  await done("boat");
  await settled();
  const [one] = got as [(typeof got)[number]];
  expect([verify(one, secret), verify(one, otherSecret)]).toEqual([true, true]);
});

test("a failing receiver is asked again; its row waits, other rows and other receivers do not", async () => {
  await worker();
  answers.set("/ann", 500);
  await addEndpoint("ann", "/ann");
  await addEndpoint("ann", "/well");
  const id = await addNote("ann", "1");
  await until(async () => (await deliveries()).some(({ last_error }) => last_error === "The receiver answered 500."));
  answers.delete("/ann");
  await db.sql("update notes set title = '2' where id = $1", [id]);
  await addNote("ann", "other");
  // Sent, and noted as sent: what is hurried before is sent again.
  await until(async () => (await deliveries()).filter(({ state }) => state === "sent").length === 4);
  expect(paths("/well")).toHaveLength(3);
  expect(paths("/ann")).toEqual(["1", "other"]);
  await hurry();
  await settled();
  expect(paths("/ann")).toEqual(["1", "other", "1", "2"]);
  expect(paths("/well").filter((title) => title !== "other")).toEqual(["1", "2"]);
  const first = got.filter(({ path, body }) => path === "/ann" && body.data.title === "1");
  expect(new Set(first.map(({ headers }) => headers["webhook-id"])).size).toBe(1);
});

test("a receiver that hangs keeps no other receiver waiting", async () => {
  const { promise, resolve } = Promise.withResolvers<number>();
  answers.set("/slow", promise);
  await worker();
  await addEndpoint("ann", "/slow");
  await addEndpoint("ann", "/quick");
  for (const title of ["1", "2", "3"]) await addNote("ann", title);
  await until(() => paths("/quick").length === 3);
  expect(paths("/slow")).toHaveLength(1);
  resolve(200);
  await settled();
  expect(paths("/slow")).toEqual(["1", "2", "3"]);
});

test("after eleven attempts a delivery is dead, a redirect is not followed, and later ones of the row are sent", async () => {
  await worker();
  answers.set("/ann", 302);
  await addEndpoint("ann", "/ann");
  const id = await addNote("ann", "1");
  for (let attempts = 1; attempts < 11; attempts++) {
    await until(async () => (await deliveries())[0]?.attempts === attempts && got.length === attempts);
    await until(async () => (await db.sql("select from svc_private.webhook_leases where sending = '{}'")).length > 0);
    await hurry();
  }
  await settled();
  expect(await states()).toEqual([["dead", 11]]);
  expect((await deliveries())[0]).toMatchObject({ last_status: 302, last_error: "The receiver answered 302." });
  expect(paths("/elsewhere")).toEqual([]);
  answers.delete("/ann");
  await db.sql("update notes set title = '2' where id = $1", [id]);
  await until(() => paths("/ann").includes("2"));
});

test("410 ends a delivery at once and leaves the endpoint on", async () => {
  await worker();
  answers.set("/ann", 410);
  await addEndpoint("ann", "/ann");
  await addNote("ann", "1");
  await settled();
  expect(await states()).toEqual([["dead", 1]]);
  expect(await db.sql("select enabled from endpoints")).toEqual([{ enabled: true }]);
});

const inHours = (hours: number) => new Date(Date.now() + hours * 3_600_000).toUTCString();
test.for<[status: number, wait: string, hours: number]>([
  [429, "7200", 2],
  [503, inHours(3), 3],
  [503, "90000", 0], // more than a day is not meant
  [429, inHours(-1), 0],
  [429, "1", 0], // less than our own wait
  [429, "soon", 0],
  [500, "7200", 0],
])("a receiver that answers %j with Retry-After %j is left alone for %j hours", async ([status, wait, hours]) => {
  await worker();
  answers.set("/ann", status);
  waits.set("/ann", wait);
  await addEndpoint("ann", "/ann");
  await addNote("ann", "1");
  await until(async () => (await deliveries())[0]?.last_status === status);
  const [due] = await db.sql(
    `select round(extract(epoch from d.due_at - now()) / 3600)::integer as hours, d.due_at > clock_timestamp() as later,
            round(extract(epoch from l.busy_until - now()) / 3600)::integer as paused
       from svc.webhook_deliveries d, svc_private.webhook_leases l`,
  );
  expect(due).toEqual({ hours, later: true, paused: hours });
});

test("while a receiver asks to wait, it gets no other row either; after it, rows in their order; a retry does not wait", async () => {
  await worker();
  answers.set("/ann", 429);
  waits.set("/ann", "7200");
  await addEndpoint("ann", "/ann");
  await addEndpoint("ann", "/well");
  const id = await addNote("ann", "1");
  await until(async () => (await deliveries()).some(({ last_status }) => last_status === 429));
  answers.delete("/ann");
  await db.sql("update notes set title = '2' where id = $1", [id]);
  await addNote("ann", "other");
  await until(() => paths("/well").length === 3);
  expect(paths("/ann")).toEqual(["1"]);
  await db.sql("update svc.webhook_deliveries set state = 'dead', ended_at = now() where last_status = 429");
  await db.sql("select svc_private.retry_deliveries(null, null)");
  await settled();
  expect(paths("/ann").filter((title) => title !== "other")).toEqual(["1", "1", "2"]);
});

test("an endpoint that is off gets nothing until it is on, and one that is deleted nothing more", async () => {
  const id = await addEndpoint("ann", "/ann");
  const gone = await addEndpoint("ann", "/gone");
  await addNote("ann", "1");
  await db.sql("update endpoints set enabled = false where id = $1", [id]);
  await db.sql("delete from endpoints where id = $1", [gone]);
  await worker();
  await until(async () => (await deliveries()).some(({ state }) => state === "dead"));
  await until(async () => (await db.sql("select from svc_private.webhook_leases")).length === 2);
  expect(await states()).toEqual([
    ["pending", 0],
    ["dead", 0],
  ]);
  await db.sql("update endpoints set enabled = true");
  await hurry();
  await settled();
  expect(got.map(({ path }) => path)).toEqual(["/ann"]);
  expect((await deliveries())[1]?.last_error).toBe("The endpoint was deleted.");
});

test("an endpoint whose table got keys of another type is gone, and others are sent to", async () => {
  await db.sql(`create table public.hooks (id integer primary key, url text, secret text, enabled boolean);
    alter table public.hooks owner to svc_owner`);
  await db.sql(`insert into svc.webhook_deliveries (webhook, source, endpoint, row_key, body)
    values ('note-changed', 'public.hooks', '3000000000', 'a', '{}')`);
  await addEndpoint("ann", "/ann");
  await addNote("ann", "boat");
  await worker();
  await settled();
  expect((await deliveries()).map(({ state }) => state)).toEqual(["dead", "sent"]);
  await db.sql("drop table public.hooks");
});

test("a late answer, a missing variable and a wrong secret are errors that tell no secret", async () => {
  const { promise, resolve } = Promise.withResolvers<number>();
  answers.set("/slow", promise);
  await worker({ config: await config({ DONE_HOOK: "" }, { timeoutMs: 100 }) });
  await addEndpoint("ann", "/slow");
  const other = await addEndpoint("ann", "/ann");
  await db.sql("update endpoints set secret = 'hunter2' where id = $1", [other]);
  await addNote("ann", "boat");
  await done("boat");
  await until(async () => (await deliveries()).every(({ last_error }) => last_error !== null));
  resolve(200);
  expect(new Set((await deliveries()).map(({ last_error }) => last_error))).toEqual(
    new Set([
      "The receiver did not answer within 100 ms.",
      "DONE_HOOK is not set.",
      "The secret is not whsec_ and 24 to 64 bytes in base64.",
    ]),
  );
});

test("deliveries that wait for an earlier one of their row are not read by each claim", async () => {
  const claim = () => db.sql("select id, attempt from svc_private.claim_deliveries(50, '1 minute')");
  await addEndpoint("ann", "/ann");
  const id = await addNote("ann", "0");
  for (const title of ["1", "2"]) await db.sql("update notes set title = $2 where id = $1", [id, title]);
  const [first] = await claim();
  await db.sql("select svc_private.end_delivery($1, 1, 500, 'no')", [first?.id]);
  await addNote("ann", "other");
  expect(await claim()).toHaveLength(1);
  const times = await db.sql(
    "select distinct due_at from svc.webhook_deliveries where attempts <> 1 or last_status = 500",
  );
  expect(times).toHaveLength(1);
  await worker();
  await hurry();
  await settled();
  expect(paths("/ann").filter((title) => title !== "other")).toEqual(["0", "1", "2"]);
});

test("the end of an attempt waits for a claim of its endpoint, and holds nothing meanwhile", async () => {
  await addEndpoint("ann", "/ann");
  await addNote("ann", "boat");
  const [one] = await db.sql("select id from svc_private.claim_deliveries(1, '1 minute')");
  const [claiming, sending] = [await db.connect("admin"), await db.connect("admin")];
  const { pid } = (await sending.query("select pg_backend_pid() as pid")).rows[0];
  await claiming.query("begin; select from svc_private.webhook_leases for update");
  const ended = sending.query("select svc_private.end_delivery($1, 1, 200, null) as state", [one?.id]);
  try {
    const blockers = () => db.sql("select unnest(pg_blocking_pids($1))", [pid]);
    await expect.poll(blockers).toHaveLength(1);
    await claiming.query("select from svc.webhook_deliveries for update nowait");
  } finally {
    await claiming.query("rollback");
  }
  expect((await ended).rows).toEqual([{ state: "sent" }]);
  await Promise.all([claiming.end(), sending.end()]);
});

test("a receiver that changes to another protocol ends its attempt, and the worker can stop", async () => {
  const upgrading = createServer((request) => request.socket.end(`${upgrade}\r\n\r\n`));
  await new Promise<void>((listening) => upgrading.listen(0, "127.0.0.1", listening));
  const one = await worker();
  await addEndpoint("ann", `http://127.0.0.1:${(upgrading.address() as AddressInfo).port}/`);
  await addNote("ann", "boat");
  await until(async () => (await deliveries()).every(({ last_error }) => last_error !== null));
  expect(await deliveries()).toMatchObject([{ state: "pending", attempts: 1, last_status: null }]);
  await one.stop(); // waits for attempts
  upgrading.close();
});
const upgrade = "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket";

test("a delivery whose worker is killed is sent again", async () => {
  answers.set("/ann", new Promise(() => {}));
  await addEndpoint("ann", "/ann");
  await addNote("ann", "boat");
  const child = fork(join(import.meta.dirname, "worker-child.ts"), [JSON.stringify(db.urls), serviceSecret]);
  await until(() => got.length === 1);
  child.kill("SIGKILL");
  await new Promise((ended) => child.once("exit", ended));
  answers.delete("/ann");
  await worker();
  expect(await states()).toEqual([["pending", 1]]);
  await hurry(); // the end of the lease
  await settled();
  expect(await states()).toEqual([["sent", 2]]);
  const [first, second] = got;
  expect(second?.headers["webhook-id"]).toBe(first?.headers["webhook-id"]);
});
