/**
 * Jobs: how many a worker does in a second, beside the bare library with a task of the same durability; with several
 * workers, and with jobs that fail among them; how long after the enqueuing commit a job begins. Both sides write one row
 * per job in a transaction under row-level security.
 */
import { join } from "node:path";
import { pgTable, serial, text } from "drizzle-orm/pg-core";
import { Logger, runTaskList } from "graphile-worker";
import pg from "pg";
import { loadConfig } from "../src/define/load-config.ts";
import { createSvcProcedureBuilders, defineApi, defineAuth, ownerRls } from "../src/index.ts";
import { openCluster } from "../src/postgres/cluster.ts";
import { migrate } from "../src/postgres/migrate.ts";
import { createLog } from "../src/service/log.ts";
import { startWorker } from "../workers/runner.ts";
import { median } from "./measure.ts";

const here = import.meta.dirname;
const jobs = 1_000;
const rounds = 3;
/** Latencies are taken in turns of so many. */
const waitsPerRound = 50;
const concurrency = 8;
/** What `svc worker` does at a time when nobody says otherwise. */
const usual = 4;
const user = "bench";

const table = pgTable("job_rows", { id: serial("id").primaryKey(), userId: text("user_id").notNull() }, (t) =>
  ownerRls(t.userId),
);
const prepare = `
  create table if not exists public.job_rows (id serial primary key, user_id text not null);
  alter table public.job_rows owner to svc_owner;
  alter table public.job_rows enable row level security;
  drop policy if exists own on public.job_rows;
  create policy own on public.job_rows to svc_authenticated
    using (user_id = (select svc.current_user_id())) with check (user_id = (select svc.current_user_id()));
  grant select, insert on public.job_rows to svc_authenticated;
  grant usage on sequence public.job_rows_id_seq to svc_authenticated;
  insert into auth."user" (id, name, email, email_verified) values ('${user}', 'Bench', 'bench@jobs.example', true)
    on conflict do nothing;
  truncate graphile_worker._private_jobs, public.job_rows`;

let began = (_at: number) => {};
const procedure = createSvcProcedureBuilders<{ table: typeof table }>();
const write = procedure.internal.name("bench.write").handler(async ({ context }) => {
  began(performance.now());
  await context.db.insert(table).values({ userId: user });
});
const fail = procedure.internal.name("bench.fail").handler(() => {
  throw new Error("This never works.");
});
const app = { api: defineApi({ procedures: { write, fail } }), auth: defineAuth({}), schema: { table } };

export async function run(): Promise<void> {
  const cluster = await openCluster({ directory: join(here, "app/.svc"), report: console.info });
  const admin = new pg.Client({ connectionString: cluster.urls.admin });
  try {
    await migrate({ adminUrl: cluster.urls.admin, platform: join(here, ".."), application: join(here, "app") });
    await admin.connect();
    await admin.query(prepare);
    const ours = () => startOurs(cluster.urls);
    const [rate, bareRate] = await inTurns([
      () => throughput(admin, enqueueOurs(), ours),
      () => throughput(admin, enqueueBare, () => startBare(cluster.urls)),
    ]);
    console.info(`jobs/s: svc ${show(rate)}, bare graphile-worker ${show(bareRate)}, ratio ${ratio(rate, bareRate)}`);

    const ofOurs = (count: number, atATime: number) =>
      throughput(admin, enqueueOurs(), () => several(count, () => startOurs(cluster.urls, atATime)));
    const ofBare = (count: number) =>
      throughput(admin, enqueueBare, () => several(count, () => startBare(cluster.urls, 1)));
    await growing(`svc, ${usual} jobs at a time`, [1, 2, 4, 8], (count) => ofOurs(count, usual));
    await growing("svc, one job at a time", [1, 8], (count) => ofOurs(count, 1));
    await growing("bare graphile-worker, one job at a time", [1, 8], ofBare);

    const [clean, poisoned] = await inTurns([
      () => throughput(admin, enqueueOurs(), ours),
      () => throughput(admin, `${enqueuePoison}; ${enqueueOurs()}`, ours),
    ]);
    console.info(`with one job in a hundred that fails: ${ratio(poisoned, clean)} of the rate without`);

    const [wait, bareWait] = await inTurns([
      () => latency(admin, enqueueOurs(1), ours),
      () => latency(admin, enqueueBareOne, () => startBare(cluster.urls)),
    ]);
    console.info(`start after commit, p50: svc ${show(wait, 2)} ms, bare graphile-worker ${show(bareWait, 2)} ms`);
  } finally {
    await admin.query("drop table if exists public.job_rows").catch(() => {});
    await admin.end();
    await cluster.stop();
  }
}

type Urls = Parameters<typeof startWorker>[0]["urls"];
type Running = { stop(): Promise<unknown> };

