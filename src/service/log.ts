/**
 * The process's logger: JSON lines on standard output, without secrets.
 * Next hop: `redact.ts` for what is logged beside the message, `describe-error.ts` for errors.
 */
import pino, { type DestinationStream, type Logger } from "pino";
import { traceFields } from "../telemetry/span.ts";
import { describeError } from "./describe-error.ts";
import { censor, redact } from "./redact.ts";

/** For what a child logger carries, which `redact` does not see: these names, on the first two levels. */
const carried = ["password", "token", "sessionToken", "secret", "authorization", "cookie", "apiKey"];

/**
 * @param level       pino's level, for example "info"
 * @param destination (Default: standard output)
 * @param traced      whether lines say of which trace they are a part. (Default: false)
 */
export function createLog(level: string, destination?: DestinationStream, traced = false): Logger {
  return pino(
    {
      level,
      base: { pid: process.pid },
      ...(traced && { mixin: () => traceFields() }),
      redact: { paths: carried.flatMap((key) => [key, `*.${key}`]), censor },
      formatters: {
        // What stands under `err` is the serializer's.
        log: ({ err, ...others }) => ({ ...(redact(others) as object), ...(err !== undefined && { err }) }),
      },
      serializers: { err: describeError },
    },
    // Buffered: a write per request would cost more than the request. Flushed once a second and at exit.
    destination ?? pino.destination({ dest: 1, sync: false, minLength: 8192, periodicFlush: 1000 }),
  );
}
