/**
 * What a DBA waits for over 500 tables: `svc db lint`, and the description that `svc db drift` compares, beside reading as
 * much of the catalog as `pg_dump --schema-only` does, where there is one. Taken in turns.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { join, resolve } from "node:path";
import pg from "pg";
import { openCluster } from "../src/cluster/open-cluster.ts";
import { migrate } from "../src/migrate/migrate.ts";
import { median } from "./measure.ts";

const root = resolve(import.meta.dirname, "..");
const tables = 500;
const rounds = 7;
const name = "svc_bench_catalog";

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
    await client.query(manyTables);
    const contestants: Record<string, () => unknown> = {
      lint: () => client.query("select * from svc_private.lint_schema()"),
      facts: () => client.query("select * from svc_private.list_facts()"),
    };
    if (!spawnSync("pg_dump", ["--version"]).error) {
      contestants.pg_dump = () =>
        execFileSync("pg_dump", ["--schema-only", "--dbname", url.href], {
          maxBuffer: 1e9,
          stdio: ["ignore", "pipe", "ignore"],
        });
    }
    const times = Object.fromEntries(Object.keys(contestants).map((key) => [key, [] as number[]]));
    for (let round = 0; round < rounds; round++) {
      for (const [key, work] of Object.entries(contestants)) {
        const start = performance.now();
        await work();
        times[key]?.push(performance.now() - start);
      }
    }
    const [lint = 0, facts = 0, dump] = ["lint", "facts", "pg_dump"].map((key) => times[key] && median(times[key]));
    console.info(`\nover ${tables} tables: lint ${lint.toFixed(0)} ms, facts ${facts.toFixed(0)} ms`);
    if (dump) {
      console.info(
        `lint ÷ pg_dump --schema-only: ${(lint / dump).toFixed(2)}x, facts ÷ pg_dump: ${(facts / dump).toFixed(2)}x`,
      );
    }
  } finally {
    await client.end();
    await server.query(`drop database if exists ${name} with (force)`);
    await server.end();
    await cluster.stop();
  }
}

/** As applications have them: an owner, an index, four policies, a foreign key, grants. */
export const manyTables = `
set role svc_owner;
do $$
begin
  for n in 1..${tables} loop
    execute format($sql$
      create table public.t%1$s (
        id bigint generated always as identity primary key, user_id text not null references auth."user" (id) on delete cascade,
        parent bigint references public.t1 (id), title text not null, note text, amount numeric, done boolean not null default false,
        created_at timestamptz not null default now(), updated_at timestamptz not null default now());
      create index on public.t%1$s (user_id, created_at desc, id desc);
      create index on public.t%1$s (parent);
      alter table public.t%1$s enable row level security;
      create policy select_owner on public.t%1$s for select to svc_authenticated using (user_id = (select svc.current_user_id()));
      create policy insert_owner on public.t%1$s for insert to svc_authenticated with check (user_id = (select svc.current_user_id()));
      create policy update_owner on public.t%1$s for update to svc_authenticated using (user_id = (select svc.current_user_id()));
      create policy delete_owner on public.t%1$s for delete to svc_authenticated using (user_id = (select svc.current_user_id()));
      grant select, insert, update, delete on public.t%1$s to svc_authenticated $sql$, n);
  end loop;
end
$$;
reset role`;
