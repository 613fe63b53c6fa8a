/** Finds the application's lines on the call stack. The audit finds definitions and calls in the source by them. */
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";

export interface CallSite {
  /** Absolute path of the file. */
  path: string;
  /** From 1. */
  line: number;
  /** From 1: the start of the called name. */
  column: number;
}

/** An error that records the callers of a function. Its stack becomes text only when it is read, so this is cheap. */
export function traceAbove(below: (...args: never[]) => unknown): Error {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 50;
  const trace = new Error("Not an error: it records the callers.");
  Error.captureStackTrace(trace, below);
  Error.stackTraceLimit = stackTraceLimit;
  return trace;
}

/** The application's own lines of a stack, innermost first, without those of packages and of svc. */
export function callSites({ stack = "" }: Pick<Error, "stack">): CallSite[] {
  return stack.split("\n").flatMap((frame): CallSite[] => {
    const [, place = "", line, column] =
      /^ +at (?:.*?\()?(?:async )?((?:file:\/\/|\/).+?):(\d+):(\d+)\)?$/.exec(frame) ?? [];
    const path = place.startsWith("file:") ? fileURLToPath(place.replace(/[?#].*$/, "")) : place;
    if (!path || path.includes("/node_modules/") || path.startsWith(own)) return [];
    return [{ path, line: Number(line), column: Number(column) }];
  });
}

const own = `${dirname(import.meta.dirname)}/`;
