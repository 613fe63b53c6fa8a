// If this file fails, a batch saves a part of its calls, or a call of a batch may do what it may not do alone.
import { describe, expect, test } from "vitest";
import { v } from "../../src/kit/v.ts";
import { procedure } from "../fixture/backend/index.ts";
import { notes } from "../fixture/backend/schema.ts";
import { database } from "../support/database.ts";
import { apiWith, service, type User } from "../support/service.ts";

const rename = procedure.mutation
  .name("batch.rename")
  .input(v.object({ title: v.string() }))
  .handler(async ({ context, input }) => {
    const renamed = await context.db.update(notes).set({ title: input.title }).returning();
    return new Set(renamed.map(({ title }) => title));
  });
const anyone = procedure.mutation
  .name("batch.anyone")
  .allowAnonymous()
  .handler(async ({ context }) => (context.auth.getSession() ? context.db.$count(notes) : 0));
const bypass = procedure.mutation
  .name("batch.bypass")
  .allowAnonymous()
  .handler(({ context }) => Reflect.get(context, ["unsafe", "Db"].join("")));
const later = procedure.mutation.name("batch.later").handler(async ({ context }) => {
  await context.scheduler.runAfter(0, "batch.job", {});
  await context.realtime.invalidate("notes.list");
});
const job = procedure.internal.name("batch.job").handler(() => {});
const looks = procedure.query.name("batch.looks").handler(() => 1);

const db = database();
const procedures = { rename, anyone, bypass, later, job, looks };
const svc = service(db, apiWith({ procedures }), { limits: { requestsPerUser: 400 } } as object);

const batch = (user: User | null, calls: unknown) => svc.post("/api/batch", { calls }, user);
const create = (title: string) => ({ name: "notes.create", args: { title } });
const titlesOf = async (user: User) =>
  (await db.sql("select title from notes where user_id = $1 order by id", [user.id])).map(({ title }) => title);

test("all calls run in order in one transaction, and answer as they would alone", async () => {
  const ann = await svc.signUp("ann");
  const { status, body } = await batch(ann, [
    create("one"),
    { name: "batch.rename", args: { title: "renamed" } },
    create("two"),
    { name: "batch.anyone" },
  ]);
  expect(status).toBe(200);
  expect(body.results).toEqual([
    { json: expect.objectContaining({ title: "one" }) },
    { json: ["renamed"], meta: [[6]] },
    { json: expect.objectContaining({ title: "two" }) },
    { json: 2 },
  ]);
  expect(await titlesOf(ann)).toEqual(["renamed", "two"]);
  const written = await db.sql("select distinct xmin::text from notes where user_id = $1", [ann.id]);
  expect(written).toHaveLength(1);
});

describe("a call that fails undoes all, and the error names its index", () => {
  test.for([
    ["input that is refused", { name: "notes.create", args: { title: 7 } }, 400, "VALIDATION_FAILED"],
    ["a row that is not there", { name: "notes.update", args: { id: 0, title: "x" } }, 404, "NOT_FOUND"],
    ["a procedure that is not there", { name: "notes.creat", args: {} }, 404, "NOT_FOUND"],
    ["a query", { name: "batch.looks" }, 404, "NOT_FOUND"],
    ["an internal procedure", { name: "batch.job" }, 404, "NOT_FOUND"],
    ["no call", "notes.create", 400, "VALIDATION_FAILED"],
    ["a hook that refuses", { name: "hooked.create", args: { title: "forbidden" } }, 403, "FORBIDDEN"],
  ] as const)("%s", async ([, call, status, code]) => {
    const ann = await svc.signUp("ann");
    const answer = await batch(ann, [create("kept?"), call, create("never")]);
    expect(answer).toMatchObject({ status, body: { code, index: 1 } });
    expect(await titlesOf(ann)).toEqual([]);
  });

  test("a constraint that is checked at COMMIT has no index", async () => {
    await db.sql(`create or replace function public.refuse() returns trigger language plpgsql as
      $$ begin raise exception 'no' using errcode = '23514'; end $$;
      create constraint trigger late after insert on notes deferrable initially deferred
      for each row when (new.title = 'late') execute function public.refuse()`);
    const ann = await svc.signUp("ann");
    const { status, body } = await batch(ann, [create("early"), create("late")]);
    expect({ status, index: body.index }).toEqual({ status: 400, index: undefined });
    expect(await titlesOf(ann)).toEqual([]);
  });
});

