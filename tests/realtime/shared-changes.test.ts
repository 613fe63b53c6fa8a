// If this file fails, a process that gets the log from another one misses changes and does not know it, or one that is
// stuck fills the memory of the process that reads.
import type { Worker } from "node:cluster";
import { EventEmitter } from "node:events";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { changeDecoder } from "../../src/realtime/change-decoder.ts";
import { ChangeSender, SharedChanges } from "../../src/realtime/shared-changes.ts";
import { createLog } from "../../src/telemetry/log.ts";
import { database } from "../support/database.ts";
import { cutReader } from "../support/sockets.ts";

const db = database();
const log = createLog("silent");
let sender: ChangeSender;
beforeAll(() => {
  sender = new ChangeSender(db.url("replication"), log, 100_000);
});
afterAll(() => sender.stop());

/** What the sender sees of a process: what it sends is taken in order, unless the process is stuck. */
class Process extends EventEmitter {
  #isStuck = false;
  readonly #sent: { message: unknown; done: () => void }[] = [];
  /** What it has heard, in order. */
  readonly heard: string[] = [];
  /** The highest number of bytes that wait to be taken. */
  most = 0;

  static start(): Process {
    const process = new Process();
    sender.serve(process as unknown as Worker);
    process.emit("message", "svc: changes");
    return process;
  }

  readonly #decoder = changeDecoder({
    begun: (xid) => void this.heard.push(`begun ${xid}`),
    changed: ({ relation, ...change }) => {
      const row = "new" in change ? change.new?.message : "";
      if (row === "what it cannot decode")
        throw new RangeError("Cannot create a string longer than 0x1fffffe8 characters");
      this.heard.push(`${relation.name}: ${row}`);
    },
    truncated: () => {},
    said: () => {},
    traced: () => {},
    broadcast: () => {},
    ended: (notice) => void this.heard.push(`ended ${notice}`),
    committed: () => void this.heard.push("committed"),
    live: (before) => void this.heard.push(`live ${before}`),
    lost: () => void this.heard.push("lost"),
  });
  readonly #changes = new SharedChanges({ to: this.#decoder, log, ask: () => this.emit("message", "svc: changes") });

  isConnected = () => true;

  send(message: unknown, done: () => void): void {
    this.#sent.push({ message, done });
    const bytes = this.#sent.map((one) => (Object.values(one.message as object)[0] as Uint8Array).length ?? 0);
    this.most = Math.max(
      this.most,
      bytes.reduce((sum, one) => sum + one, 0),
    );
    if (!this.#isStuck) this.#take();
  }

  /** While it is stuck it takes nothing. */
  set stuck(isStuck: boolean) {
    this.#isStuck = isStuck;
    if (!isStuck) this.#take();
  }

  #take(): void {
    for (const { message, done } of this.#sent.splice(0)) {
      this.#changes.hear(message as never);
      done();
    }
  }

  get rows(): string[] {
    return this.heard.filter((one) => one.startsWith("guestbook: "));
  }

  live = () => vi.waitFor(() => expect(this.heard.at(-1)).toMatch(/^live /), { timeout: 20_000 });
  row = (message: string) =>
    vi.waitFor(() => expect(this.rows.at(-1)).toBe(`guestbook: ${message}`), { timeout: 20_000 });
}

const write = (message: string, size = 0) =>
  db.sql("insert into guestbook (message) values ($1 || repeat('x', $2::int))", [message, size]);
const xmax = async () => BigInt((await db.sql("select pg_snapshot_xmax(pg_current_snapshot())::text as it"))[0]?.it);

describe("a process that joins", () => {
  test("first hears from where on it misses nothing, and later ones too, who know the tables by then", async () => {
    const first = Process.start();
    await first.live();
    await write("one");
    await first.row("one");
    const begun = await xmax();
    const late = Process.start();
    await late.live();
    await write("two");
    await late.row("two");
    expect(late.rows).toEqual(["guestbook: two"]);
    expect(first.rows).toEqual(["guestbook: one", "guestbook: two"]);
    // A query after that moment reads every change that this process was not sent.
    const [live] = late.heard;
    expect(BigInt(live?.split(" ")[1] ?? 0)).toBeLessThanOrEqual(begun);
    expect(BigInt(live?.split(" ")[1] ?? 0)).toBeGreaterThan(BigInt(first.heard[1]?.split(" ")[1] ?? 0));
    for (const one of [first, late]) one.emit("exit");
  });
});

describe("all processes", () => {
  test("hear that sessions have ended", async () => {
    const all = [Process.start(), Process.start()];
    for (const one of all) await one.live();
    await db.sql("select pg_logical_emit_message(true, 'svc_auth', 'session:1')");
    await write("after");
    for (const one of all) {
      await one.row("after");
      expect(one.heard).toContain("ended session:1");
      one.emit("exit");
    }
  });

  test("hear of a gap, and of its end", async () => {
    const all = [Process.start(), Process.start()];
    for (const one of all) await one.live();
    await cutReader(db);
    for (const one of all) {
      await vi.waitFor(() => expect(one.heard).toContain("lost"));
      await one.live();
    }
    await write("after the gap");
    for (const one of all) {
      await one.row("after the gap");
      one.emit("exit");
    }
  });
});

test("one that is stuck is told that it lost the flow, keeps a bounded number of bytes waiting, and joins again", async () => {
  const [stuck, other] = [Process.start(), Process.start()];
  await stuck.live();
  await other.live();
  stuck.stuck = true;
  for (let number = 0; number < 20; number++) await write(`many ${number} `, 30_000);
  await write("last");
  await other.row("last");
  expect(other.heard).not.toContain("lost");
  expect(stuck.most).toBeLessThan(400_000);
  stuck.stuck = false;
  expect(stuck.heard).toContain("lost");
  await stuck.live();
  await write("again");
  await stuck.row("again");
  for (const one of [stuck, other]) one.emit("exit");
});

test("one that cannot decode a change loses the flow, and joins again", async () => {
  const one = Process.start();
  await one.live();
  await write("before");
  await db.sql(`
    with many as (select unnest(array['with it', 'what it cannot decode', 'behind it']) as message)
    insert into guestbook (message) select message from many`);
  await vi.waitFor(() => expect(one.heard).toContain("lost"));
  await one.live();
  await write("after");
  await one.row("after");
  expect(one.rows).toEqual(["before", "with it", "after"].map((message) => `guestbook: ${message}`));
  expect(one.heard.filter((heard) => heard === "lost")).toHaveLength(1);
  one.emit("exit");
});

test("a change larger than what may wait is sent to none: all are told that they lost the flow", async () => {
  const all = [Process.start(), Process.start()];
  for (const one of all) await one.live();
  await write("large", 200_000);
  for (const one of all) {
    await vi.waitFor(() => expect(one.heard).toContain("lost"));
    await one.live();
  }
  await write("small again");
  for (const one of all) {
    await one.row("small again");
    expect(one.rows).toHaveLength(1);
    expect(one.most).toBeLessThan(100_000);
    one.emit("exit");
  }
});

test("one that has ended gets nothing more", async () => {
  const [ended, other] = [Process.start(), Process.start()];
  await ended.live();
  await other.live();
  ended.emit("exit");
  await write("without it");
  await other.row("without it");
  expect(ended.rows).toEqual([]);
  other.emit("exit");
});
