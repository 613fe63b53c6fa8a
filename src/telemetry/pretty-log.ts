/** The log for a terminal: one line per entry, the time and the key facts first. Elsewhere the log is JSON. */
import type { DestinationStream } from "pino";

const names: Record<number, string> = { 10: "trace", 20: "debug", 30: "info", 40: "warn", 50: "error", 60: "fatal" };
const colours: Record<number, number> = { 40: 33, 50: 31, 60: 31 };

/** @param out receives the lines, with colours */
export function prettyLog(out: { write(text: string): unknown }): DestinationStream {
  return { write: (line) => void out.write(`${formatEntry(JSON.parse(line))}\n`) };
}

/** One entry, with colours. Control characters from untrusted text are removed. */
export function formatEntry({ level, time, pid: _pid, msg, err, ...rest }: Record<string, unknown>): string {
  const clock = new Date(Number(time)).toTimeString().slice(0, 8);
  const name = (names[Number(level)] ?? String(level)).padEnd(5);
  const coloured = `\u001b[${colours[Number(level)] ?? 36}m${name}\u001b[39m`;
  const { method, operation, status, ms, requestId, trace_id: _trace, span_id: _span, ...others } = rest;
  // A request's line always has the same members, so their values are enough.
  const request = operation === undefined ? [] : [method, operation, status, `${ms} ms`];
  const parts = [
    ...request,
    ...(msg === undefined ? [] : [msg]),
    ...Object.entries(others).map(([key, value]) => `${key}=${JSON.stringify(value)}`),
  ];
  const quiet =
    requestId === undefined || (request.length > 0 && Number(status) < 400)
      ? ""
      : ` \u001b[2m${obedient(String(requestId))}\u001b[22m`;
  return `\u001b[2m${clock}\u001b[22m ${coloured} ${obedient(parts.join(" "))}${quiet}${err === undefined ? "" : `\n${describe(err)}`}`;
}

function describe(err: unknown): string {
  const { stack, message } = (err ?? {}) as { stack?: unknown; message?: unknown };
  // Errors of better-auth have an empty stack.
  const text = [stack, message].find((part) => typeof part === "string" && part !== "") ?? JSON.stringify(err);
  return obedient(ownFrames(String(text))).replace(/^/gm, "  ");
}

/** A stack without the frames of packages and of Node, if others remain. */
function ownFrames(stack: string): string {
  const lines = stack.split("\n");
  const own = lines.filter((line) => !isForeignFrame(line));
  return own.some(isFrame) ? own.join("\n") : stack;
}

/** Whether a line of a stack names a place. */
export const isFrame = (line: string): boolean => /^\s+at /.test(line);

/** Whether a line of a stack is in a package's code, or in Node's. */
export const isForeignFrame = (line: string): boolean => isFrame(line) && /node_modules[\\/]|node:/.test(line);

/** Removes control characters except line ends and tabs. */
const obedient = (text: string) => text.replace(/(?![\n\t])\p{Cc}/gu, "");
