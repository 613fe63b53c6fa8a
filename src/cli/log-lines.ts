/** Reads, parses and filters lines of the log. Next hop: `logs.ts`. */

import { type FileHandle, open, stat } from "node:fs/promises";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import { setTimeout as sleep } from "node:timers/promises";
import { jsonIn } from "../kit/json-in.ts";

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
  const entry = Object(jsonIn(line)) as Entry;
  return typeof entry.level === "number" && typeof entry.time === "number" ? entry : null;
}

export const linesOf = (input: Readable): AsyncIterable<string> =>
  createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY });

/** In milliseconds: how often it looks for more lines. */
const looksEvery = 200;

/**
 * Yields the lines of a file and those appended later, until the signal aborts. The file stays open, so that a rotation loses
 * none of its last lines.
 */
export async function* follow(file: string, signal: AbortSignal): AsyncGenerator<string> {
  let followed = await openNow(file);
  try {
    while (!signal.aborted) {
      const now = await stat(file).catch(() => undefined);
      const isOther = now && (now.ino !== followed?.ino || now.size < followed.position); // replaced, or truncated
      if (followed) yield* newLines(followed);
      if (isOther) {
        await followed?.handle.close();
        followed = undefined;
        followed = await openNow(file);
      } else await sleep(looksEvery, undefined, { signal }).catch(() => {});
    }
  } finally {
    await followed?.handle.close();
  }
}

interface Followed {
  handle: FileHandle;
  ino: number;
  /** How far it has been read, in bytes. */
  position: number;
  /** The beginning of a line that is not complete. */
  rest: string;
  decoder: StringDecoder;
}

/** @returns undefined when there is no file, as in the middle of a rotation */
async function openNow(file: string): Promise<Followed | undefined> {
  const handle = await open(file).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw error;
  });
  if (!handle) return undefined;
  const { ino } = await handle.stat();
  return { handle, ino, position: 0, rest: "", decoder: new StringDecoder("utf8") };
}

async function* newLines(followed: Followed): AsyncGenerator<string> {
  const { handle, decoder } = followed;
  for (;;) {
    const { bytesRead, buffer } = await handle.read({ buffer: Buffer.alloc(64 * 1024), position: followed.position });
    if (bytesRead === 0) return;
    followed.position += bytesRead;
    const lines = (followed.rest + decoder.write(buffer.subarray(0, bytesRead))).split("\n");
    followed.rest = lines.pop() ?? "";
    yield* lines;
  }
}
