/** What records an exchange. `src/server/metrics.ts` makes it. */
import type { Registry } from "prom-client";

export interface Metrics {
  registry: Registry;
  /** An exchange has begun. */
  begin(): void;
  /** Records one that is over. @param seconds its whole duration @param code of the error that it was answered with */
  observe(operation: string, method: string, status: number, seconds: number, code?: string): void;
}
