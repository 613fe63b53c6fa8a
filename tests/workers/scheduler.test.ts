// If this file fails, scheduled work is lost, done twice, done for a call that rolled back, or done as the wrong user.
import { beforeAll, describe, expect, test } from "vitest";
import { database } from "../support/database.ts";
import { apiWith, service, type User } from "../support/service.ts";
import { jobs, until, workers } from "../support/worker.ts";
import { scheduling, seen, shifted, wrapped } from "./scheduling.ts";

const db = database();
const api = apiWith({ procedures: { scheduling } });
const app = service(db, api);
const worker = workers(db, api);
let ann: User;
let bob: User;
beforeAll(async () => {
  ann = await app.signUp("ann");
  bob = await app.signUp("bob");
});

const later = 3_600_000;
const queued = async (title: string) =>
  (await jobs(db)).filter(({ payload }) => (payload.args as { title?: string } | null)?.title === title);

describe("a scheduled job", () => {
  test("runs as the user who scheduled it, under their row-level security", async () => {
    await worker();
    const { status, body } = await app.mutate(ann, "jobs.run", { name: "jobs.note", args: { title: "as ann" } });
    expect([status, typeof body.json.id]).toEqual([200, "string"]);
    await until(() => seen.length === 1);
    expect(seen).toEqual([{ title: "as ann", user: ann.email }]);
    await until(async () => (await queued("as ann")).length === 0);

    await app.mutate(bob, "jobs.run", { name: "jobs.count" });
    await until(() => seen.length === 2);
    expect(seen[1]).toEqual({ counted: 0 });
  });

  test("cannot read as somebody else by changing its session's user", async () => {
    const before = seen.length;
    await app.mutate(bob, "jobs.run", { name: "jobs.pose", args: { id: ann.id } });
    await until(() => seen.length > before);
    expect(seen.splice(before)).toEqual([{ posed: 0 }]);
  });

  test("runs as nobody when nobody was signed in", async () => {
    await app.mutate(null, "jobs.run", { name: "jobs.who" });
    await until(() => seen.length === 3);
    expect(seen[2]).toEqual({ session: null });
  });

  test("runs as the system when the procedure declares it", async () => {
    await app.mutate(bob, "jobs.run", { name: "jobs.countAll" });
    await until(() => seen.length === 4);
    expect(seen[3]).toEqual({ countedAll: 1, session: null });
  });

  test("takes the procedure instead of its name, which may be that of its place in defineApi", async () => {
    const before = seen.length;
    expect((await app.mutate(ann, "jobs.runDefinition", { title: "by definition" })).status).toBe(200);
    await until(() => seen.length === before + 1);
    await app.mutate(ann, "jobs.runDefinition", { title: "by place", which: "placed" });
    await until(() => seen.length === before + 2);
    expect(seen.splice(before)).toEqual([{ title: "by definition", user: ann.email }, { placed: "by place" }]);
    const { status, body } = await app.mutate(ann, "jobs.runDefinition", { title: "", which: "unregistered" });
    expect([status, body.hint]).toEqual([
      500,
      expect.stringMatching(/"jobs\.nots" is not an internal procedure registered in defineApi\. .*"jobs\.note"/),
    ]);
  });

  test("whose arguments .input() refuses is left to newer workers for an hour, then dead at once", async () => {
    const { body } = await app.mutate(ann, "jobs.run", { name: "jobs.wrapped", args: 7 });
    const row = async () => (await jobs(db)).find(({ id }) => id === body.json.id);
    await until(async () => (await row())?.last_error != null);
    const state = async () => db.sql("select state, attempts from svc_private.list_jobs(null, $1, 1)", [body.json.id]);
    expect(await state()).toEqual([{ state: "failing", attempts: 1 }]);
    await db.sql(
      "update graphile_worker._private_jobs set run_at = now(), created_at = now() - interval '2 hours' where id = $1",
      [body.json.id],
    );
    await until(async () => (await state())[0]?.state === "dead");
    expect(await state()).toEqual([{ state: "dead", attempts: 10 }]);
    expect((await row())?.last_error).toBe(
      '.input() of "jobs.wrapped" refuses the job\'s arguments at: title. Accept them too, then svc jobs retry.',
    );
  });

  test("is dropped when the user who scheduled it is gone", async () => {
    const carl = await app.signUp("carl");
    await app.mutate(carl, "jobs.run", { name: "jobs.note", args: { title: "of carl" }, delay: later });
    await db.sql(`delete from auth."user" where id = $1`, [carl.id]);
    await db.sql("update graphile_worker._private_jobs set run_at = now()");
    await until(async () => (await queued("of carl")).length === 0);
    expect(await db.sql("select from public.notes where title = 'of carl'")).toHaveLength(0);
  });
});

