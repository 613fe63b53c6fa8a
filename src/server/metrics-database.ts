/**
 * Metrics that come from the database, for all processes together: the queue, workflows, storage, AI spending,
 * replication. Queried when metrics are read; if the database does not answer within a second, the last values are kept.
 * Next hop: `sql/jobs/queue_state.sql`, `sql/ops/service_state.sql`.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type pg from "pg";
import { Gauge, type Registry } from "prom-client";

/** In milliseconds: minimum time between queries, however often metrics are read. */
const askedEvery = { queue: 1_000, service: 15_000 };
/** In milliseconds: metrics do not wait longer for a query. Prometheus gives up after ten seconds, and a busy server is when they matter. */
const patience = 1_000;

/** By their names in sql/ops/service_state.sql. */
const known: readonly [name: string, help: string, labelled?: boolean][] = [
  ["workflow_runs", "Runs of workflows that have not ended, by what they do or wait for.", true],
  ["workflow_oldest_queued_seconds", "How long the oldest runnable run has waited for a worker; 0 if none waits."],
  ["workflow_failed_last_day", "Runs that failed within a day."],
  ["workflow_last_failure_timestamp_seconds", "Unix time at which a run failed last; 0 if none is recorded."],
  ["webhook_deliveries", "Deliveries of webhooks that were not sent yet, or are dead, up to 10000 of each.", true],
  ["storage_objects", "Stored files."],
  ["storage_bytes", "Their bytes, without conversions and transforms."],
  ["storage_uploads", "Uploads in parts that are under way."],
  ["ai_credits_today", "Credits of AI calls since midnight UTC: charged, or reserved by calls that run.", true],
  ["oldest_transaction_seconds", "How long the oldest transaction of this database has been open; 0 if none is open."],
  ["backup_last_timestamp_seconds", "Unix time of which svc db backup took the last backup; 0 if it took none."],
  ["backup_tried_timestamp_seconds", "Unix time at which svc db verify --deep last restored a backup; 0 if never."],
  ["replication_held_bytes", "WAL that the slowest replication slot of the server retains."],
];

/** @param pool svc_system's pool */
export function addDatabaseMetrics(registry: Registry, pool: pg.Pool): void {
  const registers = [registry];
  // Each process reads the same values.
  const aggregator = "max";
  const oldest = new Gauge({
    aggregator,
    name: "svc_jobs_oldest_due_seconds",
    help: "How long the oldest job has been due; 0 if none is due.",
    registers,
    collect: async () => void (await queue()),
  });
  const jobs = new Gauge({
    aggregator,
    name: "svc_jobs",
    help: "Jobs in the queue by state, estimates beyond 10000; dead ones have used up their attempts.",
    labelNames: ["state"],
    registers,
    collect: async () => void (await queue()),
  });
  const queue = atMostEvery(askedEvery.queue, async () => {
    const { rows } = await pool.query("select * from svc_private.queue_state()");
    const { oldest_due_seconds: seconds, ...states } = rows[0];
    for (const [state, count] of Object.entries(states)) jobs.set({ state }, Number(count));
    oldest.set(seconds);
  });

  new Gauge({
    aggregator: "min",
    name: "svc_database_up",
    help: "1 if the database has answered within a second what metrics asked it last.",
    registers,
    async collect() {
      this.set((await queue()) ? 1 : 0);
    },
  });

  const service = atMostEvery(askedEvery.service, async () => {
    const { rows } = await pool.query<{ metric: string; state: string; value: number }>(
      "select metric, state, value from svc_private.service_state()",
    );
    for (const { metric, state, value } of rows) {
      const gauge = gauges.get(metric);
      if (state) gauge?.set({ state }, value);
      else gauge?.set(value);
    }
  });
  const gauges = new Map(
    known.map(([name, help, labelled]) => [
      name,
      new Gauge({
        name: `svc_${name}`,
        help,
        labelNames: labelled ? ["state"] : [],
        aggregator,
        registers,
        collect: async () => void (await service()),
      }) as Gauge,
    ]),
  );
}

/**
 * Runs one query for all metrics that need it, and again only after `milliseconds`, and when it has ended. Never rejects.
 *
 * @returns whether the last one has succeeded
 */
function atMostEvery(milliseconds: number, ask: () => Promise<void>): () => Promise<boolean> {
  let asked = Number.NEGATIVE_INFINITY;
  let answer = Promise.resolve(false);
  let isAsking = false;
  return () => {
    if (!isAsking && performance.now() - asked >= milliseconds) {
      asked = performance.now();
      isAsking = true;
      answer = ask()
        .then(
          () => true,
          () => false,
        )
        .finally(() => {
          isAsking = false;
        });
    }
    return Promise.race([answer, sleep(patience, false, { ref: false })]);
  };
}