describe("neighbouring calls of one operation, which are one statement,", () => {
  const update = (id: number, changes: object) => ({ name: "notes.update", args: { id, ...changes } });
  const remove = (id: number) => ({ name: "notes.remove", args: { id } });

  test("answer in order, and each sees what those before it wrote", async () => {
    const ann = await svc.signUp("ann");
    const first = await batch(ann, ["a", "b", 'c "\\{,}', "d"].map(create));
    const [a, b, c, d] = first.body.results.map(({ json }: { json: { id: number } }) => json.id);
    const { status, body } = await batch(ann, [
      update(b, { title: "b1" }),
      update(a, { title: "a1" }),
      update(b, { title: "b2" }),
      remove(d),
      remove(c),
      create("e"),
    ]);
    expect(status).toBe(200);
    expect(body.results).toMatchObject([
      { json: { id: b, title: "b1" } },
      { json: { id: a, title: "a1" } },
      { json: { id: b, title: "b2" } },
      { json: { id: d } },
      { json: { id: c } },
      { json: { title: "e" } },
    ]);
    expect(first.body.results[2].json.title).toBe('c "\\{,}');
    expect(await titlesOf(ann)).toEqual(["a1", "b2", "e"]);
  });

  test("fail with the error and the index of the first that fails", async () => {
    await db.sql(`create or replace function public.refuse_now() returns trigger language plpgsql as
      $$ begin raise exception 'no' using errcode = '23514'; end $$;
      create trigger now before insert or update on notes for each row when (new.title = 'refused')
      execute function public.refuse_now()`);
    const ann = await svc.signUp("ann");
    const { id } = (await svc.mutate(ann, "notes.create", { title: "kept" })).body.json;
    expect(await batch(ann, [create("a"), create("b"), create("refused"), create("c")])).toMatchObject({
      status: 400,
      body: { code: "BAD_REQUEST", index: 2 },
    });
    // The row that is not there comes first, although only the refused one ends the statement.
    const missing = await batch(ann, [update(id, { title: "x" }), update(0, {}), update(id, { title: "refused" })]);
    expect(missing).toMatchObject({ status: 404, body: { code: "NOT_FOUND", index: 1 } });
    expect(await batch(ann, [remove(id), remove(id)])).toMatchObject({ status: 404, body: { index: 1 } });
    expect(await titlesOf(ann)).toEqual(["kept"]);
  });
});

test("jobs and messages commit with the batch, or not at all", async () => {
  const ann = await svc.signUp("ann");
  const jobs = async () => (await db.sql("select count(*)::int as n from graphile_worker._private_jobs"))[0]?.n;
  const before = await jobs();
  expect((await batch(ann, [{ name: "batch.later" }, { name: "notes.remove", args: { id: 0 } }])).status).toBe(404);
  expect(await jobs()).toBe(before);
  expect((await batch(ann, [{ name: "batch.later" }, create("one")])).status).toBe(200);
  expect(await jobs()).toBe(before + 1);
});

describe("each call has the caller's rights and no others", () => {
  test("rows of others cannot be changed", async () => {
    const [ann, bob] = [await svc.signUp("ann"), await svc.signUp("bob")];
    const { body } = await svc.mutate(ann, "notes.create", { title: "hers" });
    const { id } = body.json;
    const answer = await batch(bob, [create("his"), { name: "notes.update", args: { id, title: "stolen" } }]);
    expect(answer).toMatchObject({ status: 404, body: { index: 1 } });
    expect(await titlesOf(ann)).toEqual(["hers"]);
  });

  test("without a session, each procedure must allow it", async () => {
    expect(await batch(null, [{ name: "batch.anyone" }])).toMatchObject({
      status: 200,
      body: { results: [{ json: 0 }] },
    });
    const refused = await batch(null, [{ name: "batch.anyone" }, create("nobody's")]);
    expect(refused).toMatchObject({ status: 401, body: { code: "UNAUTHORIZED", index: 1 } });
  });

  test("an anonymous procedure stays behind its gate, also between others", async () => {
    const ann = await svc.signUp("ann");
    const answer = await batch(ann, [{ name: "batch.rename", args: { title: "x" } }, { name: "batch.bypass" }]);
    expect(answer).toMatchObject({ status: 500, body: { index: 1 } });
  });
});

describe("limits", () => {
  test.for([
    ["no list", {}],
    ["an empty one", []],
    ["more than 50 calls", Array.from({ length: 51 }, () => create("x"))],
  ])("%s: 400", async ([, calls]) => {
    const ann = await svc.signUp("ann");
    expect(await batch(ann, calls)).toMatchObject({ status: 400, body: { issues: [{ path: ["calls"] }] } });
  });

  test("50 calls are one batch", async () => {
    const ann = await svc.signUp("ann");
    const { body } = await batch(
      ann,
      Array.from({ length: 50 }, (_, n) => create(String(n))),
    );
    expect(body.results).toHaveLength(50);
  });

  test("every call of a batch counts for the user's limit", async () => {
    const ann = await svc.signUp("ann");
    const statuses: number[] = [];
    for (let n = 0; n < 9; n++) {
      statuses.push(
        (
          await batch(
            ann,
            Array.from({ length: 50 }, () => ({ name: "batch.anyone" })),
          )
        ).status,
      );
    }
    expect(statuses).toEqual([200, 200, 200, 200, 200, 200, 200, 200, 429]);
  });

  test("a stranger's large body is refused before it is read", async () => {
    const calls = [{ name: "batch.anyone", args: "x".repeat(20_000) }];
    expect(await batch(null, calls)).toMatchObject({ status: 413, body: { code: "PAYLOAD_TOO_LARGE" } });
  });

  test("other methods and types", async () => {
    expect((await svc.fetch("/api/batch")).status).toBe(405);
    const form = new FormData();
    form.set("data", "{}");
    expect((await svc.fetch("/api/batch", { method: "POST", body: form })).status).toBe(415);
  });
});
