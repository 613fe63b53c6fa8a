// If this file fails, a dry run changes something, or does not tell what the call would do.
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "drizzle-orm";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { defineApi } from "../../src/app/api.ts";
import { loadConfig } from "../../src/config/load-config.ts";
import { webhook } from "../../src/index.ts";
import { dryRun } from "../../src/service/dry-run.ts";
import { webhooksFile } from "../../src/webhooks/webhooks-sql.ts";
import { crud, procedure } from "../fixture/backend/index.ts";
import * as schema from "../fixture/backend/schema.ts";
import { fixture, svcHere } from "../support/cli.ts";
import { database } from "../support/database.ts";
import { secret } from "../support/service.ts";

const db = database();
let files = "";

const sweep = procedure.internal.input(z.object({ id: z.number().optional() })).handler(async () => {});
const note = { userId: "ann", title: "by the handler" };
const busy = procedure.mutation
  .input(z.object({ title: z.string(), fails: z.boolean().default(false) }))
  .handler(async ({ context, input }) => {
    const [row] = await context.db
      .insert(schema.notes)
      .values({ ...note, title: input.title })
      .returning();
    await context.db.insert(schema.notes).values([note, note]);
    await context.db.update(schema.notes).set({ done: true });
    await context.scheduler.runAfter(60_000, "busy.sweep", { id: 1 });
    context.realtime.invalidate("notes.list");
    if (input.fails) throw new Error("the printer is on fire");
    return { id: row?.id, at: new Date(0) };
  });
const made = webhook({ name: "made", on: schema.notes, when: "insert", columns: ["id"], to: { procedure: sweep } });
const limited = procedure.query.handler(async ({ context }) => {
  for (let n = 0; n < 3; n++) await context.rateLimit("dry", { calls: 1, per: "1 hour" });
  return "answered";
});
/** What leaves the transaction. */
const escapes = {
  unsafeDb: procedure.mutation.handler(async ({ context }) => {
    await context.unsafeDb.insert(schema.notes).values(note);
  }),
  raw: procedure.mutation.handler(async ({ context }) => {
    await context.unsafeDb.execute(sql`select svc_private.enqueue_system_job('busy.sweep', null, null, null, 'x')`);
  }),
  file: procedure.mutation.handler(({ context }) => context.storage.store(new Blob(["bytes"], { type: "text/plain" }))),
  request: procedure.mutation.handler(async () => {
    await fetch("http://127.0.0.1:1/mail?secret=1", { method: "POST" });
  }),
};
const api = defineApi({ procedures: { ...crud, busy: { run: busy, sweep, limited }, escapes } });

beforeAll(async () => {
  files = await mkdtemp(join(tmpdir(), "svc-dry-run-"));
  await db.sql(`insert into auth."user" (id, name, email) values
    ('ann', 'Ann', 'ann@example.com'), ('ben', 'Ben', 'ben@example.com')`);
  await db.sql("insert into notes (user_id, title) values ('ann', 'mine'), ('ben', 'of ben')");
});
afterAll(() => rm(files, { recursive: true, force: true }));

const run = async (name: string, args?: unknown, userId: string | null = "ann") => {
  const config = { ...(await loadConfig({ cwd: fixture, env: {} })), storage: { driver: "disk", dir: files } as const };
  const app = { api, auth: {}, schema };
  const log = pino({ enabled: false });
  return dryRun({ name, userId, args }, { app, config, urls: db.urls, secrets: [secret], log });
};

/** All rows of all tables, the place in the log's messages, and the files. */
async function everything() {
  const tables = await db.sql<{ name: string }>(
    `select format('%I.%I', n.nspname, c.relname) as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where c.relkind = 'r' and n.nspname !~ '^pg_' and n.nspname <> 'information_schema' order by 1`,
  );
  const rows: Record<string, unknown> = {};
  for (const { name } of tables) rows[name] = await db.sql(`select t::text as row from ${name} t order by 1`);
  return { rows, files: await readdir(files, { recursive: true }) };
}

const unchanged = async (name: string, args?: unknown, userId?: string | null) => {
  const before = await everything();
  const done = await run(name, args, userId);
  expect(await everything()).toEqual(before);
  return done;
};

