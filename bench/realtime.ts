/**
 * Realtime: how long after a commit a subscriber knows, beside a reader that only decodes the log; what a delivery costs
 * beside a bare `ws` loop; what a socket weighs.
 */
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import pg from "pg";
import { pino } from "pino";
import WebSocket from "ws";
import { openCluster } from "../src/postgres/cluster.ts";
import { ChangeReader } from "../src/realtime/replication.ts";
import { median } from "./measure.ts";
import { type Contestant, contestant } from "./process.ts";

const here = import.meta.dirname;
const svcCommand = join(here, "../src/cli/svc.ts");
const sockets = 2_000;
const rounds = 7;
const framesPerRound = 15;

export async function run(): Promise<void> {
  execFileSync(process.execPath, [svcCommand, "codegen", "--cwd", join(here, "app")], { stdio: "ignore" });
  const cluster = await openCluster({ directory: join(here, "app/.svc"), report: console.info });
  const svc = await contestant([svcCommand, "start", "--cwd", join(here, "app")], { PORT: "0", LOG_LEVEL: "warn" });
  const bare = await contestant([join(here, "peers/bare-ws.ts")]);
  const admin = new pg.Client({ connectionString: cluster.urls.admin });
  await admin.connect();
  await admin.query("set synchronous_commit to on");
  try {
    const { token, userId } = await signUp(svc);
    await latency(svc, cluster.urls.replication, admin, token, userId);
    await fanOut(svc, bare, admin, token);
  } finally {
    await admin.end();
    await Promise.all([svc.stop(), bare.stop()]);
    await cluster.stop();
  }
}

async function signUp(svc: Contestant) {
  const response = await fetch(`${svc.url}/api/auth/sign-up`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      email: `bench-${Date.now()}@example.com`,
      password: "correct horse battery",
      name: "Bench",
    }),
  });
  const { token, user } = (await response.json()) as { token: string; user: { id: string } };
  return { token, userId: user.id };
}

/** A socket that watches items.list. @param heard called with every event */
async function subscribe(svc: Contestant, token: string, heard: () => void): Promise<WebSocket> {
  const headers = { authorization: `Bearer ${token}` };
  const response = await fetch(`${svc.url}/api/realtime/ticket`, { method: "POST", headers });
  const { ticket } = (await response.json()) as { ticket: string };
  const socket = new WebSocket(`${svc.url.replace("http", "ws")}/ws?ticket=${ticket}`, { perMessageDeflate: false });
  const seen = { live: false, subscribed: false };
  await new Promise<void>((resolve, reject) => {
    socket.on("error", reject);
    socket.on("open", () => socket.send('{"type":"subscribe","query":"items.list"}'));
    socket.on("message", (data) => {
      const text = String(data);
      if (text.startsWith('{"type":"invalidate"')) heard();
      seen.live ||= text === '{"type":"status","flow":"live"}';
      seen.subscribed ||= text.startsWith('{"type":"subscribed"');
      if (seen.live && seen.subscribed) resolve();
    });
  });
  return socket;
}

