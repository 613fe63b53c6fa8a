// If this file fails, svc does not report that no replication slot is available, or that a forgotten slot fills the
// disk.
import { describe, expect, test } from "vitest";
import { examineSettings } from "../../src/cli/doctor-durability.ts";
import { examineReplication, type ReplicationState, replicationState } from "../../src/cli/doctor-replication.ts";
import { database } from "../support/database.ts";
import { service } from "../support/service.ts";
import { Socket } from "../support/sockets.ts";

const db = database();
const running = service(db);

const roomy: ReplicationState = {
  wal_level: "logical",
  slots: 1,
  slot_limit: 10,
  senders: 1,
  sender_limit: 10,
  keep_bytes: "1073741824",
  held: [{ name: "svc_1", active: true, status: "reserved", bytes: 1024 }],
};
const said = (changes: Partial<ReplicationState>) =>
  examineReplication({ ...roomy, ...changes }).map(({ kind, text }) => `${kind} ${text}`);

describe("svc doctor", () => {
  test("is content with room", () => {
    expect(said({})).toEqual(["ok replication: 1 of 10 slots in use, each may keep 1024 MiB of log"]);
  });

  test.for<[string, Partial<ReplicationState>, RegExp]>([
    ["no logical log", { wal_level: "replica" }, /^wrong wal_level is replica/],
    ["no slot left", { slots: 10 }, /^wrong 10 of 10 replication slots.*max_replication_slots/s],
    ["one slot left", { slots: 9 }, /^advice 9 of 10 replication slots/],
    ["no sender left", { senders: 10 }, /^wrong 10 of 10 senders.*max_wal_senders/s],
    ["a slot may fill the disk", { keep_bytes: null }, /^advice max_slot_wal_keep_size is not set/],
    [
      "nobody reads a slot",
      { held: [{ name: "old", active: false, status: "extended", bytes: 3e9 }] },
      /^advice No process reads the slot old: it retains 2861 MiB.*pg_drop_replication_slot\('old'\)/s,
    ],
    [
      "a slot has lost its log",
      { held: [{ name: "old", active: false, status: "lost", bytes: 0 }] },
      /^advice The slot old has lost its log/,
    ],
    [
      "a reader is far behind",
      { held: [{ name: "slow", active: true, status: "extended", bytes: 3e9 }] },
      /^advice The reader of the slot slow is 2861 MiB of log behind/,
    ],
  ])("says that %s", ([, changes, wanted]) => {
    expect(said(changes)).toContainEqual(expect.stringMatching(wanted));
  });

  test("says that what was acknowledged may be forgotten", async () => {
    const client = await db.connect("request");
    await client.query("set synchronous_commit = off");
    const text = expect.stringMatching(/^(.+, )?synchronous_commit: off\..*lost/);
    expect(await examineSettings(client as never)).toEqual([{ kind: "advice", text }]);
  });

  test("reads a real server: the slot of a service, and one that nobody reads", async () => {
    const socket = await Socket.open(running, null);
    const forgotten = `forgotten_${db.name}`;
    await db.sql("select pg_create_logical_replication_slot($1, 'pgoutput')", [forgotten]);
    try {
      const state = await replicationState({
        query: (text: string) => db.connect("system").then((c) => c.query(text)),
      } as never);
      expect(state.held).toContainEqual(expect.objectContaining({ name: forgotten, active: false }));
      expect(state.held.some(({ active }) => active)).toBe(true);
      expect(state.slots).toBeGreaterThanOrEqual(2);
    } finally {
      await db.sql("select pg_drop_replication_slot($1)", [forgotten]);
    }
    socket.close();
  });
});

test("metrics say how long after its commit a transaction was told", async () => {
  await db.sql("set synchronous_commit to on");
  const socket = await Socket.open(running, null);
  await socket.subscribe("guestbook.list");
  await db.sql("insert into guestbook (message) values ('x')");
  await socket.wait({ type: "invalidate" });
  const lag = Number(/^svc_realtime_lag_seconds (\S+)/m.exec((await running.fetch("/metrics")).body)?.[1]);
  expect(lag).toBeGreaterThanOrEqual(0);
  expect(lag).toBeLessThan(60);
  socket.close();
});
