/**
 * Workflows: what a step costs beside one raw insert and commit, how many runs a second beside DBOS, which keeps its
 * checkpoints in PostgreSQL too, and how soon a run goes on whose process was killed.
 */
import { type ChildProcess, fork } from "node:child_process";
import { join } from "node:path";
import { DBOS } from "@dbos-inc/dbos-sdk";
import pg from "pg";
import { workflow } from "../src/index.ts";
import { type Cluster, openCluster } from "../src/postgres/cluster.ts";
import { migrate } from "../src/postgres/migrate.ts";
import { median } from "./measure.ts";
import { directory, startFlows, table, user } from "./workflow-app.ts";

const steps = 300;
const runs = 200;
const rounds = 5;
const concurrency = 8;
const kills = 5;

const prepare = `
  create table if not exists public.flow_rows (id serial primary key, user_id text not null);
  create table if not exists public.raw_steps
    (run_id uuid, position text, name text, result json, at timestamptz default now(), primary key (run_id, position));
  alter table public.flow_rows owner to svc_owner;
  alter table public.flow_rows enable row level security;
  drop policy if exists own on public.flow_rows;
  create policy own on public.flow_rows to svc_authenticated
    using (user_id = (select svc.current_user_id())) with check (user_id = (select svc.current_user_id()));
  grant select, insert on public.flow_rows to svc_authenticated;
  grant usage on sequence public.flow_rows_id_seq to svc_authenticated;
  insert into auth."user" (id, name, email, email_verified) values ('${user}', 'Bench', 'bench@flows.example', true)
    on conflict do nothing;
  truncate graphile_worker._private_jobs, public.flow_rows, public.raw_steps, svc.workflow_runs cascade`;
const add = (name: string, count = 1) =>
  `select svc_private.add_run('${user}', false, '${name}', 1, '{"json": {}}', null, null, null) as id
     from generate_series(1, ${count})`;

type Urls = Cluster["urls"];

export async function run(): Promise<void> {
  const cluster = await openCluster({ directory: join(directory, ".svc"), report: console.info });
  const admin = new pg.Client({ connectionString: cluster.urls.admin });
  try {
    await migrate({ adminUrl: cluster.urls.admin, platform: join(directory, "../.."), application: directory });
    await admin.connect();
    await admin.query(prepare);
    await perStep(admin, cluster.urls);
    await throughput(admin, cluster.urls);
    await resume(admin, cluster.urls);
  } finally {
    await admin.query("drop table if exists public.flow_rows, public.raw_steps").catch(() => {});
    await admin.end();
    await cluster.stop();
  }
}

/** A handler that takes turns: a step, a raw insert; and a step that writes a row, a raw transaction that writes two. */
async function perStep(admin: pg.Client, urls: Urls): Promise<void> {
  const raw = new pg.Pool({ connectionString: urls.admin, max: 1 });
  const text = "insert into public.raw_steps (run_id, position, name, result) values ($1, $2, $3, $4)";
  const insert = (run: string, position: string) =>
    raw.query({ name: "raw", text, values: [run, position, "step", '{"json":1}'] });
  const both = async (run: string, position: string) => {
    const client = await raw.connect();
    await client.query("begin");
    await client.query(`insert into public.flow_rows (user_id) values ('${user}')`);
    await client.query({ name: "raw", text, values: [run, position, "step", '{"json":1}'] });
    await client.query("commit");
    client.release();
  };
  const taken: Record<"step" | "insert" | "writing" | "transaction", number[]> = {
    step: [],
    insert: [],
    writing: [],
    transaction: [],
  };
  const timed = async (name: keyof typeof taken, work: () => Promise<unknown>) => {
    const from = performance.now();
    await work();
    taken[name].push(performance.now() - from);
  };
  const ended = Promise.withResolvers<void>();
  const long = workflow("bench.long", {
    handler: async (wf) => {
      for (let index = 0; index < steps; index++) {
        await timed("step", () => wf.step(`step ${index}`, () => 1));
        await timed("insert", () => insert(wf.runId, `a${index}`));
        await timed("writing", () => wf.step(`row ${index}`, () => wf.db.insert(table).values({ userId: user })));
        await timed("transaction", () => both(wf.runId, `b${index}`));
      }
      ended.resolve();
    },
  });
  const worker = await startFlows(urls, { long }, 1);
  await admin.query(add("bench.long"));
  await ended.promise;
  await worker.stop();
  await raw.end();
  const of = (name: keyof typeof taken) => median(taken[name].slice(20));
  const line = (what: string, ours: number, theirs: number) =>
    console.info(`${what}: ${ours.toFixed(2)} ms, raw ${theirs.toFixed(2)} ms, ratio ${(ours / theirs).toFixed(2)}`);
  line("a step ÷ an insert and commit", of("step"), of("insert"));
  line("a step that writes a row ÷ a transaction of two inserts", of("writing"), of("transaction"));
}

