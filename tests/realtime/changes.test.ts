/** The reader of the write-ahead log: the events of a transaction. */
import type pg from "pg";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { defineApi } from "../../src/app/api.ts";
import { changeDecoder } from "../../src/realtime/change-decoder.ts";
import { ChangeReader } from "../../src/realtime/replication.ts";
import { type TransactionEvents, transactionEvents } from "../../src/realtime/transaction-events.ts";
import { createLog } from "../../src/telemetry/log.ts";
import { crud } from "../fixture/backend/index.ts";
import { database } from "../support/database.ts";

const db = database();
const log = createLog("silent");
const heard: TransactionEvents[] = [];
let lives = 0;
/** Commit time of the last reported transaction. */
let committedAt = 0;
let reader: ChangeReader;
let admin: pg.Client;

beforeAll(async () => {
  const sink = {
    deliver: (events: TransactionEvents) => void heard.push(events),
    hears: () => true,
    begun: () => {},
    broadcast: () => {},
    end: () => {},
    live: () => void lives++,
    lost: () => {},
  };
  const events = transactionEvents(defineApi({ procedures: crud })["~svc"].crud, sink, log);
  const committed = (at: number) => {
    committedAt = at;
    events.committed(at);
  };
  const listener = { ...events, committed };
  reader = new ChangeReader({ url: db.url("replication"), to: changeDecoder(listener), log });
  reader.start();
  await vi.waitFor(() => expect(lives).toBe(1), { timeout: 20_000 });
  admin = await db.connect("admin");
  await admin.query(
    `insert into auth."user" (id, name, email)
     select id, id, id || '@example.com' from unnest($1::text[]) id
     union all select 'u' || n, 'u', 'u' || n || '@example.com' from generate_series(1, 3000) n`,
    [["ann", "bob", "first-to-begin", "first-to-commit"]],
  );
});
afterAll(() => reader.stop());
beforeEach(() => {
  heard.length = 0;
});

let markers = 0;
/** The topics of the next transactions, sorted; a separate marker shows that all earlier ones have arrived. */
async function told(): Promise<string[][]> {
  const marker = `marker${++markers}`;
  await admin.query("select svc.emit_message($1)", [JSON.stringify({ invalidate: marker })]);
  const isOver = () => heard.some(({ topics }) => topics.has(`key:${marker}`));
  await expect.poll(isOver).toBe(true);
  return heard.map(({ topics }) => [...topics].sort()).filter(([first]) => !first?.startsWith("key:marker"));
}
const note = (user: string, title: string) =>
  `insert into notes (user_id, title) values ('${user}', '${title}') returning id`;

describe("a change of an owner's row", () => {
  test("is told to its owner: the list, and the row", async () => {
    const { rows } = await admin.query(note("ann", "one"));
    expect(await told()).toContainEqual(expect.arrayContaining(["list:notes:ann", `get:notes:${rows[0].id}:ann`]));
    expect((await told()).flat().filter((topic) => /^(list|get):notes/.test(topic) && !topic.endsWith(":ann"))).toEqual(
      [],
    );
  });

  test("when it is moved to another owner is told to both", async () => {
    const { rows } = await admin.query(note("ann", "two"));
    await told();
    heard.length = 0;
    await admin.query("update notes set user_id = 'bob' where id = $1", [rows[0].id]);
    const [topics = []] = await told();
    expect(topics.filter((topic) => topic.includes(":notes:"))).toEqual([
      `get:notes:${rows[0].id}:ann`,
      `get:notes:${rows[0].id}:bob`,
      "list:notes:ann",
      "list:notes:bob",
    ]);
  });

  test("when it is deleted is told to the one who had it", async () => {
    const { rows } = await admin.query(note("ann", "three"));
    await told();
    heard.length = 0;
    await admin.query("delete from notes where id = $1", [rows[0].id]);
    const [topics = []] = await told();
    expect(topics.filter((topic) => topic.includes(":notes:"))).toEqual([
      `get:notes:${rows[0].id}:ann`,
      "list:notes:ann",
    ]);
  });
});

