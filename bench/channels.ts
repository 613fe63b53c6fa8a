/**
 * Channels: how long a message takes to all members, and what it costs, beside a bare `ws` server that gives each message to
 * all others. A durable channel also stores each. All get the same messages from a client that waits for the last member.
 */
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import WebSocket from "ws";
import { openCluster } from "../src/cluster/open-cluster.ts";
import { median } from "./measure.ts";
import { type Contestant, contestant } from "./process.ts";

const here = import.meta.dirname;
const svcCommand = join(here, "../src/cli/svc.ts");
const sizes = [2, 50, 400];
const rounds = 5;
/** A client may send so many in a round: its bucket has 100, and fills by 50 a second. */
const messages = 40;
/** In milliseconds. */
const pause = 1_000;

interface Room {
  sender: WebSocket;
  others: WebSocket[];
  frame: (n: number) => string;
}

export async function run(): Promise<void> {
  const app = join(here, "app");
  execFileSync(process.execPath, [svcCommand, "codegen", "--cwd", app], { stdio: "ignore" });
  const cluster = await openCluster({ directory: join(app, ".svc"), report: console.info });
  const svc = await contestant([svcCommand, "start", "--cwd", app], { PORT: "0", LOG_LEVEL: "warn" });
  const bare = await contestant([join(here, "peers/bare-rooms.ts")]);
  try {
    for (const size of sizes) await compare(svc, bare, size);
  } finally {
    await bare.stop();
    await svc.stop();
    await cluster.stop();
  }
}

async function compare(svc: Contestant, bare: Contestant, size: number): Promise<void> {
  const ours = (channel: string) => open(`${svc.url.replace("http", "ws")}/ws`, size, `${channel}::{"n":${size}}`);
  const rooms: [name: string, process: Contestant, room: Room, taken: Taken[]][] = [
    ["svc", svc, await ours("spots"), []],
    ["durable", svc, await ours("keptSpots"), []],
    ["bare ws", bare, await open(bare.url.replace("http", "ws"), size), []],
  ];
  for (let round = -1; round < rounds; round++) {
    for (const [, process, room, taken] of rooms) {
      const one = await slice(process, room);
      await new Promise((resolve) => setTimeout(resolve, pause));
      if (round >= 0) taken.push(one); // the first warms up
    }
  }
  console.info(`\na message to ${size - 1} other members, one at a time`);
  for (const [name, , room, taken] of rooms) {
    const figure = (of: (taken: Taken) => number) => median(taken.map(of));
    const times = `p50 ${figure(({ p50 }) => p50).toFixed(2)} ms   p99 ${figure(({ p99 }) => p99).toFixed(2)} ms`;
    const perSecond = `${figure(({ rate }) => rate).toFixed(0)} messages a second`;
    console.info(`  ${name.padEnd(8)} ${times}   ${perSecond}   ${figure(({ cpu }) => cpu).toFixed(0)} µs of CPU each`);
    for (const socket of [room.sender, ...room.others]) socket.close();
  }
}

interface Taken {
  p50: number;
  p99: number;
  rate: number;
  cpu: number;
}

async function slice(process: Contestant, { sender, others, frame }: Room): Promise<Taken> {
  const before = process.cpu();
  const began = performance.now();
  const times: number[] = [];
  for (let n = 0; n < messages; n++) {
    const sent = performance.now();
    const heard = others.map((socket) => new Promise((resolve) => socket.once("message", resolve)));
    sender.send(frame(n));
    await Promise.all(heard);
    times.push(performance.now() - sent);
  }
  const rate = messages / ((performance.now() - began) / 1000);
  times.sort((a, b) => a - b);
  const at = (share: number) => times[Math.floor(times.length * share)] ?? 0;
  return { p50: at(0.5), p99: at(0.99), rate, cpu: (process.cpu() - before) / messages };
}

/** @param query the channel; without it, the server gives everything to all others */
async function open(url: string, size: number, query?: string): Promise<Room> {
  const connect = async () => {
    const socket = new WebSocket(url, { perMessageDeflate: false });
    await new Promise<void>((resolve, reject) => {
      socket.on("error", reject);
      socket.on("open", () => (query ? socket.send(JSON.stringify({ type: "subscribe", query })) : resolve()));
      socket.on("message", (data) => String(data).startsWith('{"type":"subscribed"') && resolve());
    });
    socket.removeAllListeners("message");
    return socket;
  };
  const sockets: WebSocket[] = [];
  while (sockets.length < size) sockets.push(await connect());
  const [sender, ...others] = sockets as [WebSocket, ...WebSocket[]];
  const frame = (n: number) =>
    JSON.stringify({ ...(query && { type: "send", query, event: "moved", ref: n }), data: { x: n, y: 2 } });
  return { sender, others, frame };
}
