// If this file fails, an API key reads or writes more through some door than its scopes say, or less.
import { beforeAll, describe, expect, test } from "vitest";
import { asker } from "../graphql/support.ts";
import type { User } from "../support/service.ts";
import { workers } from "../support/worker.ts";
import { api } from "./api-keys-application.ts";
import { keysWorld } from "./api-keys-world.ts";

const world = keysWorld();
const { db, app, keys } = world;
const graphql = asker(app);
const startWorker = workers(db, api);
let ann: User;
beforeAll(() => {
  ann = world.ann;
});

const json = (answer: { body: { json?: unknown } }) =>
  answer.body.json as never as { data: { title: string }[]; total: number };

describe("a generated list, get and export", () => {
  test("show a key with the scope the rows of its user, and no others", async () => {
    for (const key of [keys.read, keys.write, keys.all]) {
      const list = await app.query(key, "tickets.list", { filters: { title: { like: "of%" } } });
      expect(json(list).data.map(({ title }) => title)).toEqual(["of ann"]);
      expect(json(await app.query(key, "tickets.list")).total).toBe(1);
      const { id } = json(list).data[0] as never as { id: number };
      expect((await app.query(key, "tickets.get", { id })).body.json.title).toBe("of ann");
      expect((await app.query(key, "tickets.get", { id: id + 1 })).body.json).toBeNull();
      const file = await app.fetch("/api/export/tickets.csv", { headers: { authorization: `Bearer ${key.token}` } });
      expect([file.status, file.body]).toEqual([200, expect.stringContaining("of ann")]);
      expect(file.body).not.toContain("of bob");
      expect((await app.query(key, "tickets.aggregate", { measures: ["count"] })).body.json.data).toEqual([
        { count: 1 },
      ]);
    }
    expect(json(await app.query(keys.bob, "tickets.list")).data.map(({ title }) => title)).toEqual(["of bob"]);
  });

  test("are refused with a hint to a key without the scope", async () => {
    for (const [name, args] of [
      ["tickets.list"],
      ["tickets.get", { id: 1 }],
      ["tickets.aggregate", { measures: ["count"] }],
    ] as const) {
      const { status, body } = await app.query(keys.none, name, args);
      expect([status, body.code, body.hint]).toEqual([403, "FORBIDDEN", expect.stringContaining("tickets:read")]);
    }
    expect(
      (await app.fetch("/api/export/tickets.csv", { headers: { authorization: `Bearer ${keys.none.token}` } })).status,
    ).toBe(403);
  });

  test("show nothing of a table whose policies ask for no scope, except to a key for everything", async () => {
    for (const key of [keys.read, keys.write]) {
      expect(json(await app.query(key, "diaries.list"))).toMatchObject({ data: [], total: 0 });
      const file = await app.fetch("/api/export/diaries.csv", { headers: { authorization: `Bearer ${key.token}` } });
      expect(file.body).not.toContain("secret");
      expect(json(await app.query(key, "news.list")).total).toBe(0);
    }
    const all = json(await app.query(keys.all, "diaries.list", { include: { ticket: true } }));
    expect(all.data).toMatchObject([{ title: "secret", ticket: { title: "of ann" } }]);
    expect(json(await app.query(ann, "diaries.list")).total).toBe(1);
  });
});

describe("writes", () => {
  test("take the scope to write: by name, in a batch, with an idempotency key, and in code", async () => {
    const row = { title: "new" };
    for (const key of [keys.none, keys.read]) {
      expect((await app.mutate(key, "tickets.create", row)).body).toMatchObject({ code: "FORBIDDEN" });
      expect((await app.mutate(key, "tickets.updateMany", { set: row, max: 9 })).status).toBe(403);
      expect((await app.mutate(key, "add", row)).status).toBe(403);
      const calls = [{ name: "tickets.create", args: row }];
      expect((await app.post("/api/batch", { calls }, key)).status).toBe(403);
      expect((await app.post("/api/batch", { calls: [{ name: "add", args: row }] }, key)).status).toBe(403);
    }
    for (const key of [keys.write, keys.all]) {
      const made = await app.mutate(key, "tickets.create", row);
      expect([made.status, made.body.json]).toEqual([200, expect.objectContaining(row)]);
      const { id } = made.body.json;
      expect((await app.mutate(key, "tickets.update", { id, title: "changed" })).status).toBe(200);
      expect((await app.mutate(key, "tickets.remove", { id })).status).toBe(200);
      expect((await app.mutate(key, "add", row)).status).toBe(200);
      const calls = [
        { name: "tickets.create", args: row },
        { name: "add", args: row },
      ];
      expect((await app.post("/api/batch", { calls }, key)).status).toBe(200);
    }
    expect((await app.mutate(keys.write, "diaries.create", row)).status).toBe(403);
    await db.sql("delete from tickets where title in ('new', 'changed')");
  });

  test("the answer of an idempotency key goes to no key with fewer scopes", async () => {
    const send = (user: User) =>
      app.fetch("/api/mutation", {
        method: "POST",
        headers: {
          "content-type": "application/json",
          authorization: `Bearer ${user.token}`,
          "idempotency-key": "once",
        },
        body: JSON.stringify({ name: "tickets.create", args: { title: "once" } }),
      });
    const first = await send(ann);
    expect((await send(ann)).headers.get("idempotent-replayed")).toBe("true");
    expect((await send(keys.write)).status).toBe(409);
    expect(first.status).toBe(200);
    await db.sql("delete from tickets where title = 'once'");
  });

  test("the policies refuse what the service would let through", async () => {
    const pool = db.pool("request", 1);
    const insert = async (identity: string) => {
      const client = await pool.connect();
      await client.query("begin");
      await client.query("select set_config('svc.user_id', $1, true), set_config('role', 'svc_authenticated', true)", [
        identity,
      ]);
      const done = client
        .query("insert into tickets (user_id, title) values ($1, 'by hand') returning id", [ann.id])
        .then(
          () => "written",
          (error) => error.code,
        );
      const outcome = await done;
      await client.query("rollback");
      client.release();
      return outcome;
    };
    expect(await insert(ann.id)).toBe("written");
    expect(await insert(`${ann.id}\tkey\ttickets:write`)).toBe("written");
    for (const identity of ["key\ttickets:read", "key\t", "key", "key\ttickets:writes", "robot\ttickets:write"]) {
      expect(await insert(`${ann.id}\t${identity}`), identity).toBe("42501");
    }
  });
});

