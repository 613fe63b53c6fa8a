// If this file fails, an error of the database is reported to the caller as something else, or with too much detail.
import { eq, sql } from "drizzle-orm";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type ErrorCode, errorCodes, SvcError } from "../../src/index.ts";
import { sqlStates } from "../../src/postgres/errors.ts";
import { procedure } from "../fixture/backend/index.ts";
import { database } from "../support/database.ts";
import { type Answer, apiWith, service } from "../support/service.ts";
import { type Db, hidden, put, statements, things } from "./failing-statements.ts";

/** Ends the handler's pause when its connection is gone. */
const gone = async (pid: number) => {
  await expect.poll(() => db.sql("select from pg_stat_activity where pid = $1", [pid])).toEqual([]);
};
const pidOf = async (db: Db) =>
  (await db.select({ pid: sql<number>`pg_backend_pid()` }).from(things).limit(1))[0]?.pid ?? 0;
let barrier = () => Promise.resolve();

const mutation = (name: string) => procedure.mutation.name(`db.${name}`).allowAnonymous();
const procedures = {
  raise: mutation("raise").handler(async ({ context, input }) => {
    await context.db
      .select({ n: sql`raise_state(${input}, ${hidden})` })
      .from(things)
      .limit(1);
  }),
  detail: mutation("detail").handler(async ({ context, input }) => {
    await context.db
      .select({ n: sql`raise_state('P0001', ${input})` })
      .from(things)
      .limit(1);
  }),
  run: mutation("run").handler(async ({ context, input }) => {
    await statements[input as keyof typeof statements](context.db as Db);
  }),
  swallow: mutation("swallow").handler(async ({ context }) => {
    await put({ code: "swallowed" })(context.db as Db);
    await statements.unique(context.db as Db).catch(() => {});
    return "all is well";
  }),
  mistake: mutation("mistake").handler(({ context }) => context.realtime.invalidate("db.read")),
  forgets: mutation("forgets").handler(async ({ context }) => {
    void statements.unique(context.db as Db).catch(() => {});
  }),
  nested: mutation("nested").handler(async ({ context }) => {
    await context.db.transaction((inner) => statements.unique(inner as Db)).catch(() => {});
    await put({ code: "after the savepoint" })(context.db as Db);
  }),
  own: mutation("own").handler(async ({ context }) => {
    await statements.unique(context.db as Db).catch((error) => {
      throw new SvcError("FORBIDDEN", "Taken.", { cause: error.cause });
    });
  }),
  reads: procedure.query
    .name("db.reads")
    .allowAnonymous()
    .handler(({ context }) => put({ code: "query" })(context.db as Db)),
  crossed: mutation("crossed").handler(async ({ context, input }) => {
    for (const code of input as string[]) {
      await context.db.update(things).set({ amount: sql`amount + 1` }).where(eq(things.code, code));
      await barrier();
    }
  }),
  pauses: mutation("pauses").handler(async ({ context, input }) => {
    await put({ code: "paused" })(context.db as Db);
    await gone(await pidOf(context.db as Db));
    if (input === "then reads") await pidOf(context.db as Db);
  }),
  waits: procedure.mutation.name("db.waits").handler(async ({ context: { db, unsafeDb } }) => {
    const again = { amount: sql`amount + 1` };
    await db.update(things).set(again);
    await unsafeDb.update(things).set(again);
  }),
  killed: mutation("killed").handler(async ({ context }) => {
    await put({ code: "killed" })(context.db as Db);
    const pid = await pidOf(context.db as Db);
    await db.sql("select pg_terminate_backend($1)", [pid]);
    await gone(pid);
    await pidOf(context.db as Db);
  }),
};

const db = database();
// In production: hints for developers are in tests/crud/hidden-row.test.ts.
const svc = service(db, apiWith({ procedures }), { production: true } as object);
const hasty = service(db, apiWith({ procedures }), { limits: { statementTimeoutMs: 1_500, idleInTransactionMs: 500 } });

beforeAll(async () => {
  await db.sql(`
    create table things (
      id serial primary key, code text unique, parent integer references things, amount integer check (amount > 0),
      needed text not null default 'x', short varchar(3), uid uuid, span int4range, exclude using gist (span with &&)
    );
    alter table things enable row level security;
    create policy all_anyone on things for all to svc_anonymous, svc_authenticated using (true) with check (true);
    grant all on things to svc_anonymous, svc_authenticated, svc_system;
    grant usage on sequence things_id_seq to svc_anonymous, svc_authenticated;
    create function raise_state(state text, value text) returns integer language plpgsql as $$ begin
      raise exception using errcode = state, message = case when state like '22%' then value else 'from things' end, detail = value, hint = value, column = 'things';
    end $$;
    grant execute on function raise_state to svc_anonymous, svc_authenticated`);
});
beforeEach(async () => {
  await db.sql("truncate things, guestbook, notes restart identity cascade");
  await db.sql(
    "insert into things (code, amount, needed, span) values ($1, 1, 'x', '[1,6]'), ('other row', 1, 'x', null)",
    [hidden],
  );
});
const rows = async () => (await db.sql("select code from things order by id")).map(({ code }) => code);
const unchanged = [hidden, "other row"];

