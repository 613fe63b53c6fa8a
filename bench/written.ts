/**
 * What a written row costs in a table with a webhook, or with `audited()`, beside the same table without: in bulk and one by
 * one, in turns in one run. No worker sends meanwhile.
 */
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import pg from "pg";
import { openCluster } from "../src/cluster/open-cluster.ts";
import { migrate } from "../src/migrate/migrate.ts";
import { median } from "./measure.ts";

const root = resolve(import.meta.dirname, "..");
const name = "svc_bench_written";
const rounds = 9;
const bulk = 10_000;
const single = 1_000;

const tables = ["plain", "hooked", "delivered", "audited"] as const;
type Table = (typeof tables)[number];
const labels: Record<Table, string> = {
  plain: "without",
  hooked: "a webhook to a receiver in the environment",
  delivered: "a webhook to one endpoint of the owner",
  audited: "audited()",
};

const works: Record<string, { rows: number; run(client: pg.Client, table: Table): Promise<unknown> }> = {
  "insert of 10,000 rows": {
    rows: bulk,
    run: (client, table) =>
      client.query(
        `insert into ${table} (user_id, title) select 'u' || n % 100, 'title ' || n from generate_series(1, ${bulk}) n`,
      ),
  },
  "update of 10,000 rows": {
    rows: bulk,
    run: (client, table) => client.query(`update ${table} set title = title || '.'`),
  },
  "1,000 updates of one row": {
    rows: single,
    run: async (client, table) => {
      for (let id = 1; id <= single; id++) {
        await client.query({
          name: table,
          text: `update ${table} set title = title || '.' where number = $1`,
          values: [id],
        });
      }
    },
  },
};

export async function run(): Promise<void> {
  const cluster = await openCluster({ directory: join(root, ".svc"), name: "bench" });
  const url = new URL(cluster.urls.admin);
  const server = new pg.Client({ connectionString: url.href });
  await server.connect();
  await server.query(`drop database if exists ${name} with (force)`);
  await server.query(`create database ${name}`);
  url.pathname = `/${name}`;
  const client = new pg.Client({ connectionString: url.href });
  try {
    await migrate({ adminUrl: url.href, platform: root });
    await client.connect();
    await client.query(setUp);
    const [{ pid }] = (await client.query("select pg_backend_pid() as pid")).rows;
    const taken = new Map<string, { wall: number[]; cpu: number[] }>();
    for (let round = 0; round <= rounds; round++) {
      for (const table of tables) await client.query(`truncate ${table}, svc.webhook_deliveries restart identity`);
      for (const [work, { run }] of Object.entries(works)) {
        for (const table of tables) {
          const [start, before] = [performance.now(), cpuOf(pid)];
          await run(client, table);
          const [wall, cpu] = [performance.now() - start, cpuOf(pid) - before];
          if (round === 0) continue; // warms up
          const key = `${work} ${table}`;
          const known = taken.get(key) ?? { wall: [], cpu: [] };
          taken.set(key, known);
          known.wall.push(wall);
          known.cpu.push(cpu);
        }
      }
    }
    for (const [work, { rows }] of Object.entries(works)) {
      console.info(`\n${work}`);
      const of = (table: Table) => {
        const { wall = [], cpu = [] } = taken.get(`${work} ${table}`) ?? {};
        return { wall: median(wall), cpu: median(cpu) };
      };
      const without = of("plain");
      for (const table of tables) {
        const { wall, cpu } = of(table);
        const more = ((cpu - without.cpu) / rows) * 1_000;
        console.info(
          `  ${labels[table].padEnd(45)} ${wall.toFixed(0).padStart(6)} ms ${(wall / without.wall).toFixed(2)}x, ` +
            `processor ${cpu.toFixed(0)} ms ${(cpu / without.cpu).toFixed(2)}x, ${more.toFixed(0)} µs a row more`,
        );
      }
    }
    const { rows } = await client.query(
      `select pg_total_relation_size('svc.webhook_deliveries') / count(*) as bytes from svc.webhook_deliveries`,
    );
    console.info(`\nA delivery takes ${rows[0].bytes} bytes with its indexes.`);
  } finally {
    await client.end();
    await server.query(`drop database if exists ${name} with (force)`);
    await server.end();
    await cluster.stop();
  }
}

/** Processor time of a process so far, in milliseconds; Linux counts it in hundredths of a second. */
function cpuOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").replace(/.*\) /, "").split(" ");
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

const webhook = (table: Table, to: object) => ({
  name: table,
  table: `"public"."${table}"`,
  key: ["id"],
  columns: ["id", "title"],
  data: 't."id" as "id", t."title" as "title"',
  when: ["insert", "update", "delete"],
  filter: {},
  ...to,
});
const endpoints = { table: '"public"."endpoints"', key: "id", owner: "user_id" };
const declared = [webhook("hooked", { env: "BENCH_HOOK" }), webhook("delivered", { owner: "user_id", endpoints })];

const setUp = `set role svc_owner;
  create table endpoints (id uuid primary key default gen_random_uuid(), user_id text not null, url text not null, secret text not null,
    enabled boolean not null default true);
  create index on endpoints (user_id);
  insert into endpoints (user_id, url, secret) select 'u' || n, 'https://example.com', '' from generate_series(0, 99) n;
  ${tables
    .map(
      (
        table,
      ) => `create table ${table} (id uuid primary key default gen_random_uuid(), number bigint generated always as identity unique,
        user_id text not null, title text not null, note text, amount numeric, done boolean not null default false,
        created_at timestamptz not null default now());`,
    )
    .join("\n")}
  select svc_private.install_webhooks('${JSON.stringify(declared)}');
  select svc_private.install_history('[{"table": "public.audited", "keys": ["id"], "omit": []}]');
  analyze;
  reset role`;