describe("code", () => {
  test("without a scope is open to keys for everything alone, also where anonymous callers reach it", async () => {
    const plain = (key: User) => app.fetch("/api/plain", { headers: { authorization: `Bearer ${key.token}` } });
    expect((await app.query(null, "unscoped")).body.json).toBe("reached");
    for (const key of [keys.none, keys.read, keys.write]) {
      expect((await app.query(key, "unscoped")).body).toMatchObject({
        code: "FORBIDDEN",
        hint: expect.stringContaining('"*"'),
      });
      expect((await plain(key)).status).toBe(403);
      expect((await app.query(key, "workflows.list")).status).toBe(403);
      expect((await app.mutate(key, "tickets.import", { storageId: ann.id, format: "csv" })).status).toBe(403);
    }
    expect((await app.query(keys.all, "unscoped")).body.json).toBe("reached");
    expect((await plain(keys.all)).body).toBe("reached");
    expect((await app.query(keys.all, "workflows.list")).status).toBe(200);
  });

  test("sees by ctx.db and ctx.read what the key may, and knows who acts", async () => {
    expect((await app.query(keys.read, "count")).body.json).toEqual({ tickets: 1, diaries: 0, besides: 1 });
    expect((await app.query(keys.all, "count")).body.json).toEqual({ tickets: 1, diaries: 1, besides: 1 });
    expect((await app.query(keys.none, "count")).status).toBe(403);
    const user = ann.id;
    const who = async (caller: User) => (await app.query(caller, "who")).body.json;
    expect(await who(keys.read)).toEqual({
      user,
      actor: "key",
      reads: true,
      writes: false,
      everything: false,
      misspelt: false,
    });
    expect(await who(keys.all)).toEqual({
      user,
      actor: "key",
      reads: true,
      writes: true,
      everything: true,
      misspelt: true,
    });
    expect(await who(ann)).toEqual({
      user,
      actor: "user",
      reads: true,
      writes: true,
      everything: true,
      misspelt: true,
    });
  });

  test("cannot change the account for a key", async () => {
    const { status, body } = await app.mutate(keys.write, "rename");
    expect([status, body.hint]).toEqual([403, expect.stringContaining("own session")]);
    expect(await db.sql(`select from auth."user" where name = 'Renamed'`)).toEqual([]);
  });

  test("that a key starts runs later as the user", async () => {
    expect((await app.mutate(keys.write, "later")).status).toBe(200);
    await startWorker();
    const titles = async () =>
      (await db.sql("select title from diaries where title <> 'secret' order by 1")).map(({ title }) => title);
    await expect.poll(titles, { timeout: 20_000 }).toEqual(["by job", "run by job"]);
    await db.sql("delete from diaries where title <> 'secret'");
  });
});

test("GraphQL shows and writes what the key may", async () => {
  const read = "{ tickets { nodes { title } } diaries { nodes { title } } }";
  expect((await graphql(keys.read, read)).data).toEqual({
    tickets: { nodes: [{ title: "of ann" }] },
    diaries: { nodes: [] },
  });
  expect((await graphql(keys.all, read)).data.diaries.nodes).toHaveLength(1);
  expect((await graphql(keys.none, "{ tickets { nodes { title } } }")).data.tickets.nodes).toEqual([]);
  const write = 'mutation { createTicket(input: { title: "by graphql" }) { title } }';
  const change = 'mutation { updateTicket(id: 1, patch: { title: "x" }) { id } }';
  const planned = "mutation { removeTicket(id: 1) other: removeTicket(id: 2) }"; // by PostGraphile
  for (const key of [keys.none, keys.read]) {
    for (const text of [write, change, planned]) {
      const { errors } = await graphql(key, text);
      const { code, hint } = errors[0]?.extensions ?? {};
      expect([code, hint], text).toEqual(["FORBIDDEN", 'It takes a key with the scope "tickets:write".']);
    }
  }
  const { data, errors } = await graphql(keys.write, write);
  expect([data?.createTicket?.title, errors]).toEqual(["by graphql", []]);
  await db.sql("delete from tickets where title = 'by graphql'");
});
