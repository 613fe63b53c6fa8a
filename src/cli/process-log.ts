/** The log of a process that serves calls or runs jobs. */
import type { Logger } from "pino";
import type { EffectiveConfig } from "../config/config.ts";
import { createLog } from "../telemetry/log.ts";
import { prettyLog } from "../telemetry/pretty-log.ts";

/**
 * Also logs rejected promises that the application did not await. By default Node would end the process and all its
 * calls. Such a statement has already failed its own call (src/postgres/transaction.ts).
 *
 * @param json whether the log is JSON lines in a terminal, too
 */
export function processLog({ logLevel }: EffectiveConfig, json: boolean, isTraced: boolean): Logger {
  const log = createLog(logLevel, process.stdout.isTTY && !json ? prettyLog(process.stdout) : undefined, isTraced);
  process.on("unhandledRejection", (err) =>
    log.error({ err }, "a promise that is not awaited failed: an await is missing"),
  );
  return log;
}
