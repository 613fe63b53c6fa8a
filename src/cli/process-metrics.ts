/**
 * The metrics of all processes of `svc start --processes`, added up.
 * Next hop: `src/server/shared-metrics.ts`, which answers in each of them.
 */
import type { Worker } from "node:cluster";
import { AggregatorRegistry } from "prom-client";
import { giveMetrics, givenMetrics } from "../server/shared-metrics.ts";

/** In milliseconds: a process that takes longer to answer is left out. */
const patience = 2_000;

/** @param workers those that serve: one that still loads would not answer @returns the text for Prometheus */
export async function sumMetrics(workers: Iterable<Worker>): Promise<string> {
  const answers = await Promise.all(Array.from(workers, metricsOf));
  return AggregatorRegistry.aggregate(answers.filter((metrics) => metrics !== undefined)).metrics();
}

function metricsOf(worker: Worker): Promise<object[] | undefined> {
  const { promise, resolve } = Promise.withResolvers<object[] | undefined>();
  const hear = (message: Record<string, object[] | undefined>) => {
    if (message?.[givenMetrics]) resolve(message[givenMetrics]);
  };
  const leave = () => resolve(undefined);
  const clock = setTimeout(leave, patience);
  worker.on("message", hear);
  worker.once("exit", leave);
  worker.send(giveMetrics, (error) => error && leave());
  return promise.finally(() => {
    clearTimeout(clock);
    worker.off("message", hear);
    worker.off("exit", leave);
  });
}
