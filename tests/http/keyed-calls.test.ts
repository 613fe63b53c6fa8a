// If this file fails, a mutation that is sent twice with one idempotency key is saved twice, or is answered with what it did
// not save.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { createAuthClient, createSvcClient, mutation } from "../../client/sdk/src/index.ts";
import { SvcError } from "../../src/kit/svc-error.ts";
import { v } from "../../src/kit/v.ts";
import { sweep } from "../../src/postgres/sweep.ts";
import { procedure } from "../fixture/backend/index.ts";
import { notes } from "../fixture/backend/schema.ts";
import { database } from "../support/database.ts";
import { type Fault, FlakyProxy } from "../support/flaky-proxy.ts";
import { apiWith, bearer, service, type User } from "../support/service.ts";

let failing = false;
const place = procedure.mutation
  .name("orders.place")
  .input(z.object({ title: z.string(), size: z.number().default(1) }))
  .handler(async ({ context, input: { title, size } }) => {
    const userId = context.auth.requireAuth().user.id;
    const [made] = await context.db.insert(notes).values({ title, userId }).returning();
    await context.scheduler.runAfter(0, "orders.tell", {});
    if (failing) throw new SvcError("CONFLICT", "Nothing is left.");
    return { id: made?.id, at: made?.createdAt, marks: new Set("x".repeat(size)), text: "x".repeat(size) };
  });
const tell = procedure.internal.name("orders.tell").handler(() => {});
const keep = procedure.mutation
  .name("orders.keep")
  .input(v.object({ file: v.file() }))
  .handler(({ input }) => (input.file as File).size);
const visit = procedure.mutation
  .name("orders.visit")
  .allowAnonymous()
  .handler(() => 1);

const db = database();
const svc = service(db, apiWith({ procedures: { place, tell, keep, visit } }));
let ann: User;
let bob: User;
beforeAll(async () => {
  ann = await svc.signUp("ann");
  bob = await svc.signUp("bob");
});
beforeEach(async () => {
  await db.sql("delete from notes");
  await db.sql("delete from graphile_worker._private_jobs");
});

const newKey = () => crypto.randomUUID();
const send = (user: User | null, key: string, path: string, body: unknown) =>
  svc.fetch(path, {
    method: "POST",
    headers: { "content-type": "application/json", "idempotency-key": key, ...bearer(user) },
    body: JSON.stringify(body),
  });
const order = (user: User | null, key: string, args: object = { title: "tea" }) =>
  send(user, key, "/api/mutation", { name: "orders.place", args });
const titles = async () => (await db.sql("select title from notes order by id")).map(({ title }) => title);
const jobs = async () => (await db.sql("select from graphile_worker._private_jobs")).length;

