/** Adds metrics of one value, which is read when the metrics are read. */
import { type Aggregator, Counter, Gauge, type Registry } from "prom-client";

/** @param aggregator over the processes of a service. (Default: their sum) */
export function addGauge(
  registry: Registry,
  name: string,
  help: string,
  read: () => number,
  aggregator: Aggregator = "sum",
): void {
  new Gauge({
    name,
    help,
    aggregator,
    registers: [registry],
    collect() {
      this.set(read());
    },
  });
}

/** @param read the total since the process began */
export function addCounter(registry: Registry, name: string, help: string, read: () => number): void {
  new Counter({
    name,
    help,
    registers: [registry],
    collect() {
      this.reset();
      this.inc(read());
    },
  });
}