describe("ctx.scheduler", () => {
  test.for([
    { at: "row", left: 0 },
    { at: "job", left: 0 },
    { at: "message", left: 0 },
    { at: "nowhere", left: 1 },
  ])("aborted after $at, a mutation leaves $left of its rows and jobs", async ({ at, left }) => {
    await app.mutate(ann, "jobs.abort", { at });
    expect(await db.sql("select from public.notes where title = 'abort'")).toHaveLength(left);
    expect(await queued("abort")).toHaveLength(left);
  });

  test("counts runAfter in milliseconds, and takes a Date, a number or a text in runAt", async () => {
    const { body } = await app.mutate(ann, "jobs.run", { name: "jobs.note", args: { title: "x" }, delay: later });
    const [row] = await db.sql(
      "select extract(epoch from run_at - created_at)::float as seconds from graphile_worker._private_jobs where id = $1",
      [body.json.id],
    );
    expect(Math.round(row?.seconds)).toBe(3600);

    const at = "2030-05-06T07:08:09.000Z";
    for (const value of [at, Date.parse(at)]) await app.mutate(ann, "jobs.runAt", { at: value });
    await app.post("/api/mutation", { name: "jobs.runAt", args: { json: { at }, meta: [[1, "at"]] } }, ann);
    const rows = await db.sql(
      "select run_at from graphile_worker._private_jobs where payload #>> '{args,title}' = 'at'",
    );
    expect(rows.map(({ run_at }) => run_at.toISOString())).toEqual([at, at, at]);
  });

  test("reads a text of runAt without an offset in UTC, whatever the time zone of the process", async () => {
    const zone = process.env.TZ;
    process.env.TZ = "Asia/Seoul";
    try {
      for (const at of ["2031-02-28T10:00:00", "2031-02-28 10:00", "2031-02-28T12:30+02:30"]) {
        const { body } = await app.mutate(ann, "jobs.runAt", { at });
        const [row] = await db.sql("select run_at from graphile_worker._private_jobs where id = $1", [body.json.id]);
        expect(row?.run_at.toISOString()).toBe("2031-02-28T10:00:00.000Z");
      }
    } finally {
      if (zone === undefined) delete process.env.TZ;
      else process.env.TZ = zone;
    }
  });

  const noTimes = ["not a time", "99999-01-01", "2031-02-30", "2031-02-30T10:00:00Z", "2031-02", "", "5", null, true];
  test.for(noTimes)("refuses runAt(%j)", async (at) => {
    expect((await app.mutate(ann, "jobs.runAt", { at })).status).toBe(500);
  });

  test.for([-1, 315_360_000_001])("refuses runAfter(%d)", async (delay) => {
    const args = { title: "at a wrong time" };
    const { status, body } = await app.mutate(ann, "jobs.run", { name: "jobs.note", args, delay });
    expect({ status, hint: body.hint }).toEqual({ status: 500, hint: expect.stringContaining(`got ${delay}`) });
    expect(await queued(args.title)).toEqual([]);
  });

  test("lets a job be cancelled by whoever scheduled it, and by nobody else", async () => {
    const { body } = await app.mutate(ann, "jobs.run", { name: "jobs.note", args: { title: "mine" }, delay: later });
    const { id } = body.json;
    for (const [user, expected] of [
      [bob, false],
      [null, false],
      [ann, true],
      [ann, false],
    ] as const) {
      expect((await app.mutate(user, "jobs.cancel", { id })).body.json).toBe(expected);
    }
    expect(await queued("mine")).toHaveLength(0);
    expect((await app.mutate(ann, "jobs.cancel", { id: "1; drop table" })).body.json).toBe(false);
  });

  test("says which procedures there are when a name is none of them", async () => {
    for (const name of ["jobs.notes", "notes.create", "jobs.run"]) {
      const { status, body } = await app.mutate(ann, "jobs.run", { name, args: {} });
      expect([status, body.code]).toEqual([500, "INTERNAL"]);
      expect(body.hint).toContain(`ctx.scheduler: "${name}" is not an internal procedure`); // not in production
    }
    const nameless = await app.mutate(ann, "jobs.run", { name: null });
    expect(nameless.body.hint).toMatch(
      /The second argument is an internal procedure or the name of one\. .*jobs\.note/,
    );
    await expect
      .poll(() => app.logged.join(""))
      .toMatch(/\\"jobs\.notes\\" is not an internal procedure .* Did you mean \\"jobs\.note\\"/);
  });

  test("refuses arguments that the procedure's .input() refuses, and schedules nothing", async () => {
    for (const [args, path] of [
      [{ title: 7 }, ["args", "title"]],
      [undefined, ["args"]],
    ]) {
      const { status, body } = await app.mutate(ann, "jobs.run", { name: "jobs.note", args });
      expect([status, body.code, body.issues[0].path]).toEqual([400, "VALIDATION_FAILED", path]);
    }
    expect(await db.sql("select from graphile_worker._private_jobs where payload #>> '{args,title}' = '7'")).toEqual(
      [],
    );
  });

  test("keeps arguments as they were passed, for .input() to transform when the job runs", async () => {
    const at = "2030-05-06T07:08:09.000Z";
    await app.mutate(ann, "jobs.run", { name: "jobs.shift", args: { at } });
    await until(() => shifted.length === 1);
    expect(shifted).toEqual([new Date(at)]);
  });

  test("leaves arguments to the worker where a middleware before .input() changes them", async () => {
    expect((await app.mutate(ann, "jobs.run", { name: "jobs.wrapped", args: "plain" })).status).toBe(200);
    await until(() => wrapped.length === 1);
    expect(wrapped).toEqual(["plain"]);
  });

  test("is refused in queries", async () => {
    expect((await app.query(ann, "jobs.query")).body.code).toBe("QUERY_WROTE");
    expect(await queued("from a query")).toHaveLength(0);
  });

  test("keeps what the handler did not wait for, and fails the call when that fails", async () => {
    expect((await app.mutate(ann, "jobs.forget")).status).toBe(200);
    expect(await queued("not awaited")).toHaveLength(1);
    expect((await app.mutate(ann, "jobs.forgetWrong")).body.code).toBe("VALIDATION_FAILED");
    expect(await db.sql("select from public.notes where title = 'forgotten'")).toHaveLength(0);
  });

  test("is undone with a savepoint, and leaves the caller's role as it was", async () => {
    expect((await app.mutate(ann, "jobs.nested")).body.json).toBe(0);
    expect(await queued("undone")).toHaveLength(0);
  });

  test("beside other statements of the handler leaves each of them its role", async () => {
    expect((await app.mutate(ann, "jobs.parallel")).status).toBe(200);
    expect(await db.sql("select from public.notes where title like 'parallel %'")).toHaveLength(20);
  });
});

