// If this file fails, a change is told that was rolled back, one is not told, or a receiver gets what it may not see.
import { expect, test } from "vitest";
import { database } from "../support/database.ts";
import { service } from "../support/service.ts";
import { until } from "../support/worker.ts";
import { webhooks } from "./application.ts";
import { api } from "./definitions.ts";

const db = database();
const { deliveries, addEndpoint, addNote } = webhooks(db);
const running = service(db, api);

const told = async () =>
  (await deliveries()).map(({ webhook, endpoint, body }) => {
    const { operation, data } = JSON.parse(body);
    return [webhook, endpoint, operation, data.title];
  });

test("a request's change is noted with its commit, and not without one", async () => {
  const ann = await running.signUp("ann");
  const endpoint = await addEndpoint(ann.id, "/ann");
  const { body } = await running.mutate(ann, "notes.create", { title: "boat" });
  const { id } = body.json;
  expect((await running.mutate(ann, "notes.update", { id, title: null })).status).toBe(400);
  expect(await told()).toEqual([["note-changed", endpoint, "insert", "boat"]]);
  await running.mutate(ann, "notes.update", { id, title: "crane" });
  await running.mutate(ann, "notes.remove", { id });
  expect((await told()).slice(1)).toEqual([
    ["note-changed", endpoint, "update", "crane"],
    ["note-changed", endpoint, "delete", "crane"],
  ]);

  const listener = await db.connect("admin");
  let notices = 0;
  listener.on("notification", () => notices++);
  await listener.query("listen svc_webhooks");
  const client = await db.connect("admin");
  const insert = "insert into notes (user_id, title) values ($1, 'gone')";
  await client.query("begin");
  await client.query(insert, [ann.id]);
  await client.query("rollback");
  expect([await told(), notices]).toEqual([expect.objectContaining({ length: 3 }), 0]);
  await client.query("begin");
  await client.query(insert, [ann.id]);
  await client.query("savepoint s");
  await client.query(insert, [ann.id]);
  await client.query("rollback to s");
  await client.query("commit");
  await until(() => notices > 0);
  expect([await told(), notices]).toEqual([expect.objectContaining({ length: 4 }), 1]);
});

test("changes by psql and by COPY are noted", async () => {
  await addEndpoint("ann", "/ann");
  await addNote("ann", "by hand");
  await db.sql(String.raw`copy notes (user_id, title) from program 'printf "ann\trow 1\nann\trow 2\n"'`);
  expect((await told()).map(([, , , title]) => title)).toEqual(["by hand", "row 1", "row 2"]);
});

test("an endpoint gets the rows of its owner alone, and only what it chose", async () => {
  const ann = await addEndpoint("ann", "/ann");
  await addEndpoint("ann", "/other", "another-webhook");
  const bob = await addEndpoint("bob", "/bob");
  await db.sql("update endpoints set enabled = false where id = $1", [await addEndpoint("bob", "/off")]);
  await addNote("ann", "of ann");
  await addNote("bob", "of bob");
  await addNote("carl", "of carl");
  expect(await told()).toEqual([
    ["note-changed", ann, "insert", "of ann"],
    ["note-changed", bob, "insert", "of bob"],
  ]);
});

test("only the named columns leave, in the form of the wire", async () => {
  const id = await addNote("ann", "boat");
  await db.sql("set timezone = 'Asia/Seoul'; set datestyle = 'German'; update notes set done = true");
  await db.sql("reset timezone; reset datestyle");
  const [one] = await deliveries();
  const { timestamp, ...body } = JSON.parse(one?.body ?? "");
  expect(body).toEqual({
    type: "note.done",
    operation: "update",
    data: { id, title: "boat", createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+\+00:00$/) },
  });
  expect(timestamp).toMatch(/\+00:00$/);
  expect(one?.body).not.toContain("ann");
});

test("a row of more than 16 MiB is refused, with what to do, and a shorter one is told", async () => {
  const ann = await running.signUp("long");
  await addEndpoint(ann.id, "/ann");
  await expect(addNote(ann.id, "x".repeat(16 * 1024 * 1024))).rejects.toMatchObject({
    message: "the webhook note-changed tells at most 16 MiB of a row",
    hint: "Leave long columns out of its columns, and let the receiver read them by the key.",
  });
  expect(await deliveries()).toEqual([]);
  await addNote(ann.id, "x".repeat(16 * 1024 * 1024 - 1000));
  expect(await deliveries()).toHaveLength(1);
});

test("an update is told when the row begins to match the filter, or a named column changes while it does", async () => {
  await addNote("ann", "boat");
  const count = async (change: string) => {
    const before = (await deliveries()).length;
    await db.sql(`update notes set ${change}`);
    return (await deliveries()).length - before;
  };
  expect(await count("title = 'crane'")).toBe(0);
  expect(await count("done = true")).toBe(1);
  expect(await count("done = true, priority = 5")).toBe(0);
  expect(await count("title = 'dock'")).toBe(1);
  expect(await count("title = 'dock'")).toBe(0);
  expect(await count("done = false")).toBe(0);
  expect(await count("done = true, title = 'pier'")).toBe(1);
});

test("a row that a trigger of the application changes once more is told in the order of its changes", async () => {
  await db.sql(`create function public.finish() returns trigger language plpgsql security definer as
      $$ begin update notes set title = 'final' where id = new.id; return null; end $$;
    create trigger finish after insert on notes for each row execute function public.finish()`);
  await addEndpoint("ann", "/ann");
  await addNote("ann", "draft");
  await db.sql("drop function public.finish() cascade");
  expect((await told()).map(([, , operation, title]) => [operation, title])).toEqual([
    ["insert", "draft"],
    ["update", "final"],
  ]);
});