describe("a call that is sent again", () => {
  test("is answered as before, and does nothing", async () => {
    const key = newKey();
    const first = await order(ann, key);
    const second = await order(ann, `"${key}"`);
    expect([second.status, second.headers.get("idempotent-replayed")]).toEqual([200, "true"]);
    expect(second.body).toEqual(first.body);
    expect(second.body.meta).toHaveLength(2); // the time and the set
    expect([await titles(), await jobs()]).toEqual([["tea"], 1]);
  });

  test("by its own path, with its arguments in another order, is the same call", async () => {
    const key = newKey();
    const [args, again] = [
      { title: "tea", size: 2 },
      { size: 2, title: "tea" },
    ];
    const first = await order(ann, key, args);
    const second = await send(ann, key, "/api/mutation/orders.place", { args: again });
    expect(second.body).toEqual(first.body);
    expect(await titles()).toEqual(["tea"]);
  });

  test("may be a generated one, or a batch", async () => {
    const create = { name: "notes.create", args: { title: "generated" } };
    const key = newKey();
    const [first, second] = [
      await send(ann, key, "/api/mutation", create),
      await send(ann, key, "/api/mutation", create),
    ];
    expect(first.body.json.title).toBe("generated");
    expect(second.body).toEqual(first.body);
    const calls = [create, { name: "orders.place", args: { title: "tea" } }];
    const all = newKey();
    const batch = await send(ann, all, "/api/batch", { calls });
    const repeated = await send(ann, all, "/api/batch", { calls });
    expect([batch.status, batch.body.results.length]).toEqual([200, 2]);
    expect(repeated.body).toEqual(batch.body);
    expect(repeated.headers.get("idempotent-replayed")).toBe("true");
    expect(await titles()).toEqual(["generated", "generated", "tea"]);
  });

  test("at the same time waits for the first one", async () => {
    const key = newKey();
    const answers = await Promise.all(Array.from({ length: 8 }, () => order(ann, key)));
    expect(new Set(answers.map(({ body }) => JSON.stringify(body))).size).toBe(1);
    expect(answers.filter(({ headers }) => headers.get("idempotent-replayed") === null)).toHaveLength(1);
    expect([await titles(), await jobs()]).toEqual([["tea"], 1]);
  });

  test("after a failure runs, because nothing was saved", async () => {
    const key = newKey();
    failing = true;
    const refused = await order(ann, key);
    failing = false;
    expect([refused.status, await titles()]).toEqual([409, []]);
    expect((await order(ann, key)).status).toBe(200);
    const invalid = { name: "notes.create", args: { title: "x", priority: "high" } };
    const wrong = await send(ann, newKey(), "/api/mutation", invalid);
    expect(wrong).toMatchObject({ status: 400, body: { issues: [{ path: ["priority"] }] } });
    expect(wrong.body).not.toHaveProperty("index");
    expect([await titles(), await jobs()]).toEqual([["tea"], 1]);
  });

  test("of a generated procedure is tried again after a serialization failure, as without a key", async () => {
    await db.sql(`
      create sequence public.tries;
      create function public.fail_once() returns trigger language plpgsql security definer as
        $$ begin if nextval('public.tries') = 1 then raise 'again' using errcode = '40001'; end if; return new; end $$;
      create trigger fails before insert on notes for each row execute function public.fail_once()`);
    const { status } = await send(ann, newKey(), "/api/mutation", { name: "notes.create", args: { title: "tea" } });
    await db.sql("drop function public.fail_once() cascade");
    expect([status, await titles()]).toEqual([200, ["tea"]]);
  });

  test("whose backend ends at COMMIT was not saved, and runs the second time", async () => {
    await db.sql(`
      create function public.kill() returns trigger language plpgsql security definer as
        $$ begin perform pg_terminate_backend(pg_backend_pid()); return null; end $$;
      create constraint trigger kills after insert on notes deferrable initially deferred
        for each row execute function public.kill()`);
    const key = newKey();
    expect(await order(ann, key)).toMatchObject({ status: 503, body: { code: "UNAVAILABLE" } });
    await db.sql("drop function public.kill() cascade");
    const { status, headers } = await order(ann, key);
    expect([status, headers.get("idempotent-replayed")]).toEqual([200, null]);
    expect([await titles(), await jobs()]).toEqual([["tea"], 1]);
  });
});

describe("a key", () => {
  test("is one user's", async () => {
    const key = newKey();
    const [hers, his] = [await order(ann, key), await order(bob, key)];
    expect([hers.status, his.status]).toEqual([200, 200]);
    expect(his.body.json.id).not.toBe(hers.body.json.id);
    expect(await titles()).toEqual(["tea", "tea"]);
  });

  test("is for one call: other arguments, or another procedure, are refused and do nothing", async () => {
    const key = newKey();
    await order(ann, key);
    const others = [
      await order(ann, key, { title: "coffee" }),
      await send(ann, key, "/api/mutation", { name: "notes.create", args: { title: "tea" } }),
      await send(ann, key, "/api/batch", { calls: [{ name: "orders.place", args: { title: "coffee" } }] }),
    ];
    for (const { status, body } of others) {
      expect([status, body.code, body.error]).toEqual([
        409,
        "CONFLICT",
        "This idempotency key was used for another call.",
      ]);
    }
    expect(await titles()).toEqual(["tea"]);
  });

  test.for(["", " ", "a b", "x".repeat(129), "ä", '"', '"a', 'a"b', "a\\b"])("%j is none", async (key) => {
    const { status, body } = await order(ann, key);
    expect([status, body.error]).toEqual([400, "The header Idempotency-Key is not a key."]);
    expect(await titles()).toEqual([]);
  });

  test("needs a session, and arguments without files", async () => {
    const visited = await send(null, newKey(), "/api/mutation", { name: "orders.visit" });
    expect([visited.status, visited.body.code]).toEqual([401, "UNAUTHORIZED"]);
    // The SDK gets another token after a 401.
    const expired = await order({ ...ann, token: "eyJhbGciOiJFZERTQSJ9.e30.AAAA" }, newKey());
    expect([expired.status, expired.body.code]).toEqual([401, "UNAUTHORIZED"]);
    const form = new FormData();
    form.set("data", JSON.stringify({ json: { name: "orders.keep", args: { file: null } }, maps: [["args", "file"]] }));
    form.set("0", new File(["x"], "x.txt"));
    const headers = { "idempotency-key": newKey(), ...bearer(ann) };
    const kept = await svc.fetch("/api/mutation", { method: "POST", headers, body: form });
    expect([kept.status, kept.body.hint]).toEqual([415, "Upload its files first, and pass their ids."]);
  });

  test("of a query is ignored", async () => {
    expect((await send(ann, "a b", "/api/query", { name: "notes.list" })).status).toBe(200);
  });
});

