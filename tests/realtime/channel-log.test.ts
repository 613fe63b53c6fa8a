// If this file fails, processes that share a log do not agree about who is in a channel.
import { afterAll, afterEach, expect, test } from "vitest";
import { ChannelOutbox } from "../../src/realtime/channel-outbox.ts";
import { Presence, presenceTimes } from "../../src/realtime/channel-presence.ts";

const times = { ...presenceTimes };
Object.assign(presenceTimes, { beat: 100, silence: 600, grace: 100, settle: 50 });
afterAll(() => Object.assign(presenceTimes, times));

interface Process {
  presence: Presence;
  /** Whether it reads the log. */
  reads: boolean;
  /** What it will read, where the log is late. */
  late?: string[] | undefined;
  /** Whether it writes the log. */
  writes: boolean;
}
const all: Process[] = [];
/** In bytes, of what was written. */
let written: number[] = [];
afterEach(async () => {
  await Promise.all(all.splice(0).map(({ presence }) => presence.close()));
  written = [];
});

function start(): Process {
  const outbox = new ChannelOutbox(async (text) => {
    if (!process.writes) throw new Error("no database");
    written.push(Buffer.byteLength(text));
    for (const { presence, reads, late } of all) {
      if (late) late.push(text);
      else if (reads) hear(presence, text);
    }
  });
  const process: Process = { presence: new Presence(outbox, () => {}), reads: true, writes: true };
  all.push(process);
  return process;
}
const hear = (presence: Presence, text: string) => {
  for (const item of JSON.parse(text)) presence.hear(item);
};
const enter = ({ presence }: Process, topic: string, id: string) => presence.enter(topic, owner, id, null, null);
const owner = {};
const shown = ({ presence }: Process, topic: string) => presence.list(topic)?.map(({ id }) => id);
const changes = ({ presence }: Process) => [...presence.changes()].flatMap(([, set]) => set.map(({ id }) => id));

test("who left while a process did not read is not shown by it for ever", async () => {
  const [one, two] = [start(), start()];
  enter(one, "room", "watcher");
  enter(two, "room", "leaver");
  enter(two, "other", "stays"); // so that its process is heard
  await expect.poll(() => shown(one, "room")).toEqual(["watcher", "leaver"]);
  one.reads = false;
  two.presence.leave("room", owner, "leaver", 0);
  await expect.poll(() => shown(two, "room")).toEqual(["watcher"]);
  one.reads = true;
  one.presence.live();
  await expect.poll(() => shown(one, "room"), { timeout: 5_000 }).toEqual(["watcher"]);
});

test("who stayed while a process did not read is not seen to leave", async () => {
  const [one, two] = [start(), start()];
  enter(one, "room", "watcher");
  enter(two, "room", "stays");
  await expect.poll(() => shown(one, "room")).toEqual(["watcher", "stays"]);
  changes(one);
  one.presence.live();
  await new Promise((resolve) => setTimeout(resolve, 3 * presenceTimes.silence));
  expect(shown(one, "room")?.sort()).toEqual(["stays", "watcher"]);
  expect([...one.presence.changes()]).toEqual([]);
});

test("where the log is late, nobody is taken for dead", async () => {
  const [one, two] = [start(), start()];
  enter(one, "room", "watcher"); // its beat comes first
  enter(two, "room", "stays");
  await expect.poll(() => shown(one, "room")?.sort()).toEqual(["stays", "watcher"]);
  changes(one);
  const late: string[] = [];
  one.late = late;
  await new Promise((resolve) => setTimeout(resolve, 2 * presenceTimes.silence));
  one.late = undefined;
  for (const text of late) {
    hear(one.presence, text);
    expect(shown(one, "room")?.sort()).toEqual(["stays", "watcher"]);
  }
  expect([...one.presence.changes()]).toEqual([]);
});

test("who left while a process could not write is not shown by others for ever", async () => {
  const [one, two] = [start(), start()];
  enter(one, "room", "watcher");
  enter(two, "room", "leaver");
  enter(two, "other", "stays");
  await expect.poll(() => shown(one, "room")).toEqual(["watcher", "leaver"]);
  two.writes = false;
  two.presence.leave("room", owner, "leaver", 0);
  await new Promise((resolve) => setTimeout(resolve, 20));
  two.writes = true;
  await expect.poll(() => shown(one, "room"), { timeout: 5_000 }).toEqual(["watcher"]);
});

test("a process that could not ask knows who is there when it can write", async () => {
  const [one, two] = [start(), start()];
  enter(one, "room", "known");
  await expect.poll(() => shown(one, "room")).toEqual(["known"]);
  two.writes = false;
  enter(two, "room", "late");
  await new Promise((resolve) => setTimeout(resolve, 20));
  two.writes = true;
  await expect.poll(() => shown(two, "room")?.sort(), { timeout: 5_000 }).toEqual(["known", "late"]);
});

test("a process that begins to serve a channel does not have all members told again", async () => {
  const [one, two] = [start(), start()];
  for (let n = 0; n < 250; n++) enter(one, "room", `member ${n}`);
  await expect.poll(() => shown(one, "room")?.length).toBe(250);
  changes(one);
  enter(two, "room", "new");
  await expect.poll(() => shown(two, "room")?.length).toBe(251);
  expect(changes(one)).toEqual(["new"]);
});

test("a process with many channels asks for all of them, in pieces that the database takes", async () => {
  const [one, two] = [start(), start()];
  const topics = Array.from({ length: 300 }, (_, n) => `${n} ${'"'.repeat(4_000)}`);
  for (const topic of topics) {
    enter(one, topic, "one");
    enter(two, topic, "two");
  }
  await expect.poll(() => topics.every((topic) => shown(one, topic)?.length === 2)).toBe(true);
  one.presence.live();
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(Math.max(...written)).toBeLessThan(262_144);
});