describe("the queue", () => {
  test.for(["svc_authenticated", "svc_anonymous"])("cannot be reached by SQL of a request as %s", async (role) => {
    const client = await db.connect("request");
    const attempts = [
      "select svc.enqueue_job('jobs.countAll', '{}', '0', null, null)",
      "select svc.cancel_job(1)",
      "select svc.finish_job(1, 'x')",
      "select * from graphile_worker._private_jobs",
      "select graphile_worker.add_job('procedure', '{}')",
      "select svc_private.enqueue_system_job('jobs.countAll', '{}', '0', null, null)",
    ];
    for (const attempt of attempts) {
      await client.query("begin");
      await client.query("select set_config('svc.user_id', $1, true), set_config('role', $2, true)", [ann.id, role]);
      await expect(client.query(attempt), attempt).rejects.toThrow(/permission denied/);
      await client.query("rollback");
    }
  });

  test("internal procedures answer over HTTP as if there were none", async () => {
    for (const call of [app.query.bind(app), app.mutate.bind(app)]) {
      const internal = await call(ann, "jobs.note", { title: "from outside" });
      const unknown = await call(ann, "jobs.nothing", {});
      expect([internal.status, internal.body.code]).toEqual([404, "NOT_FOUND"]);
      // Suggestions are only made in development: tests/http/procedures.test.ts.
      expect(internal.body.hint).not.toContain("jobs.note?");
      const plain = { requestId: "", hint: "" };
      expect({ ...internal.body, ...plain }).toEqual({ ...unknown.body, ...plain });
    }
  });
});
