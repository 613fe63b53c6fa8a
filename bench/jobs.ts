/**
 * Jobs: how many a worker does in a second, beside the bare library with a task of the same durability; how long after
 * the enqueuing commit a job begins. Both write one row per job in a transaction under row-level security.
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
const jobs = 2_000;
const rounds = 5;
const concurrency = 8;
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
const app = { api: defineApi({ procedures: { write } }), auth: defineAuth({}), schema: { table } };

export async function run(): Promise<void> {
  const cluster = await openCluster({ directory: join(here, "app/.svc"), report: console.info });
  const admin = new pg.Client({ connectionString: cluster.urls.admin });
  try {
    await migrate({ adminUrl: cluster.urls.admin, platform: join(here, ".."), application: join(here, "app") });
    await admin.connect();
    await admin.query(prepare);
    const ours: number[] = [];
    const bare: number[] = [];
    for (let round = 0; round < rounds; round++) {
      ours.push(await throughput(admin, enqueueOurs, () => startOurs(cluster.urls)));
      bare.push(await throughput(admin, enqueueBare, () => startBare(cluster.urls)));
    }
    const ratio = median(ours.map((rate, round) => rate / (bare[round] ?? rate)));
    console.info(
      `jobs/s: svc ${median(ours).toFixed(0)}, bare graphile-worker ${median(bare).toFixed(0)}, ratio ${ratio.toFixed(2)}`,
    );
    await latency(admin, cluster.urls);
  } finally {
    await admin.query("drop table if exists public.job_rows").catch(() => {});
    await admin.end();
    await cluster.stop();
  }
}

type Urls = Parameters<typeof startWorker>[0]["urls"];
type Running = { stop(): Promise<unknown> };

const enqueueOurs = `select svc_private.add_procedure_job('{"kind": "user", "userId": "${user}"}', 'bench.write', null, null, null)
  from generate_series(1, ${jobs})`;
const enqueueBare = `select graphile_worker.add_job('bare', '{}') from generate_series(1, ${jobs})`;

/** Jobs per second from the start of a worker to an empty queue. */
async function throughput(admin: pg.Client, enqueue: string, start: () => Promise<Running>): Promise<number> {
  await admin.query(enqueue);
  await admin.query("vacuum analyze graphile_worker._private_jobs");
  const worker = await start();
  const from = performance.now();
  for (;;) {
    const { rows } = await admin.query("select exists (select from graphile_worker._private_jobs) as busy");
    if (!rows[0].busy) break;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  const rate = jobs / ((performance.now() - from) / 1_000);
  await worker.stop();
  return rate;
}

async function startOurs(urls: Urls): Promise<Running> {
  const config = await loadConfig({ cwd: join(here, "app"), env: {} });
  const secrets = ["a secret of at least thirty-two characters"];
  const worker = startWorker({ app, config, urls, secrets, log: createLog("warn"), concurrency });
  await worker.ready;
  return worker;
}

/** What an application would write by hand: identity, one row, commit; the library then deletes the job. */
async function startBare(urls: Urls): Promise<Running> {
  const request = new pg.Pool({ connectionString: urls.request, max: concurrency + 1 });
  const system = new pg.Pool({ connectionString: urls.system, max: concurrency + 4 });
  for (const pool of [request, system]) pool.on("error", () => {}).on("connect", () => {});
  const pool = runTaskList(
    { concurrency, noHandleSignals: true, logger: new Logger(() => () => {}) },
    {
      async bare() {
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

/** From the moment the commit is acknowledged to the handler's first line; both in this process. */
async function latency(admin: pg.Client, urls: Urls): Promise<void> {
  const worker = await startOurs(urls);
  const waits: number[] = [];
  for (let round = 0; round < 200; round++) {
    const start = new Promise<number>((resolve) => {
      began = resolve;
    });
    await admin.query(enqueueOurs.replace(`1, ${jobs}`, "1, 1"));
    const committed = performance.now();
    waits.push((await start) - committed);
  }
  waits.sort((a, b) => a - b);
  console.info(`start after commit: p50 ${waits[100]?.toFixed(2)} ms, p95 ${waits[190]?.toFixed(2)} ms`);
  await worker.stop();
}
