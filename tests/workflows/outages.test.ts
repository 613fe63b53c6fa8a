// If this file fails, a restart of PostgreSQL loses workflow runs, or repeats their steps.
import { chmodSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { expect, test } from "vitest";
import { defineApi } from "../../src/app/api.ts";
import { openCluster } from "../../src/cluster/open-cluster.ts";
import { loadConfig } from "../../src/config/load-config.ts";
import { defineAuth } from "../../src/contract/auth.ts";
import { workflow } from "../../src/index.ts";
import { migrate } from "../../src/migrate/migrate.ts";
import { createLog } from "../../src/telemetry/log.ts";
import { startWorker } from "../../workers/runner.ts";
import * as schema from "../fixture/backend/schema.ts";
import { secret } from "../support/service.ts";
import { until } from "../support/worker.ts";

const root = resolve(import.meta.dirname, "../..");
/** In milliseconds; in CI it is shorter. */
const chaos = { runs: 1_000, mostStops: 12, between: 5_000, away: 2_000, graceMs: 10_000 };
const { runs, mostStops, between, away, graceMs } = process.env.CHAOS_KILLS
  ? chaos
  : { runs: 300, mostStops: 2, between: 500, away: 500, graceMs: 1_000 };
const user = "a user of the outages";

const patient = workflow("outage.patient", {
  handler: async (wf) => {
    const write = (title: string) =>
      wf.step(title, () => wf.db.insert(schema.notes).values({ title: `${wf.runId} ${title}`, userId: user }));
    await write("first");
    await wf.sleep(50);
    const said = await wf.waitForEvent<number>("go");
    await write("second");
    return said;
  },
});

test(`PostgreSQL stops again and again during ${runs} workflows: all end, none wrong`, {
  timeout: 900_000,
}, async () => {
  const directory = mkdtempSync(join(tmpdir(), "svc-outages-"));
  chmodSync(directory, 0o711);
  const settings = { max_connections: "50" };
  const open = () => openCluster({ directory, settings, env: { ...process.env, DATABASE_URL: "" } });
  let cluster = await open();
  const { urls } = cluster;
  await migrate({ adminUrl: urls.admin, platform: root, application: join(root, "tests/fixture") });
  const worker = startWorker({
    app: { api: defineApi({ workflows: { patient } }), auth: defineAuth({}), schema },
    config: await loadConfig({ cwd: join(root, "tests/fixture"), env: {} }),
    urls,
    secrets: [secret],
    log: createLog("silent"),
    concurrency: 8,
    rescueEveryMs: 200,
    graceAfterRestartMs: graceMs,
  });
  /** Repeats, because the server may be away. Each is one statement, and may have been executed before the cut. */
  const ask = async (text: string, values: unknown[] = []): Promise<Record<string, unknown>[]> => {
    for (;;) {
      const client = new pg.Client({ connectionString: urls.admin });
      client.on("error", () => {});
      try {
        await client.connect();
        return (await client.query(text, values)).rows;
      } catch (error) {
        if (
          !/^(57P|08)|ECONN/.test(String((error as { code?: unknown }).code)) &&
          !/terminat|closed/.test(String(error))
        )
          throw error;
        await sleep(100);
      } finally {
        client.end().catch(() => {});
      }
    }
  };
  const count = async (condition: string) =>
    Number((await ask(`select count(*) from svc.workflow_runs where ${condition}`))[0]?.count);
  try {
    await ask(`insert into auth."user" (id, name, email, email_verified) values ($1, 'Kim', 'kim@example.com', true)`, [
      user,
    ]);
    await ask(
      `select svc_private.add_run($1, false, 'outage.patient', 1, '{"json": {}}', 'run ' || g, null, null)
           from generate_series(1, $2) g`,
      [user, runs],
    );
    let over = false;
    let stops = 0;
    const outages = (async () => {
      while (!over) {
        await sleep(between * (1 + Math.random()));
        const pid = Number(
          readFileSync(join(cluster.directory as string, "data/postmaster.pid"), "utf8").split("\n")[0],
        );
        process.kill(pid, "SIGQUIT"); // what `pg_ctl stop -m immediate` does
        stops++;
        await sleep(Math.random() * away);
        await cluster.stop().catch(() => {});
        cluster = await open();
        expect(cluster.urls.admin).toBe(urls.admin);
      }
    })();
    // A sender does not know whether a cut event has arrived, so it checks.
    while ((await count("status = 'completed'")) < runs && stops < mostStops) {
      await ask(
        `select svc_private.signal_any_workflow(r.id, 'go', '{"json": 7}')
             from (select id from svc.workflow_runs r where r.wait_marker = 'wait:go'
                     and not exists (select from svc.workflow_events e where e.run_id = r.id) limit 50) r`,
      );
      await sleep(100);
    }
    over = true;
    await outages;
    await until(async () => {
      await ask(
        `select svc_private.signal_any_workflow(r.id, 'go', '{"json": 7}') from svc.workflow_runs r
            where r.wait_marker = 'wait:go' and not exists (select from svc.workflow_events e where e.run_id = r.id)`,
      );
      return (await count("finished_at is not null")) === runs;
    });
    expect(stops).toBeGreaterThan(0);
    expect(await count("status = 'completed' and result ->> 'json' = '7'")).toBe(runs);
    expect(await ask("select title from public.notes group by title having count(*) <> 1")).toEqual([]);
    expect((await ask("select count(*)::integer from public.notes"))[0]?.count).toBe(runs * 2);
    expect(await ask("select from svc.workflow_steps group by run_id having count(*) <> 4")).toEqual([]);
  } finally {
    await worker.stop();
    await cluster.stop();
    rmSync(directory, { recursive: true, force: true });
    if (cluster.directory) rmSync(dirname(cluster.directory), { recursive: true, force: true });
  }
});
