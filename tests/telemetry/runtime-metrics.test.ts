// If this file fails, each service that a process opens leaves a timer of ten milliseconds and an observer behind.
import { Registry } from "prom-client";
import { expect, test } from "vitest";
import { addRuntimeMetrics } from "../../src/telemetry/runtime-metrics.ts";

test("a process measures itself once, whatever asks for it", async () => {
  const [one, other] = [new Registry(), new Registry()];
  addRuntimeMetrics(one);
  addRuntimeMetrics(other);
  const names = one.getMetricsAsArray().map(({ name }) => name);
  expect(names).toContain("nodejs_gc_duration_seconds");
  for (const name of names) expect(other.getSingleMetric(name), name).toBe(one.getSingleMetric(name));
  // Of several processes: an average would hide one that is blocked from the alert.
  expect(one.getSingleMetric("nodejs_eventloop_lag_p99_seconds")).toMatchObject({ aggregator: "max" });
  await one.metrics();
  // Nothing was measured since.
  expect(await other.metrics()).not.toMatch(/9223372036/);
  expect(await other.metrics()).toMatch(/^nodejs_eventloop_lag_p99_seconds \d/m);
});