/** Runs of three steps, started one by one and done; the two take turns. */
async function throughput(admin: pg.Client, urls: Urls): Promise<void> {
  const three = workflow("bench.three", {
    handler: async (wf) => {
      for (let index = 0; index < 3; index++) await wf.step(`step ${index}`, () => index);
    },
  });
  const theirs = DBOS.registerWorkflow(
    async () => {
      for (let index = 0; index < 3; index++) await DBOS.runStep(async () => index, { name: `step ${index}` });
    },
    { name: "three" },
  );
  const database = new URL(urls.admin);
  database.pathname = "/svc_bench_dbos";
  await admin.query("drop database if exists svc_bench_dbos with (force)");
  await admin.query("create database svc_bench_dbos");
  DBOS.setConfig({
    name: "bench",
    systemDatabaseUrl: database.href,
    systemDatabasePoolSize: concurrency + 4,
    logLevel: "error",
    runAdminServer: false,
  });
  await DBOS.launch();
  const starters = new pg.Pool({ connectionString: urls.admin, max: concurrency });
  const worker = await startFlows(urls, { three }, concurrency);
  const ours: number[] = [];
  const peer: number[] = [];
  for (let round = -1; round < rounds; round++) {
    const rate = await perSecond(async () => {
      await inParallel(() => starters.query({ name: "start", text: add("bench.three") }));
      await drained(admin);
    });
    const peerRate = await perSecond(() => inParallel(async () => (await DBOS.startWorkflow(theirs)()).getResult()));
    if (round < 0) continue;
    ours.push(rate);
    peer.push(peerRate);
  }
  await Promise.all([worker.stop(), starters.end(), DBOS.shutdown()]);
  await admin.query("drop database svc_bench_dbos with (force)");
  const ratio = median(ours.map((rate, round) => rate / (peer[round] ?? rate)));
  console.info(
    `workflows/s of three steps: svc ${median(ours).toFixed(0)}, DBOS ${median(peer).toFixed(0)}, ratio ${ratio.toFixed(2)}`,
  );
}

async function perSecond(work: () => Promise<unknown>): Promise<number> {
  const from = performance.now();
  await work();
  return runs / ((performance.now() - from) / 1_000);
}

/** So many at a time, until all runs are begun. */
async function inParallel(one: () => Promise<unknown>): Promise<void> {
  let left = runs;
  const line = async () => {
    while (left-- > 0) await one();
  };
  await Promise.all(Array.from({ length: concurrency }, line));
}

async function drained(admin: pg.Client): Promise<void> {
  for (;;) {
    const { rows } = await admin.query(
      "select exists (select from svc.workflow_runs where finished_at is null) as busy",
    );
    if (!rows[0].busy) return;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** From the kill to the step that was under way, in a new process and in one that was there already. */
async function resume(admin: pg.Client, urls: Urls): Promise<void> {
  const cold: number[] = [];
  const anew: number[] = [];
  const survived: number[] = [];
  for (let kill = 0; kill < kills; kill++) {
    // A cold start: from the process's birth to the second step of a run that waits in the queue.
    await admin.query(add("bench.two"));
    let from = performance.now();
    const first = child(urls, "hold");
    await begun(first);
    cold.push(performance.now() - from);
    first.kill("SIGKILL");
    from = performance.now();
    const second = child(urls, "hold");
    await begun(second);
    anew.push(performance.now() - from);
    const third = child(urls, "end");
    await new Promise((resolve) => setTimeout(resolve, 3_000)); // it lives, and knows the other
    from = performance.now();
    second.kill("SIGKILL");
    await begun(third);
    survived.push(performance.now() - from);
    await drained(admin);
    third.kill("SIGKILL");
  }
  const ms = (values: number[]) => `${median(values).toFixed(0)} ms`;
  console.info(
    `from kill -9 to the step again: new process ${ms(anew)} (a cold start takes ${ms(cold)}), surviving worker ${ms(survived)}`,
  );
}

const child = (urls: Urls, mode: string) =>
  fork(join(import.meta.dirname, "workflow-child.ts"), [JSON.stringify(urls), mode]);
const begun = (process: ChildProcess) => new Promise((resolve) => process.once("message", resolve));
