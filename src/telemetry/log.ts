/**
 * The process's logger: JSON lines on standard output, without secrets.
 * Next hop: `redact.ts` for what is logged beside the message, `describe-error.ts` for errors.
 */
import fs from "node:fs";
import pino, { type DestinationStream, type Logger } from "pino";
import { describeError } from "./describe-error.ts";
import { mask, shortest } from "./mask.ts";
import { censor, redact } from "./redact.ts";
import { traceFields } from "./span.ts";

/** Redacted keys in the bindings of child loggers, which `redact` does not see: these names, on the first two levels. */
const carried = ["password", "token", "sessionToken", "secret", "authorization", "cookie", "apiKey"];

/**
 * @param level       pino's level, for example "info"
 * @param destination (Default: standard output)
 * @param traced whether lines contain the trace's id. (Default: false)
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
        // The serializer handles `err`.
        log: ({ err, ...others }) => ({ ...(redact(others) as object), ...(err !== undefined && { err }) }),
      },
      serializers: { err: describeError },
    },
    destination ?? standardOutput(),
  );
}

/** In bytes: lines beyond this are dropped while nobody takes them. */
const mostWaiting = 4 * 1024 * 1024;

/** In bytes, about: lines are written together. */
const joined = 8192;

/**
 * Buffered: a write per request would cost more than the request. Flushed once a second and at exit. A disk that is full
 * must end neither the process nor its calls: the lines wait, and are written when there is room.
 */
function standardOutput(): DestinationStream {
  const buffering = { sync: false, minLength: joined, maxLength: mostWaiting, periodicFlush: 1000 };
  const stream = pino.destination({ dest: 1, ...buffering });
  endWithoutReader(stream);
  joinLines(stream);
  let isFull = false;
  stream.on("write", () => {
    isFull = false;
  });
  stream.on("error", () => {
    isFull = true;
  });
  // The process would wait for room before it ends.
  stream.once("error", () => process.on("beforeExit", () => isFull && stream.destroy()));
  return stream;
}

/** The library measures all that waits again at each line, so it gets them together: a line then takes 0.3 µs instead of 1.9. */
function joinLines(stream: ReturnType<typeof pino.destination>): void {
  const { write, flush, flushSync } = stream;
  let lines = "";
  const pass = () => {
    const text = lines;
    lines = "";
    if (text !== "") write.call(stream, text);
  };
  stream.write = (line: string) => {
    lines += line;
    if (lines.length >= joined) pass();
    return true;
  };
  stream.flush = (done) => {
    pass();
    flush.call(stream, done);
  };
  stream.flushSync = () => {
    flushSync.call(stream);
    pass(); // nothing waits before them, so they are too short to begin a write that the exit would cut
    flushSync.call(stream);
  };
}

/** At exit the library repeats a failed write until it succeeds: without end, if the pipe's reader has ended. */
function endWithoutReader(stream: ReturnType<typeof pino.destination>): void {
  const { flushSync } = stream;
  stream.flushSync = () => {
    const { writeSync } = fs;
    const writeOrDrop = (fd: number, text: string) => {
      try {
        return writeSync(fd, text);
      } catch (error) {
        if (waits.has((error as NodeJS.ErrnoException).code)) throw error;
        return Buffer.byteLength(text);
      }
    };
    fs.writeSync = writeOrDrop as typeof writeSync;
    try {
      flushSync.call(stream);
    } finally {
      fs.writeSync = writeSync;
    }
  };
}

/** The reader is slow. */
const waits = new Set<string | undefined>(["EAGAIN", "EBUSY"]);

/**
 * Masks messages and their arguments; request lines have none that is long enough to check. Without a message, pino
 * would log the error's own one, which would not be checked.
 */
function withoutSecrets(values: readonly unknown[]): unknown[] {
  const [first, message] = values;
  if (values.length === 2 && typeof message === "string" && message.length < shortest) return values as unknown[];
  const error = first instanceof Error ? first : (first as { err?: unknown } | null | undefined)?.err;
  if (error instanceof Error && message === undefined) return [first, messageOf(error)];
  return values.map((value) => (typeof value === "string" ? mask(value) : value));
}

/** The message in its logged form. */
function messageOf(error: Error): string {
  const { message } = describeError(error) as { message?: unknown };
  return typeof message === "string" ? message : error.name;
}
