/**
 * Reads, parses and filters lines of the log.
 * Next hop: `logs.ts`.
 */
import { createReadStream, type Stats, watch } from "node:fs";
import { stat } from "node:fs/promises";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import { setTimeout as sleep } from "node:timers/promises";

export type Entry = Record<string, unknown>;

/** The filters; absent ones match everything. */
export interface Filter {
  /** pino's number: 30 is info. */
  level?: number | undefined;
  request?: string | undefined;
  user?: string | undefined;
  /** A name, or a prefix with an asterisk: `tasks.*`. */
  operation?: string | undefined;
  trace?: string | undefined;
  job?: string | undefined;
  /** Milliseconds since 1970. */
  since?: number | undefined;
  until?: number | undefined;
}

export function wanted(entry: Entry, filter: Filter): boolean {
  const { level, request, user, operation, trace, job, since, until } = filter;
  const time = Number(entry.time);
  return (
    (level === undefined || Number(entry.level) >= level) &&
    (request === undefined || entry.requestId === request) &&
    (user === undefined || entry.userId === user) &&
    (operation === undefined || fits(entry.operation ?? entry.kind, operation)) &&
    (trace === undefined || entry.trace_id === trace) &&
    (job === undefined || String(entry.job) === job) &&
    (since === undefined || time >= since) &&
    (until === undefined || time <= until)
  );
}

const fits = (name: unknown, pattern: string): boolean =>
  typeof name === "string" && (pattern.endsWith("*") ? name.startsWith(pattern.slice(0, -1)) : name === pattern);

/** @returns null for a line that is not a log entry, such as output of Node or a library */
export function parseLine(line: string): Entry | null {
  if (!line.startsWith("{")) return null;
  try {
    const entry = JSON.parse(line) as Entry;
    return typeof entry.level === "number" && typeof entry.time === "number" ? entry : null;
  } catch {
    return null;
  }
}

export const linesOf = (input: Readable): AsyncIterable<string> =>
  createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY });

/** In milliseconds: polling interval for changes without a file event. */
const looksEvery = 500;

/** Yields the lines of a file and those appended later, across rotation, until the signal aborts. */
export async function* follow(file: string, signal: AbortSignal): AsyncGenerator<string> {
  let position = 0;
  let last: Stats | undefined;
  let rest = "";
  let decoder = new StringDecoder("utf8");
  while (!signal.aborted) {
    const changed = new AbortController();
    const watcher = watchFile(file, () => changed.abort());
    const now = await stat(file).catch(() => undefined);
    if (now && (now.ino !== last?.ino || now.size < position)) {
      position = 0; // the file was replaced or truncated
      rest = "";
      decoder = new StringDecoder("utf8");
    }
    last = now ?? last;
    if (now && now.size > position) {
      for await (const chunk of createReadStream(file, { start: position, end: now.size - 1 })) {
        position += (chunk as Buffer).length;
        const lines = (rest + decoder.write(chunk as Buffer)).split("\n");
        rest = lines.pop() ?? "";
        yield* lines;
      }
    } else await sleep(looksEvery, undefined, { signal: AbortSignal.any([signal, changed.signal]) }).catch(() => {});
    watcher?.close();
  }
}

function watchFile(file: string, changed: () => void) {
  try {
    const watcher = watch(file, changed);
    watcher.on("error", () => {});
    return watcher;
  } catch {
    return undefined; // it does not exist (yet)
  }
}
