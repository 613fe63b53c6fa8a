// If this file fails, sockets of several processes behind one port miss changes, each process reads the log for itself,
// or processes outlive the one that reads for them.
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Command, fixture, svc } from "../support/cli.ts";
import { database } from "../support/database.ts";
import { isRunning } from "../support/is-running.ts";
import { cutReader, Socket } from "../support/sockets.ts";

const db = database();
let command: Command;
let address: string;
let sockets: Socket[] = [];

beforeAll(() => {
  command = svc(db, fixture, ["start", "--processes", "2", "--json"]);
});
afterAll(async () => {
  for (const socket of sockets) socket.close();
  command.child.kill("SIGKILL");
  await command.ended;
});

const processes = (): number[] =>
  readFileSync(`/proc/${command.child.pid}/task/${command.child.pid}/children`, "utf8")
    .trim()
    .split(" ")
    .filter(Boolean)
    .map(Number);
const slots = async () => (await db.sql("select from pg_replication_slots where database = current_database()")).length;

/** New connections go to the processes in turn. */
async function connect(count: number): Promise<void> {
  for (let number = 0; number < count; number++) {
    const socket = new Socket(address);
    sockets.push(socket);
    await socket.wait({ type: "status", flow: "live" });
    await socket.subscribe("guestbook.list");
  }
}

async function write(): Promise<void> {
  for (const socket of sockets) socket.frames.length = 0;
  await db.sql("insert into guestbook (message) values ('to all')");
  for (const socket of sockets) await socket.wait({ type: "invalidate", queries: ["guestbook.list"] });
}

test("a change is heard by the sockets of all processes, and the log is read once", async () => {
  const ready = () => /Ready: http(\S+), 2 processes/.exec(command.output())?.[1] ?? command.output();
  await expect.poll(ready).toMatch(/^:/);
  address = `ws${ready()}/ws`;
  await connect(6);
  await write();
  expect(await slots()).toBe(1);
});

test("a process that is killed takes its sockets along; the others hear on, and its successor hears too", async () => {
  const [killed = 0] = processes();
  process.kill(killed, "SIGKILL");
  await expect.poll(() => sockets.filter(({ closed }) => closed).length).toBeGreaterThan(0);
  await expect.poll(() => processes().filter((pid) => pid !== killed).length).toBe(2);
  const left = sockets.filter(({ closed }) => !closed);
  expect(left.length).toBeGreaterThan(0); // so both processes had some
  sockets = left;
  await write();
  await connect(6);
  await write();
  expect(await slots()).toBe(1);
});

test("a gap is told to the sockets of all processes", async () => {
  await cutReader(db);
  for (const socket of sockets) {
    await socket.wait({ type: "status", flow: "degraded" });
    await socket.wait({ type: "status", flow: "live" });
    const { before } = (await socket.upTo({ type: "resync", before: socket.frames[0]?.before })).at(-1);
    expect(before).toMatch(/^\d+$/);
  }
  await write();
  expect(await slots()).toBe(1);
});

test("if the process that reads is killed, the others end, and leave no slot behind", async () => {
  const all = processes();
  command.child.kill("SIGKILL");
  await expect.poll(() => all.filter(isRunning), { timeout: 20_000 }).toEqual([]);
  await expect.poll(slots, { timeout: 20_000 }).toBe(0);
});
