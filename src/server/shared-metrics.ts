/**
 * Metrics of a service that `svc start --processes` runs as several processes: whichever is asked answers for all.
 * Next hop: `src/cli/process-metrics.ts` collects them.
 */

import type { Registry } from "prom-client";
import { inTime } from "../kit/in-time.ts";

/** Set in the environment of each of the processes. */
export const sharedVariable = "SVC_SHARES_PORT";
/** The question for the metrics of all, and the member of its answer that has them as text. */
export const askMetrics = "svc: metrics";
/** The question for those of one process, and the member of its answer that has them. */
export const giveMetrics = "svc: own metrics";
export const givenMetrics = "ownMetrics";

/** Whether this is one of the processes. */
export const sharesPort = process.send !== undefined && process.env[sharedVariable] === "1";

/** Answers the questions of the process that collects. */
export function shareMetrics(registry: () => Promise<Registry>): void {
  if (!sharesPort) return;
  process.on("message", async (message) => {
    if (message !== giveMetrics) return;
    const metrics = await registry()
      .then((own) => own.getMetricsAsJSON())
      .catch(() => []);
    if (process.connected) process.send?.({ [givenMetrics]: metrics });
  });
}

let asked: Promise<string | undefined> | undefined;

/** @returns the sums over all processes; this one's own, if the others do not answer within 5 seconds */
export async function metricsText(registry: Registry): Promise<string> {
  if (!sharesPort) return registry.metrics();
  // One question for all who ask meanwhile.
  asked ??= askAll().finally(() => {
    asked = undefined;
  });
  return (await asked) ?? registry.metrics();
}

async function askAll(): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const hear = (message: Record<string, unknown>) => {
    if (typeof message?.[askMetrics] === "string") resolve(message[askMetrics]);
  };
  process.on("message", hear);
  process.send?.(askMetrics);
  const text = await inTime(promise, 5_000);
  process.off("message", hear);
  return text;
}