describe("a transaction", () => {
  test("is told as one, under its own id, when it commits", async () => {
    await admin.query("begin");
    await admin.query(note("ann", "four"));
    await admin.query(note("bob", "five"));
    const { rows } = await admin.query("select pg_current_xact_id()::text as xid");
    await admin.query("commit");
    await told();
    const [events] = heard;
    expect(events?.xid).toBe(rows[0].xid);
    expect([...(events?.topics ?? [])]).toEqual(expect.arrayContaining(["list:notes:ann", "list:notes:bob"]));
  });

  // Otherwise the lag of changes in /metrics and /readyz would always be 0.
  test("is told with the time of its commit by the server's clock", async () => {
    const clock = async (): Promise<number> =>
      Number((await admin.query("select extract(epoch from clock_timestamp()) * 1000 as ms")).rows[0].ms);
    const before = Math.floor(await clock());
    await told();
    expect(committedAt).toBeGreaterThanOrEqual(before);
    expect(committedAt).toBeLessThanOrEqual(await clock());
  });

  test("that rolls back is never told, nor what it said", async () => {
    await admin.query("begin");
    await admin.query(note("ann", "six"));
    await admin.query('select svc.emit_message(\'{"invalidate":"gone"}\')');
    await admin.query("rollback");
    expect(await told()).toEqual([]);
  });

  test("with too many rows to name is told by resource", async () => {
    await admin.query("insert into notes (user_id, title) select 'u' || n, 't' from generate_series(1, 3000) n");
    expect((await told()).flat()).toContain("all:notes");
    heard.length = 0;
    await admin.query("truncate notes");
    expect((await told()).flat()).toContain("all:notes");
  });

  test("come in the order in which they commit", async () => {
    const other = await db.connect("admin");
    await admin.query("begin");
    await admin.query(note("first-to-begin", "x"));
    await other.query(note("first-to-commit", "x"));
    await admin.query("commit");
    const owners = (await told()).map((topics) => topics.find((topic) => topic.startsWith("list:notes:")));
    expect(owners).toEqual(["list:notes:first-to-commit", "list:notes:first-to-begin"]);
  });
});

describe("a lost connection", () => {
  test("is made anew, and what came after is told", async () => {
    const before = lives;
    await admin.query(
      "select pg_terminate_backend(pid) from pg_stat_activity where backend_type = 'walsender' and datname = current_database()",
    );
    await expect.poll(() => lives).toBeGreaterThan(before);
    await admin.query(note("ann", "seven"));
    expect((await told()).flat()).toContain("list:notes:ann");
  });
});

test("a message is refused in a read-only transaction, and when it is too large", async () => {
  await admin.query("begin read only");
  await expect(admin.query("select svc.emit_message('{}')")).rejects.toMatchObject({ code: "25006" });
  await admin.query("rollback");
  const large = JSON.stringify({ data: "x".repeat(65_536) });
  await expect(admin.query("select svc.emit_message($1)", [large])).rejects.toMatchObject({ code: "SV413" });
});

test("a reader that has to wait for a forgotten transaction says so", async () => {
  await admin.query("begin; insert into guestbook (message) values ('not committed')");
  const waiting = createLog("silent");
  const warn = vi.spyOn(waiting, "warn");
  let isLive = false;
  const live = () => {
    isLive = true;
  };
  const to = { frame: () => {}, lost: () => {}, live };
  const other = new ChangeReader({ url: db.url("replication"), to, log: waiting, beatMs: 100 });
  other.start();
  try {
    await expect.poll(() => warn.mock.calls.flat()).toEqual([expect.stringContaining("pg_prepared_xacts")]);
    expect(isLive).toBe(false);
    await admin.query("rollback");
    await expect.poll(() => isLive, { timeout: 20_000 }).toBe(true);
  } finally {
    await other.stop();
  }
});
