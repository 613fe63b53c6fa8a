/**
 * Handles rejected promises that the application did not await. By default Node would end the process and all its
 * calls. Such a statement has already failed its own call (src/postgres/transaction.ts).
 */
import type { Logger } from "pino";

export function outliveUnawaited(log: Logger): void {
  process.on("unhandledRejection", (err) =>
    log.error({ err }, "a promise that is not awaited failed: an await is missing"),
  );
}
