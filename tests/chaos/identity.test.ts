// If this file fails, a fault in one request lets another one run as the wrong user.
import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "drizzle-orm";
import { beforeAll, expect, test } from "vitest";
import { v } from "../../src/index.ts";
import { procedure } from "../fixture/backend/index.ts";
import { notes } from "../fixture/backend/schema.ts";
import { database } from "../support/database.ts";
import { apiWith, bearer, service, type User } from "../support/service.ts";

const whoAmI = { id: sql<string | null>`svc.current_user_id()`, role: sql<string>`current_user` };

// Handlers that return the user whom the database sees, and misbehave in one way each.
const procedures = {
  read: procedure.query
    .name("chaos.read")
    .handler(async ({ context }) => context.db.select(whoAmI).from(sql`(values (1)) as one`)),
  write: procedure.mutation.name("chaos.write").handler(async ({ context }) => {
    await context.db.insert(notes).values({ title: "chaos", userId: context.auth.requireAuth().user.id });
    return context.db.select(whoAmI).from(sql`(values (1)) as one`);
  }),
  throws: procedure.mutation.name("chaos.throws").handler(async ({ context }) => {
    await context.db.insert(notes).values({ title: "never", userId: context.auth.requireAuth().user.id });
    throw new Error("on purpose");
  }),
  fails: procedure.mutation
    .name("chaos.fails")
    .input(v.object({}))
    .handler(async ({ context }) => {
      await context.db.insert(notes).values({ title: "never", userId: "somebody else" });
    }),
  swallows: procedure.mutation.name("chaos.swallows").handler(async ({ context }) => {
    await context.db
      .select({ a: sql`1 / 0` })
      .from(notes)
      .catch(() => {});
    await context.db
      .insert(notes)
      .values({ title: "never", userId: "x" })
      .catch(() => {});
  }),
  slow: procedure.query.name("chaos.slow").handler(async ({ context }) => {
    await context.db.select({ a: sql`pg_sleep(5)` }).from(sql`(values (1)) as one`);
  }),
  dangling: procedure.mutation.name("chaos.dangling").handler(async ({ context }) => {
    // Neither awaited nor finished when the handler returns.
    void context.db
      .select(whoAmI)
      .from(sql`(values (1)) as one`)
      .catch(() => {});
    setTimeout(
      () =>
        void context.db
          .select(whoAmI)
          .from(notes)
          .catch(() => {}),
      5,
    );
    return "done";
  }),
};

const db = database();
const svc = service(db, apiWith({ procedures }), {
  pool: { request: 3, waitMs: 20_000 },
  limits: { statementTimeoutMs: 300 },
});
const users: User[] = [];
const userCount = 50;
/** `npm run chaos` sends twenty thousand. */
const requestCount = process.env.CHAOS_ROUNDS ? 20_000 : 2_000;

beforeAll(async () => {
  for (let index = 0; index < userCount; index++) users.push(await svc.signUp(`user${index}`));
});

test(`${requestCount} interleaved requests of 50 users over 3 connections, with every kind of fault, never mix identities`, async () => {
  const wrong: string[] = [];
  const outcomes = new Map<string, number>();
  const count = (key: string) => outcomes.set(key, (outcomes.get(key) ?? 0) + 1);

  const check = (user: User, kind: string, status: number, seen: { id: string; role: string }[] | undefined) => {
    count(`${kind} ${status}`);
    if (status !== 200) return;
    for (const { id, role } of seen ?? []) {
      if (id !== user.id || role !== "svc_authenticated") wrong.push(`${kind}: ${user.id} was ${id} as ${role}`);
    }
  };

  const kinds: Record<string, (user: User) => Promise<unknown>> = {
    read: async (user) => {
      const { status, body } = await svc.query(user, "chaos.read");
      check(user, "read", status, body.json);
    },
    write: async (user) => {
      const { status, body } = await svc.mutate(user, "chaos.write");
      check(user, "write", status, body.json);
    },
    list: async (user) => {
      const { status, body } = await svc.query(user, "notes.list", { limit: 100 });
      check(
        user,
        "list",
        status,
        body.json?.data.map((row: { userId: string }) => ({ id: row.userId, role: "svc_authenticated" })),
      );
    },
    throws: async (user) => count(`throws ${(await svc.mutate(user, "chaos.throws")).status}`),
    fails: async (user) => count(`fails ${(await svc.mutate(user, "chaos.fails", {})).status}`),
    swallows: async (user) => count(`swallows ${(await svc.mutate(user, "chaos.swallows")).status}`),
    dangling: async (user) => count(`dangling ${(await svc.mutate(user, "chaos.dangling")).status}`),
    aborted: async (user) => {
      const abort = AbortSignal.timeout(1 + Math.floor(Math.random() * 5));
      const body = JSON.stringify({ name: "chaos.write" });
      const headers = { "content-type": "application/json", ...bearer(user) };
      await fetch(`${svc.url}/api/mutation`, { method: "POST", headers, body, signal: abort })
        .then((r) => r.text())
        .catch(() => {});
    },
    anonymous: async () => count(`anonymous ${(await svc.query(null, "open_notes.list")).status}`),
  };
  const names = Object.keys(kinds);

  let next = 0;
  const worker = async () => {
    for (let index = next++; index < requestCount; index = next++) {
      const user = users[(index * 7) % userCount] as User;
      // Rare, so that other calls get their turn: a statement that runs into the timeout.
      if (index % 200 === 100) count(`slow ${(await svc.query(user, "chaos.slow")).status}`);
      else await kinds[names[index % names.length] as string]?.(user);
    }
  };
  const killer = async () => {
    const admin = await db.connect("admin");
    while (next < requestCount) {
      await sleep(150);
      await admin.query(
        `select pg_terminate_backend(pid) from pg_stat_activity
          where usename = 'svc_request' and datname = current_database() order by random() limit 1`,
      );
    }
  };
  await Promise.all([killer(), ...Array.from({ length: 24 }, worker)]);

  expect(wrong).toEqual([]);
  // The faults occurred, and the healthy calls succeeded.
  for (const kind of ["read 200", "write 200", "list 200", "throws 500", "anonymous 401", "slow 504"]) {
    expect(outcomes.get(kind) ?? 0, `${kind} in ${JSON.stringify(Object.fromEntries(outcomes))}`).toBeGreaterThan(0);
  }
  expect(await db.sql("select 1 from notes where title = 'never'")).toEqual([]);

  // Afterwards every connection is clean: no open transaction, role or identity.
  const busy = () =>
    db.sql(
      `select state, query from pg_stat_activity
        where usename = 'svc_request' and datname = current_database() and state <> 'idle'`,
    );
  await expect.poll(busy).toEqual([]); // the server goes on with what its callers have left
  for (const user of users.slice(0, 9)) {
    let answer = await svc.query(user, "chaos.read");
    while (answer.status !== 200) answer = await svc.query(user, "chaos.read"); // the last killed connection may still be in the pool
    expect(answer.body.json).toEqual([{ id: user.id, role: "svc_authenticated" }]);
  }
}, 600_000);

test("a mutation that throws leaves nothing, also what it wrote before", async () => {
  const [ann] = users as [User];
  const before = await db.snapshot("notes");
  expect((await svc.mutate(ann, "chaos.throws")).status).toBe(500);
  expect(await db.snapshot("notes")).toEqual(before);
});

test("a swallowed database error is not mistaken for success", async () => {
  const [ann] = users as [User];
  const { status } = await svc.mutate(ann, "chaos.swallows");
  expect(status).toBeGreaterThanOrEqual(400);
});