const enqueueOurs = (count = jobs) =>
  `select svc_private.add_procedure_job('{"kind": "user", "userId": "${user}"}', 'bench.write', null, null, null)
     from generate_series(1, ${count})`;
const enqueuePoison = `select svc_private.add_procedure_job('{"kind": "system"}', 'bench.fail', null, null, null)
  from generate_series(1, ${jobs / 100})`;
const enqueueBare = `select graphile_worker.add_job('bare', '{}') from generate_series(1, ${jobs})`;
const enqueueBareOne = "select graphile_worker.add_job('bare', '{}')";

const show = (values: number[] = [], digits = 0) => median(values).toFixed(digits);
/** Of the medians of rounds: sides of one round had the same machine. */
const ratio = (one: number[] = [], other: number[] = []) =>
  median(one.map((value, round) => value / (other[round] ?? value))).toFixed(2);

/** Lets the sides take turns, so that whatever else the machine does hits all of them. The first round warms up. */
async function inTurns(sides: (() => Promise<number>)[]): Promise<number[][]> {
  const results = sides.map((): number[] => []);
  for (let round = -1; round < rounds; round++) {
    for (const [index, side] of sides.entries()) {
      const result = await side();
      if (round >= 0) results[index]?.push(result);
    }
  }
  return results;
}

/** How the rate grows with the number of workers. */
async function growing(what: string, counts: number[], of: (count: number) => Promise<number>): Promise<void> {
  const rates = (await inTurns(counts.map((count) => () => of(count)))).map(median);
  const best = Math.max(...rates);
  const line = rates.map((rate, index) => `${counts[index]}: ${(rate / best).toFixed(2)}`).join(", ");
  console.info(`${what}, of the best rate (${best.toFixed(0)} jobs/s) by workers: ${line}`);
}

async function several(count: number, start: () => Promise<Running>): Promise<Running> {
  const all = await Promise.all(Array.from({ length: count }, start));
  return { stop: () => Promise.all(all.map((one) => one.stop())) };
}

/** Jobs per second from the start of workers until none is left that has not been tried. */
async function throughput(admin: pg.Client, enqueue: string, start: () => Promise<Running>): Promise<number> {
  await admin.query(enqueue);
  await admin.query("vacuum analyze graphile_worker._private_jobs");
  const worker = await start();
  const from = performance.now();
  for (;;) {
    const { rows } = await admin.query(
      "select exists (select from graphile_worker._private_jobs where attempts = 0 and run_at <= now() or locked_by is not null) as busy",
    );
    if (!rows[0].busy) break;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  const rate = jobs / ((performance.now() - from) / 1_000);
  await worker.stop();
  await admin.query("truncate graphile_worker._private_jobs");
  return rate;
}

async function startOurs(urls: Urls, atATime = concurrency): Promise<Running> {
  const config = await loadConfig({ cwd: join(here, "app"), env: {} });
  const secrets = ["a secret of at least thirty-two characters"];
  const worker = startWorker({ app, config, urls, secrets, log: createLog("error"), concurrency: atATime });
  await worker.ready;
  return worker;
}

/** What an application would write by hand: identity, one row, commit; the library then deletes the job. */
async function startBare(urls: Urls, atATime = concurrency): Promise<Running> {
  const request = new pg.Pool({ connectionString: urls.request, max: atATime + 1 });
  const system = new pg.Pool({ connectionString: urls.system, max: atATime + 4 });
  for (const pool of [request, system]) pool.on("error", () => {}).on("connect", () => {});
  const pool = runTaskList(
    { concurrency: atATime, noHandleSignals: true, logger: new Logger(() => () => {}) },
    {
      async bare() {
        began(performance.now());
        const client = await request.connect();
        await client.query("begin");
        await client.query(
          "select set_config('svc.user_id', $1, true), set_config('role', 'svc_authenticated', true)",
          [user],
        );
        await client.query("insert into public.job_rows (user_id) values ($1)", [user]);
        await client.query("commit");
        client.release();
      },
    },
    system,
  );
  return {
    async stop() {
      await pool.gracefulShutdown();
      await Promise.all([request.end(), system.end()]);
    },
  };
}

/** From the moment the commit is acknowledged to the handler's first line; both in this process. @returns the median */
async function latency(admin: pg.Client, enqueue: string, start: () => Promise<Running>): Promise<number> {
  const worker = await start();
  const waits: number[] = [];
  for (let round = 0; round < waitsPerRound; round++) {
    const { promise, resolve } = Promise.withResolvers<number>();
    began = resolve;
    await admin.query(enqueue);
    const committed = performance.now();
    waits.push((await promise) - committed);
  }
  await worker.stop();
  return median(waits);
}
