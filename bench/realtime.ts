/**
 * Realtime: how long after a commit a subscriber knows, beside a reader that only decodes the log; what a delivery costs
 * beside a bare `ws` loop; what a socket weighs; how fast a backlog is told.
 */
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import pg from "pg";
import { pino } from "pino";
import WebSocket from "ws";
import { openCluster } from "../src/cluster/open-cluster.ts";
import { changeDecoder } from "../src/realtime/change-decoder.ts";
import { ChangeReader } from "../src/realtime/replication.ts";
import { median } from "./measure.ts";
import { type Contestant, contestant } from "./process.ts";
import { type Listeners, listeners } from "./sockets.ts";

const here = import.meta.dirname;
const svcCommand = join(here, "../src/cli/svc.ts");
const sizes = [1_000, 5_000, 10_000];
const rounds = 7;
/** Of a backlog. */
const changes = 20_000;
/** For `settledMemory`. */
const collectable = ["--expose-gc", "--import", join(here, "peers/collect.ts")];

export async function run(): Promise<void> {
  execFileSync(process.execPath, [svcCommand, "codegen", "--cwd", join(here, "app")], { stdio: "ignore" });
  const cluster = await openCluster({ directory: join(here, "app/.svc"), report: console.info });
  const svc = await contestant([...collectable, svcCommand, "start", "--cwd", join(here, "app")], {
    PORT: "0",
    LOG_LEVEL: "warn",
  });
  const bare = await contestant([...collectable, join(here, "peers/bare-ws.ts")]);
  const raw = await contestant([join(here, "peers/raw-decoder.ts")], {
    DATABASE_REPLICATION_URL: cluster.urls.replication,
  });
  const admin = new pg.Client({ connectionString: cluster.urls.admin });
  await admin.connect();
  await admin.query("set synchronous_commit to on");
  try {
    const { token, userId } = await signUp(svc);
    await latency(svc, cluster.urls.replication, admin, token, userId);
    await sustained(svc, raw, admin, token, userId);
    await raw.stop();
    await fanOut(svc, bare, admin, token);
  } finally {
    await admin.end();
    await Promise.all([svc.stop(), bare.stop(), raw.stop()]);
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
  // Not the JWT, which would end before the benchmark does.
  const { sessionToken, user } = (await response.json()) as { sessionToken: string; user: { id: string } };
  return { token: sessionToken, userId: user.id };
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
  const listener = {
    begun: nothing,
    changed: nothing,
    truncated: nothing,
    said: nothing,
    traced: nothing,
    broadcast: () => {},
    ended: nothing,
    lost: nothing,
  };
  const reader = new ChangeReader({
    url,
    to: changeDecoder({ ...listener, committed: () => decoded(), live: () => live() }),
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

/** One event reaches all sockets: deliveries per second of the server's CPU, and what a socket weighs. */
async function fanOut(svc: Contestant, bare: Contestant, admin: pg.Client, token: string): Promise<void> {
  const [ours, theirs] = [listeners(), listeners()];
  const frame = JSON.stringify({ type: "invalidate", queries: ["items.list"], xid: "123456" });
  const sayOurs = () => admin.query(`select svc.emit_message('{"invalidate":"items.list"}')`);
  const sayTheirs = () => fetch(bare.url, { method: "POST", body: frame });
  let count = 0;
  const connect = async (total: number) => {
    const open = total - count;
    await ours.open({ open, url: svc.url.replace("http", "ws"), token, keys: ["items.list"] });
    await theirs.open({ open, url: bare.url.replace("http", "ws") });
    count = total;
  };
  const slice = async (process: Contestant, who: Listeners, say: () => Promise<unknown>) => {
    const before = process.cpu();
    const frames = Math.ceil(30_000 / count);
    // One at a time: of a burst, svc would send in one system call what the loop sends in many.
    for (let n = 0; n < frames; n++) await Promise.all([who.heard(count), say()]);
    return (process.cpu() - before) / (count * frames);
  };
  // What the first ones take comes partly out of memory that a process has set aside already.
  await connect(500);
  const weights = [await svc.settledMemory(), await bare.settledMemory()];
  for (const size of sizes) {
    await connect(size);
    const costs = { ours: [] as number[], theirs: [] as number[] };
    for (let round = -1; round < rounds; round++) {
      const cost = { ours: await slice(svc, ours, sayOurs), theirs: await slice(bare, theirs, sayTheirs) };
      if (round < 0) continue; // warm up
      costs.ours.push(cost.ours);
      costs.theirs.push(cost.theirs);
    }
    const [cost, least] = [median(costs.ours), median(costs.theirs)];
    const rate = (micros: number) => `${(1e6 / micros).toFixed(0).padStart(7)} deliveries per CPU second`;
    console.info(`\nfan-out to ${size} sockets`);
    console.info(`  svc              ${rate(cost)}   ${(least / cost).toFixed(2)}x`);
    console.info(`  bare ws loop     ${rate(least)}   1.00x`);
  }
  const [ownWeight = 0, bareWeight = 0] = [await svc.settledMemory(), await bare.settledMemory()].map(
    (after, index) => ((after - (weights[index] ?? 0)) * 1024) / (count - 500),
  );
  console.info(`\nresident memory per socket, after a collection: svc ${ownWeight.toFixed(1)} KiB with a subscription`);
  console.info(`  bare ws loop ${bareWeight.toFixed(1)} KiB`);
  ours.stop();
  theirs.stop();
}

/** A backlog of changes of a thousand rows, each watched by a socket of its own, beside decoding the same changes. */
async function sustained(svc: Contestant, raw: Contestant, admin: pg.Client, token: string, userId: string) {
  const { rows } = await admin.query(
    "insert into items (user_id, title) select $1, 'row ' || n from generate_series(1, 1000) n returning id",
    [userId],
  );
  const keys = rows.map(({ id }) => `items.get::{"id":${id}}`);
  const all = listeners();
  await all.open({ open: keys.length, url: svc.url.replace("http", "ws"), token, keys });
  const rates = { ours: [] as number[], raw: [] as number[], cpu: [] as number[] };
  for (let round = -1; round < rounds; round++) {
    // Both are held while the backlog is made, and then let go one after the other: neither works beside anything else.
    for (const one of [svc, raw]) one.hold();
    // On a busy disk they would take longer than the server waits for a reader that is held.
    await admin.query("set synchronous_commit to off");
    await admin.query(`do $$ begin for n in 1..${changes} loop
      update items set priority = n where id = ${rows[0].id} + n % 1000; commit; end loop; end $$`);
    await admin.query("set synchronous_commit to on");
    const until = (round + 2) * changes;
    const drain = async (one: Contestant, done: Promise<unknown>) => {
      const [start, cpu] = [performance.now(), one.cpu()];
      one.release();
      await done;
      return { rate: changes / ((performance.now() - start) / 1000), cpu: (one.cpu() - cpu) / changes };
    };
    const ours = await drain(svc, all.heard(changes));
    const theirs = await drain(raw, fetch(`${raw.url}/?until=${until}`));
    if (round < 0) continue; // warm up
    rates.ours.push(ours.rate);
    rates.raw.push(theirs.rate);
    rates.cpu.push(theirs.cpu / ours.cpu);
  }
  all.stop();
  await admin.query("delete from items where user_id = $1", [userId]);
  const [ours, raws] = [median(rates.ours), median(rates.raw)];
  console.info(`\na backlog of ${changes} transactions, ${keys.length} keys, each watched by one socket`);
  console.info(`  svc, to the sockets ${ours.toFixed(0).padStart(7)} changes/s   ${(ours / raws).toFixed(2)}x`);
  console.info(`  decoding alone      ${raws.toFixed(0).padStart(7)} changes/s   1.00x`);
  console.info(`  changes per CPU second: ${median(rates.cpu).toFixed(2)}x`);
}