test("an answer above 1 MiB is not kept: its call is refused the second time", async () => {
  const key = newKey();
  const args = { title: "tea", size: 1_100_000 };
  expect((await order(ann, key, args)).status).toBe(200);
  const { status, body } = await order(ann, key, args);
  expect([status, body.code]).toEqual([409, "ANSWER_NOT_KEPT"]);
  expect(await titles()).toEqual(["tea"]);
});

test("answers are removed after a day, and with their user", async () => {
  const kept = async (user: User) =>
    (await db.sql("select from svc_private.kept_answers where user_id = $1", [user.id])).length;
  const cleo = await svc.signUp("cleo");
  for (let index = 0; index < 3; index++) await order(cleo, newKey());
  await db.sql(
    `update svc_private.kept_answers set kept_at = now() - interval '25 hours'
      where key = (select min(key) from svc_private.kept_answers where user_id = $1)`,
    [cleo.id],
  );
  await sweep(db.pool("system"), "svc_private.sweep_answers($1)", [1_000]);
  expect(await kept(cleo)).toBe(2);
  await db.sql("delete from notes");
  await db.sql('delete from auth."user" where id = $1', [cleo.id]);
  expect(await kept(cleo)).toBe(0);
});

test("SQL of a request neither claims keys nor sees what is kept", async () => {
  const client = await db.connect("request");
  for (const text of [
    "select svc.claim_key('k', '')",
    "select svc.keep_answers('k', '{forged}')",
    "select svc.short_answers('k')",
    "select * from svc_private.kept_answers",
  ]) {
    await client.query("begin");
    await client.query("select set_config('svc.user_id', $1, true), set_config('role', 'svc_authenticated', true)", [
      ann.id,
    ]);
    await expect(client.query(text)).rejects.toThrow("permission denied");
    await client.query("rollback");
  }
});

describe("the SDK", () => {
  const api = {
    place: mutation<typeof place>("orders.place"),
    keep: mutation<typeof keep>("orders.keep"),
  };
  let proxy: FlakyProxy;
  beforeAll(async () => {
    proxy = await FlakyProxy.start(svc.url);
  });
  afterAll(() => proxy.stop());

  async function connect(...faults: Fault[]) {
    const auth = createAuthClient(svc.url, { sessionTokenStorage: "memory" });
    await auth.signUp(`${crypto.randomUUID()}@example.com`, "correct horse", "Dora");
    const left = [...faults];
    proxy.fault = () => left.shift() ?? { kind: "none" };
    return { client: createSvcClient({ api, baseUrl: proxy.url, auth }), left };
  }

  test("repeats a mutation whose answer was lost, and it is saved once", async () => {
    const { client, left } = await connect({ kind: "cut", after: 5 }, { kind: "refuse" });
    const made = await client.mutate(api.place, { title: "tea" }, { retries: 2 });
    expect(made.marks).toEqual(new Set("x"));
    expect([left, await titles()]).toEqual([[], ["tea"]]);
    await client.mutate(api.place, { title: "tea" }, { retries: 2 }); // another call
    expect(await titles()).toEqual(["tea", "tea"]);
  });

  test("repeats a batch as a whole", async () => {
    const { client } = await connect({ kind: "cut", after: 5 });
    const calls = [
      [api.place, { title: "tea" }],
      [api.place, { title: "milk" }],
    ] as const;
    expect(await client.batch(calls, { retries: 1 })).toHaveLength(2);
    expect(await titles()).toEqual(["tea", "milk"]);
  });

  test("sends a call once without retries, and under the given key again later", async () => {
    const { client } = await connect({ kind: "cut", after: 5 });
    const idempotencyKey = newKey();
    const sent = client.mutate(api.place, { title: "tea" }, { idempotencyKey });
    await expect(sent).rejects.toMatchObject({ code: "NETWORK_ERROR" });
    await expect.poll(titles).toEqual(["tea"]);
    expect(await client.mutate(api.place, { title: "tea" }, { idempotencyKey })).toMatchObject({ text: "x" });
    expect(await titles()).toEqual(["tea"]);
  });

  test("does not repeat a call with files", async () => {
    const { client } = await connect();
    const sent = client.mutate(api.keep, { file: new File(["x"], "x.txt") }, { retries: 1 });
    await expect(sent).rejects.toMatchObject({ code: "UNSUPPORTED_MEDIA_TYPE" });
  });
});
