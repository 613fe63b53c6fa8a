/**
 * Metrics of a service that `svc start --processes` runs as several processes: whichever is asked answers for all.
 * Next hop: `src/cli/processes.ts` collects them.
 */
import { AggregatorRegistry, type Registry } from "prom-client";

/** Set in the environment of each of the processes. */
export const sharedVariable = "SVC_SHARES_PORT";
export const askMetrics = "svc: metrics";

/** Whether this is one of the processes. */
export const sharesPort = process.send !== undefined && process.env[sharedVariable] === "1";

/** Answers the questions of the process that collects. */
export function shareMetrics(registry: Registry): void {
  if (!sharesPort) return;
  AggregatorRegistry.setRegistries([registry]);
  new AggregatorRegistry();
}

/** @returns the sums over all processes; this one's own, if the others do not answer within 5 seconds */
export async function metricsText(registry: Registry): Promise<string> {
  if (!sharesPort) return registry.metrics();
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  const hear = (message: Record<string, unknown>) => {
    if (typeof message?.[askMetrics] === "string") resolve(message[askMetrics]);
  };
  process.on("message", hear);
  const clock = setTimeout(() => resolve(undefined), 5_000);
  process.send?.(askMetrics);
  const text = await promise;
  clearTimeout(clock);
  process.off("message", hear);
  return text ?? registry.metrics();
}
