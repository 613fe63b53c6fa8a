/**
 * Promises that an application made, did not await, and that fail. Node would end the process for one, and with it every
 * call that is under way; a statement of this kind has already failed its own call (src/postgres/transaction.ts).
 */
import type { Logger } from "pino";

export function outliveUnawaited(log: Logger): void {
  process.on("unhandledRejection", (err) =>
    log.error({ err }, "a promise that is not awaited failed: an await is missing"),
  );
}
