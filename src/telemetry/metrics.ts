/** The interface that records an exchange. `src/server/metrics.ts` implements it. */
import type { ServerResponse } from "node:http";
import type { Registry } from "prom-client";
import type { PassingSet } from "../kit/passing-set.ts";

export interface Metrics {
  registry: Registry;
  /** Answers of exchanges that have begun and not ended. */
  inFlight: PassingSet<ServerResponse>;
  /** Records the end of an exchange. @param seconds its whole duration @param waited in seconds, see `answerWait` @param code of the error in the answer */
  observe(operation: string, method: string, status: number, seconds: number, waited: number, code?: string): void;
}