/** Both are measured in this process, from the moment the commit is acknowledged, for the same commits. */
async function latency(svc: Contestant, url: string, admin: pg.Client, token: string, userId: string): Promise<void> {
  let delivered = () => {};
  let decoded = () => {};
  let live = () => {};
  const isLive = new Promise<void>((resolve) => {
    live = resolve;
  });
  const nothing = () => {};
  const listener = { begun: nothing, changed: nothing, truncated: nothing, said: nothing, lost: nothing };
  const reader = new ChangeReader({
    url,
    listener: { ...listener, committed: () => decoded(), live: () => live() },
    log: pino({ level: "silent" }),
  });
  reader.start();
  await isLive;
  const socket = await subscribe(svc, token, () => delivered());
  const taken: { ours: number; raw: number }[] = [];
  for (let n = -20; n < 500; n++) {
    const at = (set: (done: () => void) => void) =>
      new Promise<number>((resolve) => set(() => resolve(performance.now())));
    const events = Promise.all([
      at((done) => {
        delivered = done;
      }),
      at((done) => {
        decoded = done;
      }),
    ]);
    await admin.query("insert into items (user_id, title) values ($1, 'new')", [userId]);
    const acknowledged = performance.now();
    const [ours, raw] = await events;
    if (n >= 0) taken.push({ ours: ours - acknowledged, raw: raw - acknowledged });
  }
  socket.close();
  await reader.stop();
  await admin.query("delete from items where user_id = $1", [userId]);
  console.info("\nfrom a commit's acknowledgement, in ms (below 0: known before)");
  const [ours, raw] = (["ours", "raw"] as const).map((key) => taken.map((one) => one[key]).sort((a, b) => a - b));
  for (const [name, all = []] of [
    ["svc subscriber", ours],
    ["raw decoding", raw],
  ] as const) {
    const [p50 = 0, p99 = 0] = [0.5, 0.99].map((share) => all[Math.floor(all.length * share)]);
    console.info(`  ${name.padEnd(16)} p50 ${p50.toFixed(2)}   p99 ${p99.toFixed(2)}`);
  }
  const added = median(taken.map((one) => one.ours - one.raw));
  console.info(`  svc comes ${added.toFixed(2)} ms after raw decoding (median)`);
}

/** One event reaches all sockets: deliveries per second of the server's CPU. */
async function fanOut(svc: Contestant, bare: Contestant, admin: pg.Client, token: string): Promise<void> {
  let heard = 0;
  let all = () => {};
  const hear = () => {
    if (++heard === sockets * framesPerRound) all();
  };
  const ours: WebSocket[] = [];
  const theirs: WebSocket[] = [];
  const connect = async (count: number) => {
    for (let n = 0; n < count; n++) {
      ours.push(await subscribe(svc, token, hear));
      const socket = new WebSocket(bare.url.replace("http", "ws"), { perMessageDeflate: false });
      socket.on("message", hear);
      await new Promise((resolve) => socket.once("open", resolve));
      theirs.push(socket);
    }
  };
  // What the first ones take comes partly out of memory that a process has set aside already.
  await connect(sockets / 2);
  const weights = [svc.memory(), bare.memory()];
  await connect(sockets / 2);
  const [svcSocket = 0, bareSocket = 1] = [svc.memory(), bare.memory()].map(
    (after, index) => ((after - (weights[index] ?? 0)) * 1024) / (sockets / 2),
  );
  const frame = JSON.stringify({ type: "invalidate", queries: ["items.list"], xid: "123456" });
  const sayOurs = () => admin.query(`select svc.emit_message('{"invalidate":"items.list"}')`);
  const sayTheirs = () => fetch(bare.url, { method: "POST", body: frame });
  const slice = async (process: Contestant, say: () => Promise<unknown>) => {
    heard = 0;
    const done = new Promise<void>((resolve) => {
      all = resolve;
    });
    const before = process.cpu();
    for (let n = 0; n < framesPerRound; n++) await say();
    await done;
    return (process.cpu() - before) / (sockets * framesPerRound);
  };
  const costs = { ours: [] as number[], theirs: [] as number[] };
  for (let round = -1; round < rounds; round++) {
    const [one, other] = [await slice(svc, sayOurs), await slice(bare, sayTheirs)];
    if (round < 0) continue; // warm up
    costs.ours.push(one);
    costs.theirs.push(other);
  }
  for (const socket of [...ours, ...theirs]) socket.terminate();
  const [cost, least] = [median(costs.ours), median(costs.theirs)];
  const rate = (micros: number) => `${(1e6 / micros).toFixed(0).padStart(7)} deliveries per CPU second`;
  console.info(`\nfan-out to ${sockets} sockets`);
  console.info(`  svc              ${rate(cost)}   ${(least / cost).toFixed(2)}x`);
  console.info(`  bare ws loop     ${rate(least)}   1.00x`);
  // No ratio: garbage and memory set aside move resident memory by more than the bare socket's few KiB.
  console.info(
    `  resident memory per further socket: svc ${svcSocket.toFixed(1)} KiB, bare ws loop ${bareSocket.toFixed(1)} KiB (rough)`,
  );
}
