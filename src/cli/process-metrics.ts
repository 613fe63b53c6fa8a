/**
 * The metrics of all processes of `svc start --processes`, added up.
 * Next hop: `src/server/shared-metrics.ts`, which answers in each of them.
 */

import type { Worker } from "node:cluster";
import { AggregatorRegistry, type MetricObject } from "prom-client";
import { inTime } from "../kit/in-time.ts";
import { giveMetrics, givenMetrics } from "../server/shared-metrics.ts";

/** In milliseconds: of a process that takes longer to answer, its last answer counts. */
const patience = 2_000;

/** The last answer of each process. */
const last = new WeakMap<Worker, MetricObject[]>();
/** Counters and histograms of processes that have ended: Prometheus takes a sum that falls for a restart of all. */
let ended: MetricObject[] = [];

/** Remembers what it answers, however late. Call it before the process runs. */
export function rememberMetrics(worker: Worker): void {
  const hear = (message: Record<string, MetricObject[] | undefined>) => {
    if (message?.[givenMetrics]) last.set(worker, message[givenMetrics]);
  };
  worker.on("message", hear);
  worker.once("exit", () => {
    worker.off("message", hear);
    const totals = last.get(worker)?.filter(({ type }) => String(type) === "counter" || String(type) === "histogram");
    if (totals) ended = AggregatorRegistry.aggregate([ended, totals]).getMetricsAsArray();
    last.delete(worker);
  });
}

/** @param workers those that serve: one that still loads would not answer @returns the text for Prometheus */
export async function sumMetrics(workers: Iterable<Worker>): Promise<string> {
  const asked = [...workers];
  await Promise.all(asked.map(ask));
  const answers = asked.map((worker) => last.get(worker) ?? []);
  return AggregatorRegistry.aggregate([...answers, ended]).metrics();
}

function ask(worker: Worker): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const hear = (message: Record<string, unknown>) => {
    if (message?.[givenMetrics]) resolve();
  };
  worker.on("message", hear);
  worker.once("exit", resolve);
  worker.send(giveMetrics, (error) => error && resolve());
  return inTime(promise, patience).finally(() => {
    worker.off("message", hear);
    worker.off("exit", resolve);
  });
}
