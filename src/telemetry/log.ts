/**
 * The process's logger: JSON lines on standard output, without secrets.
 * Next hop: `redact.ts` for what is logged beside the message, `describe-error.ts` for errors.
 */
import pino, { type DestinationStream, type Logger } from "pino";
import { describeError } from "./describe-error.ts";
import { mask, shortest } from "./mask.ts";
import { censor, redact } from "./redact.ts";
import { traceFields } from "./span.ts";

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
      hooks: {
        logMethod(values, method) {
          method.apply(this, withoutSecrets(values) as typeof values);
        },
      },
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

/**
 * Masks messages, and what is put into them; the request's own lines have none that is long enough to look at. An error that
 * is logged without a message would lend its own, which is not looked at any more.
 */
function withoutSecrets(values: readonly unknown[]): unknown[] {
  const [first, message] = values;
  if (values.length === 2 && typeof message === "string" && message.length < shortest) return values as unknown[];
  const error = first instanceof Error ? first : (first as { err?: unknown } | null | undefined)?.err;
  if (error instanceof Error && message === undefined) return [first, messageOf(error)];
  return values.map((value) => (typeof value === "string" ? mask(value) : value));
}

/** As far as the log keeps it. */
function messageOf(error: Error): string {
  const { message } = describeError(error) as { message?: unknown };
  return typeof message === "string" ? message : error.name;
}