describe("a dry run", () => {
  test("tells the answer, the rows by table, the jobs and the messages, and leaves nothing", async () => {
    const done = await unchanged("busy.run", { title: "<b>bold</b>" });
    expect(done).toEqual({
      status: 200,
      answer: { json: { id: expect.any(Number), at: "1970-01-01T00:00:00.000Z" }, meta: expect.any(Array) },
      rows: expect.arrayContaining([
        // The policy lets Ann change her own four rows, not Ben's.
        { table: "public.notes", inserted: 3, updated: 4, deleted: 0, followed: true },
      ]),
      jobs: [{ name: "busy.sweep", due: expect.any(Date) }],
      messages: [{ invalidate: "notes.list" }],
      refused: [],
    });
  });

  test("tells the job of a procedure that a webhook runs for a changed row", async () => {
    const { webhooks } = defineApi({ procedures: { busy: { sweep } }, webhooks: { made } })["~svc"];
    await db.sql(`set role svc_owner; ${webhooksFile(webhooks)}; reset role`);
    const { status, jobs } = await unchanged("notes.create", { title: "boat" });
    expect([status, jobs]).toEqual([200, [{ name: "busy.sweep", due: expect.any(Date) }]]);
    await db.sql(`set role svc_owner; ${webhooksFile([])}; reset role`);
  });

  test("counts for no limit of the application", async () => {
    expect(await unchanged("busy.limited")).toMatchObject({ status: 200, answer: { json: "answered" }, refused: [] });
  });

  test("tells no job of others, neither of the past nor of an open transaction", async () => {
    const theirs = "select svc_private.enqueue_system_job('busy.sweep', '{\"id\": 2}', null, null, null)";
    await db.sql(theirs);
    const open = await db.connect("system");
    await open.query("begin");
    await open.query(theirs);
    expect((await run("busy.run", { title: "x" })).jobs).toHaveLength(1);
    await open.query("rollback");
  });

  test("sends nothing into the write-ahead log that anybody reads", async () => {
    await db.sql("select pg_create_logical_replication_slot('dry', 'pgoutput', true)");
    await unchanged("busy.run", { title: "x" });
    // Comes after it in the log.
    await db.sql("update notes set title = 'the mark' where id = 1");
    const text = `select string_agg(encode(data, 'escape'), '') as log from pg_logical_slot_peek_binary_changes('dry',
      null, null, 'proto_version', '1', 'publication_names', 'svc', 'messages', 'true')`;
    const read = async () => (await db.sql<{ log: string | null }>(text))[0]?.log ?? "";
    await expect.poll(read).toContain("the mark");
    expect(await read()).not.toMatch(/by the handler|notes\.list/);
    await db.sql("select pg_drop_replication_slot('dry')");
  });

  test.each([
    ["notes.create", { title: "new" }, { inserted: 1 }],
    ["notes.update", { id: 1, title: "new" }, { updated: 1 }],
    ["notes.remove", { id: 1 }, { deleted: 1 }],
    ["hooked.create", { title: "t" }, { inserted: 1 }],
  ])("%s, which is generated, is run and rolled back", async (name, args, counts) => {
    const { status, answer, rows } = await unchanged(name, args);
    expect([status, answer]).toEqual([200, { json: expect.anything() }]);
    expect(rows).toContainEqual(expect.objectContaining({ table: "public.notes", ...counts }));
  });

  test("of a query gives what the user sees", async () => {
    const { answer } = await unchanged("notes.list", { limit: 10 }, "ben");
    expect(answer).toMatchObject({ json: { data: [{ title: "of ben" }] } });
  });

  test.each([
    ["notes.update", { id: 2, title: "stolen" }, 404],
    ["notes.create", { title: 7 }, 400],
    ["notes.create", { title: "x" }, 401, null],
    ["busy.sweep", { id: 1 }, 404],
    ["nothing", {}, 404],
    ["__proto__", {}, 404],
  ])("%s with %j is answered as the service would: %i", async (name, args, status, as: string | null = "ann") => {
    const done = await unchanged(name, args, as);
    expect([done.status, Object.keys(done.answer)]).toEqual([status, expect.arrayContaining(["error", "code"])]);
  });

  test("tells the operator the cause of an error that clients do not get", async () => {
    expect(await unchanged("busy.run", { title: "x", fails: true })).toMatchObject({
      status: 500,
      answer: { code: "INTERNAL", cause: "the printer is on fire" },
    });
  });

  test("finds what COMMIT would refuse", async () => {
    await db.sql("alter table notes add constraint once unique (title) deferrable initially deferred");
    expect((await unchanged("busy.run", { title: "x" })).status).toBe(409);
    await db.sql("alter table notes drop constraint once");
  });

  test.each([
    ["escapes.unsafeDb", 500, "a write on a connection of its own: context.unsafeDb, a file or AI"],
    ["escapes.raw", 500, "a write on a connection of its own: context.unsafeDb, a file or AI"],
    ["escapes.file", 503, "a write on a connection of its own: context.unsafeDb, a file or AI"],
    ["escapes.request", 500, "fetch POST http://127.0.0.1:1/mail"],
  ])("refuses what a rollback would not undo: %s", async (name, status, refused) => {
    const done = await unchanged(name);
    expect([done.status, done.refused]).toEqual([status, [refused]]);
  });
});

test("svc dry-run tells it in text, and refuses what it does not understand", async () => {
  const before = await everything();
  const words = ["dry-run", "notes.create", "--as", "ann@example.com"];
  const { out, code } = await svcHere(db, fixture, [...words, "--input", '{"title":"new"}']);
  expect([code, out]).toEqual([0, expect.stringContaining("public.notes: 1 inserted, 0 updated, 0 deleted")]);
  const refused = await svcHere(db, fixture, [...words, "--input", "{"]);
  expect([refused.code, refused.error]).toEqual([1, expect.stringContaining("--input is not JSON")]);
  expect(await everything()).toEqual(before);
});