/** Expects exactly the table's answer, with no value of the row in the answer or the log. */
async function expectError(answer: Answer, code: ErrorCode, message?: string, hint?: string) {
  const requestId = answer.headers.get("x-request-id");
  expect(answer.status).toBe(errorCodes[code].status);
  expect(answer.body).toEqual({ error: message ?? errorCodes[code].message, code, requestId, ...(hint && { hint }) });
  expect(answer.headers.get("retry-after")).toBe(code === "UNAVAILABLE" ? "1" : null);
  const lines = () => svc.logged.concat(hasty.logged).filter((line) => line.includes(String(requestId)));
  await expect.poll(() => lines().length).toBe(1);
  expect(lines().join()).not.toMatch(/canary-7c2e|987654321/);
  return JSON.parse(lines()[0] ?? "");
}

describe("every SQLSTATE of the map", () => {
  // 25006 of a mutation is the server's: tests/postgres/read-only.test.ts.
  const ofMutations = Object.entries(sqlStates).filter(([state]) => state !== "25006");
  test.for(ofMutations)("%s becomes what the map says", async ([state, { code, spoken, ...own }]) => {
    const { message, hint } = spoken ? { message: "from things", hint: hidden } : own;
    const line = await expectError(await svc.mutate(await svc.signUp("ann"), "db.raise", state), code, message, hint);
    if (errorCodes[code].status >= 500) expect(line.err).toMatchObject({ code: state });
  });
  test.for(["P0001", "XX000", "42601", "54001", "ZZZZZ"])("%s, which is not in it, is INTERNAL", async (state) => {
    const line = await expectError(await svc.mutate(null, "db.raise", state), "INTERNAL");
    expect(JSON.stringify(line.err)).toContain(`"code":"${state}"`);
  });
  // PostgreSQL names the values of a key in the detail, and functions of an application may name others.
  test.each([
    `Key (code)=(\nsvc:invalid=["code"]\n) already exists.`,
    'Key (code)=(\nsvc:at=["rows",0]\n) already exists.',
    "Key (code)=(\nsvc:at=[no json]\n) already exists.",
    'svc:invalid=["code"]',
    "svc:at=[no json]",
  ])("the detail %j, which is a caller's text, does not decide about the answer", async (detail) => {
    await expectError(await svc.mutate(null, "db.detail", detail), "INTERNAL");
  });
  test("a connection's own (08006) asks to try again", async () => {
    await expectError(await svc.mutate(null, "db.raise", "08006"), "UNAVAILABLE");
  });
});

describe("a statement that really fails", () => {
  const table: Record<Exclude<keyof typeof statements, "sleep">, ErrorCode | [ErrorCode, ErrorCode]> = {
    unique: "CONFLICT",
    foreignKey: "CONFLICT",
    check: "BAD_REQUEST",
    notNull: "BAD_REQUEST",
    tooLong: "BAD_REQUEST",
    outOfRange: "BAD_REQUEST",
    badUuid: "BAD_REQUEST",
    badNumber: "BAD_REQUEST",
    badDate: "BAD_REQUEST",
    tooLargeForIndex: "BAD_REQUEST",
    overlap: "CONFLICT",
    nul: "BAD_REQUEST",
    division: "INTERNAL",
    unknownFunction: "INTERNAL",
    badSearch: "INTERNAL",
    permission: ["UNAUTHORIZED", "FORBIDDEN"],
    policy: ["UNAUTHORIZED", "FORBIDDEN"], // nobody, and a user
  };
  test.for(Object.entries(table))("%s: %s", async ([key, expected]) => {
    const [forNobody, forUser] = Array.isArray(expected) ? expected : [expected, expected];
    for (const [user, code] of [
      [null, forNobody],
      [await svc.signUp("ann"), forUser],
    ] as const) {
      const answer = await svc.mutate(user, "db.run", key);
      const { error, hint } = answer.body;
      await expectError(answer, code, error, hint);
      expect(`${error} ${hint}`).not.toMatch(/things|vault|notes|amount|select|insert|constraint|policy|\$1|\d{5}/i);
      expect(await rows()).toEqual(unchanged);
    }
  });

  test("fails the call even when the handler swallows it", async () => {
    await expectError(await svc.mutate(null, "db.swallow"), "CONFLICT", sqlStates["23505"]?.message);
    expect(await rows()).toEqual(unchanged);
  });
  test("that the handler did not await fails the call by its own reason", async () => {
    const line = await expectError(await svc.mutate(null, "db.forgets"), "CONFLICT", sqlStates["23505"]?.message);
    expect(line.reason).toBe('23505 duplicate key value violates unique constraint "things_code_key"');
    expect(await rows()).toEqual(unchanged);
  });
  test("by a policy is told to the author, in the log", async () => {
    const line = await expectError(await svc.mutate(await svc.signUp("ann"), "db.run", "policy"), "FORBIDDEN");
    expect(line.reason).toBe('42501 new row violates row-level security policy for table "notes"');
  });
  test("inside a savepoint is the handler's to swallow", async () => {
    expect((await svc.mutate(null, "db.nested")).status).toBe(200);
    expect(await rows()).toEqual([...unchanged, "after the savepoint"]);
  });
  test("is not what an author's mistake is; in production the log alone knows that", async () => {
    await expectError(await svc.mutate(null, "db.mistake"), "INTERNAL");
  });
  test("may be told in the handler's own words", async () => {
    await expectError(await svc.mutate(null, "db.own"), "FORBIDDEN", "Taken.");
  });
  test("because a query wrote, says what to do", async () => {
    await expectError(await svc.query(null, "db.reads"), "QUERY_WROTE", undefined, sqlStates["25006"]?.hint);
    expect(await rows()).toEqual(unchanged);
  });
});

