// If this file fails, SQL inside a request can lock a whole table, or listen and notify on a shared connection.
// PostgreSQL requires no privilege for LISTEN, and DELETE suffices for LOCK TABLE. The protection is that no path of
// ctx.db accepts such a statement, and that a function which contains one is reported.
import { sql } from "drizzle-orm";
import { beforeAll, describe, expect, test } from "vitest";
import { v } from "../../src/index.ts";
import { procedure } from "../fixture/backend/index.ts";
import { notes } from "../fixture/backend/schema.ts";
import { database } from "../support/database.ts";
import { apiWith, service, type User } from "../support/service.ts";

// biome-ignore lint/suspicious/noExplicitAny: what the types hide is tried too
type Any = any;

/** Every way from a handler's text to the server, by Drizzle's public and hidden members. */
const paths: Record<string, (db: Any, text: string) => Promise<unknown>> = {
  condition: (db, text) => db.select({ title: notes.title }).from(notes).where(sql.raw(text)),
  column: (db, text) => db.select({ value: sql.raw(text) }).from(sql`(values (1)) as one`),
  source: (db, text) => db.select({ one: sql`1` }).from(sql.raw(text)),
  order: (db, text) => db.select().from(notes).orderBy(sql.raw(text)),
  value: (db, text) => db.insert(notes).values({ userId: "x", title: sql.raw(text) }),
  change: (db, text) => db.update(notes).set({ title: sql.raw(text) }),
  count: (db, text) => db.$count(notes, sql.raw(text)),
  relation: (db, text) => db.query.notes.findMany({ where: sql.raw(text) }),
  execute: (db, text) => db.execute(sql.raw(text)),
  nested: (db, text) => db.transaction((inner: Any) => inner.execute(sql.raw(text))),
  session: (db, text) => db.session.execute(sql.raw(text)),
  sessionAll: (db, text) => db.session.all(sql.raw(text)),
  hidden: (db, text) => db._.session.execute(sql.raw(text)),
  client: (db, text) => db.session.client.query({ text }),
  prepared: (db, text) => db.session.prepareQuery({ sql: text, params: [] }, undefined, undefined, false).execute({}),
};
const statements = [
  "lock table notes in access exclusive mode",
  "LISTEN svc_auth",
  "notify svc_auth, '{}'",
  "unlisten *",
  "set local svc.user_id = 'bob'",
  "reset role",
  "/* select */ lock table notes",
  "true; lock table notes in access exclusive mode",
];

const statement = procedure.mutation
  .name("bare.statement")
  .input(v.object({ path: v.string(), text: v.string() }))
  .handler(async ({ context, input }) => {
    await paths[input.path]?.(context.db, input.text);
    return "ran";
  });

const db = database();
const svc = service(db, apiWith({ procedures: { statement } }));
let ann: User;

beforeAll(async () => {
  ann = await svc.signUp("ann");
  await db.sql("grant delete on notes to svc_authenticated"); // enough for the strongest lock
});

describe.for(Object.keys(paths))("by %s", (path) => {
  test.for(statements)("%s is refused", async (text) => {
    const { status, body } = await svc.mutate(ann, "bare.statement", { path, text });
    expect([status, body.json]).not.toEqual([200, "ran"]);
    expect(status).toBeGreaterThanOrEqual(400);
  });
});

test("what the query builder writes still runs, whatever it begins with, also by its hidden members", async () => {
  for (const [path, text] of [
    ["condition", "true"],
    ["column", "1"],
    ["column", "svc.lock('room 1')"],
    ["order", "id"],
    ["count", "true"],
    ["relation", "true"],
    ["source", "(values (1)) as one"],
    ["change", "'x'"],
    ...["sessionAll", "client", "prepared"].map((hidden) => [hidden, "select 1"]),
  ]) {
    expect((await svc.mutate(ann, "bare.statement", { path, text })).body.json).toBe("ran");
  }
});

test("a function of the application that locks a table, listens or notifies is reported", async () => {
  const bodies = {
    locks: "begin lock table public.notes in access exclusive mode; end",
    listens: "begin if true then listen svc_auth; end if; end",
    notifies: "begin perform 1; NOTIFY svc_auth, 'x'; end",
    executes: "begin execute 'lock table public.notes'; end",
    only_says: "declare listen int; begin -- lock table notes\n perform 'x', 'notify me'; listen := 1; end",
  };
  for (const [name, body] of Object.entries(bodies)) {
    await db.sql(`create function public.${name}() returns void language plpgsql set search_path = '' as $f$ ${body} $f$;
      grant execute on function public.${name}() to svc_authenticated`);
  }
  const found = await db.sql<{ name: string }>(
    "select name from svc_private.lint_schema() where rule = 'blocking_statement' order by name",
  );
  expect(found.map(({ name }) => name)).toEqual(
    ["executes", "listens", "locks", "notifies"].map((name) => `public.${name}()`),
  );
});
