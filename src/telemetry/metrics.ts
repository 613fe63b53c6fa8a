/** The interface that records an exchange. `src/server/metrics.ts` implements it. */
import type { ServerResponse } from "node:http";
import type { Registry } from "prom-client";

/** Answers of exchanges that have begun and not ended. */
export interface InFlight extends Iterable<ServerResponse> {
  readonly size: number;
  add(response: ServerResponse): void;
  delete(response: ServerResponse): void;
}

export interface Metrics {
  /** Loads the library at the first call. */
  registry: () => Promise<Registry>;
  inFlight: InFlight;
  /** Records the end of an exchange. @param seconds its whole duration @param waited in seconds, see `answerWait` @param code of the error in the answer */
  observe(operation: string, method: string, status: number, seconds: number, waited: number, code?: string): void;
}