describe("time and connections", () => {
  test("of two mutations that lock each other out, one is saved and the other is a 409", async () => {
    let waiting = 0;
    let open = () => {};
    const both = new Promise<void>((resolve) => {
      open = resolve;
    });
    barrier = () => {
      if (++waiting === 2) open();
      return both;
    };
    const orders = [
      [hidden, "other row"],
      ["other row", hidden],
    ];
    const answers = await Promise.all(orders.map((order) => svc.mutate(null, "db.crossed", order)));
    const [saved, refused] = answers.sort((a, b) => a.status - b.status) as [Answer, Answer];
    expect(saved.status).toBe(200);
    await expectError(refused, "CONFLICT");
    expect((await db.sql("select amount from things")).map(({ amount }) => amount)).toEqual([2, 2]); // one of them, whole
  });

  test("a statement that takes too long is a 504 that says so", async () => {
    await expectError(await hasty.mutate(null, "db.run", "sleep"), "TIMEOUT", undefined, sqlStates["57014"]?.hint);
  });

  test.for(["then reads", "then returns"])(
    "a handler that holds its transaction open too long and %s is a 504",
    async (then) => {
      await expectError(await hasty.mutate(null, "db.pauses", then), "TIMEOUT", undefined, sqlStates["25P03"]?.hint);
      expect(await rows()).toEqual(unchanged);
    },
  );

  test("a statement of unsafeDb that waits for a row of its own call: the hint says so, and unsafeDb writes", async () => {
    const answer = await hasty.mutate(await hasty.signUp("ann"), "db.waits");
    expect(answer.body.hint).toContain("unsafeDb waits for rows that this call has changed");
    await expect.poll(() => db.sql("select distinct amount from things")).toEqual([{ amount: 2 }]);
  });

  test("a connection that is killed under a mutation is a 503, and nothing is saved", async () => {
    await expectError(await svc.mutate(null, "db.killed"), "UNAVAILABLE");
    expect(await rows()).toEqual(unchanged);
    expect((await svc.mutate(null, "db.nested")).status).toBe(200); // the pool has another one
  });

  /** Calls generated CRUD while its table is locked, and returns the waiting backends. */
  async function behindLock(
    call: () => Promise<Answer>,
    meanwhile: (release: () => Promise<unknown>) => Promise<void>,
  ) {
    const locker = await db.connect("admin");
    await locker.query("begin; lock table guestbook in access exclusive mode");
    const answer = call();
    await meanwhile(() => locker.query("rollback"));
    await locker.query("rollback");
    return answer;
  }
  const killWaiting = async () => {
    const killed =
      "select pg_terminate_backend(pid) from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()";
    await expect.poll(() => db.sql(killed)).toHaveLength(1);
  };

  test("generated CRUD: a read is tried again, a write is a 503 and not repeated", async () => {
    const read = await behindLock(() => svc.query(null, "guestbook.list"), killWaiting);
    expect(read).toMatchObject({ status: 200, body: { json: { total: 0 } } });
    await expectError(
      await behindLock(() => svc.mutate(null, "guestbook.create", { message: hidden }), killWaiting),
      "UNAVAILABLE",
    );
    expect(await db.sql("select from guestbook")).toEqual([]);
  });

  test("generated CRUD: a statement that takes too long is a 504", async () => {
    const call = () => hasty.mutate(null, "guestbook.create", { message: hidden });
    let answer: Promise<Answer> | undefined;
    await behindLock(
      () => (answer = call()),
      async () => void (await answer),
    );
    await expectError(await (answer as Promise<Answer>), "TIMEOUT", undefined, sqlStates["57014"]?.hint);
  });
});
