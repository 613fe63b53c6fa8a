// If this file fails, an option of createCrud does not have its documented effect on subscribers.
import { beforeAll, describe, expect, test } from "vitest";
import { database } from "../support/database.ts";
import { bearer, service } from "../support/service.ts";
import { cutReader, heard, sockets } from "../support/sockets.ts";

const db = database();
const running = service(db);
beforeAll(() => db.sql("set synchronous_commit to on"));
const connect = sockets(running);

/** A user with a note who watches list and row of a resource, and a socket that receives events of every note. */
async function watching(prefix: string) {
  const ann = await running.signUp("ann");
  const [note] = await db.sql("insert into notes (user_id, title) values ($1, 'x') returning id", [ann.id]);
  const row = `${prefix}.get::{"id":${note?.id}}`;
  const [socket, witness] = [await connect(ann), await connect(ann)];
  await socket.subscribe(`${prefix}.list`);
  await socket.subscribe(row);
  await witness.subscribe("notes.list");
  for (const one of [socket, witness]) await heard(one, db); // of the insert above
  return { ann, id: note?.id, row, socket, witness };
}

describe("without the option", () => {
  test("the whole list is told of every row, and a get of its own row alone", async () => {
    const { ann, id, row, socket } = await watching("notes");
    const other = 'notes.get::{"id":2147483647}';
    await socket.subscribe(other);
    await running.mutate(ann, "notes.update", { id, title: "y" });
    await socket.wait({ type: "invalidate", queries: [row, "notes.list"] });
    await running.mutate(ann, "notes.create", { title: "another" });
    await socket.wait({ type: "invalidate", queries: ["notes.list"] });
    await running.mutate(ann, "notes.remove", { id });
    await socket.wait({ type: "invalidate", queries: [row, "notes.list"] });
    expect(await heard(socket, db)).toEqual([]);
  });

  test.each([
    ["posts.list", "public"],
    ["notes.list", "authorized"],
  ])("%s has the policy %s", async (query, policy) => {
    const ann = await running.signUp("ann");
    const { body } = await running.fetch("/api/realtime/query/authorize", {
      method: "POST",
      headers: { "content-type": "application/json", ...bearer(ann) },
      body: JSON.stringify({ query }),
    });
    expect(body).toMatchObject({ policy, subscriptionKey: query });
    const socket = await connect(ann);
    socket.send({ type: "subscribeQuery", token: body.token });
    await socket.wait({ type: "query:subscribed", subscriptionKey: query });
    await running.mutate(ann, query.replace("list", "create"), { title: "x" });
    await socket.wait({ type: "query:invalidate", query, subscriptionKey: query });
  });
});

test("realtime: false tells neither lists nor rows", async () => {
  const { ann, id, socket, witness } = await watching("silent_notes");
  await running.mutate(ann, "silent_notes.update", { id, title: "y" });
  await running.mutate(ann, "silent_notes.remove", { id });
  for (let n = 0; n < 2; n++) await witness.wait({ type: "invalidate", queries: ["notes.list"] });
  expect(await heard(socket, db)).toEqual([]);
});

test("listRealtime: false tells rows of their update and removal, and no list", async () => {
  const { ann, id, row, socket } = await watching("row_notes");
  await running.mutate(ann, "row_notes.create", { title: "new" });
  await running.mutate(ann, "row_notes.update", { id, title: "y" });
  expect((await socket.wait({ type: "invalidate" })).queries).toEqual([row]);
  await running.mutate(ann, "row_notes.remove", { id });
  expect((await socket.wait({ type: "invalidate" })).queries).toEqual([row]);
  expect(await heard(socket, db)).toEqual([]);
});

test("a row is the same row however its id is written", async () => {
  const ann = await running.signUp("ann");
  const { body } = await running.mutate(ann, "posts.create", { title: "x" });
  const socket = await connect(ann);
  const key = `posts.get::{"id":"${body.json.id.toUpperCase()}"}`;
  await socket.subscribe(key);
  await running.mutate(ann, "posts.update", { id: body.json.id, title: "y" });
  await socket.wait({ type: "invalidate", queries: [key] });
});

describe("a row that is somebody else's now", () => {
  test("tells the one who had it once, and never again, neither of its changes nor of its end", async () => {
    const { id, row, socket } = await watching("notes");
    const bob = await running.signUp("bob");
    await db.sql("update notes set user_id = $2 where id = $1", [id, bob.id]);
    await socket.wait({ type: "invalidate", queries: [row, "notes.list"] });
    await running.mutate(bob, "notes.update", { id, title: "his" });
    await running.mutate(bob, "notes.remove", { id });
    expect(await heard(socket, db)).toEqual([]);
    await db.sql("insert into notes (id, user_id, title) values ($1, $2, 'same id')", [id, bob.id]);
    expect(await heard(socket, db)).toEqual([]);
  });
});

test("how changes arrive is told to whoever runs the service, and takes nothing out of rotation", async () => {
  const metric = async (name: string) =>
    Number(new RegExp(`^${name} (\\d+)`, "m").exec((await running.fetch("/metrics")).body)?.[1]);
  const visitor = await connect(null);
  await visitor.subscribe("guestbook.list");
  await expect.poll(() => metric("svc_realtime_connections")).toBe(1); // those of the tests above have gone
  const before = await metric("svc_realtime_deliveries_total");
  await running.mutate(null, "guestbook.create", { message: "x" });
  await visitor.wait({ type: "invalidate", queries: ["guestbook.list"] });
  expect(await metric("svc_realtime_deliveries_total")).toBe(before + 1);
  expect(await metric("svc_realtime_connections")).toBeGreaterThanOrEqual(1);
  expect(await metric("svc_realtime_subscriptions")).toBeGreaterThanOrEqual(1);
  expect(await metric('svc_realtime_flow{flow="live"}')).toBe(1);
  expect((await running.fetch("/readyz")).body.checks).toMatchObject({
    realtime: "live",
    realtimeLagMs: expect.any(Number),
  });

  await cutReader(db);
  await visitor.wait({ type: "status", flow: "degraded" });
  expect((await running.fetch("/readyz")).status).toBe(200);
});
