/** Formats errors for the log, without private data. */
import { causesOf } from "../kit/causes.ts";
import { mask } from "./mask.ts";

/**
 * The loggable part of an error: enough to find the place, without content of a row, a statement or a request. For a
 * database error that is its code and place: its message may quote a value, its detail a whole row, and Drizzle's
 * wrapper the statement with all parameters.
 */
export function describeError(error: unknown): object {
  try {
    return error instanceof WithoutStack ? omitStacks(describe(error.error, maxCauses)) : describe(error, maxCauses);
  } catch {
    // Anything can be thrown: an object without a prototype is no text. A line of the log must not end the process.
    return { message: "What was thrown cannot be read." };
  }
}

/** An error for the log whose place in the code says nothing, such as a lost connection. */
export class WithoutStack {
  readonly error: unknown;
  constructor(error: unknown) {
    this.error = error;
  }
}

function omitStacks({ stack: _stack, cause, ...described }: { stack?: unknown; cause?: object }): object {
  return { ...described, ...(cause && { cause: omitStacks(cause) }) };
}

/** An error can be its own cause. */
const maxCauses = 10;

function describe(error: unknown, causes: number): object {
  if (!(error instanceof Error)) return { message: mask(String(error)) };
  const { cause, name, stack } = error;
  // A refused connection to a name with several addresses has only a code.
  const message = error.message || ("code" in error ? error.code : "");
  const inner = cause !== undefined && causes > 0 && { cause: describe(cause, causes - 1) };
  if ("severity" in error || name === "DrizzleQueryError") return { ...describeDatabaseError(error), ...inner };
  return {
    type: name,
    message: mask(String(message)),
    ...(stack !== undefined && { stack: mask(String(stack)) }),
    ...inner,
  };
}

/**
 * The database's reason, in one line: `42501 new row violates row-level security policy for table "tasks"`.
 *
 * @returns undefined for other errors
 */
export function databaseReason(error: unknown): string | undefined {
  const found = causesOf(error).find((one) => "severity" in one);
  if (!found) return undefined;
  const { code, message, routine } = describeDatabaseError(found) as Record<string, string | undefined>;
  return [code, message ?? routine].filter(Boolean).join(" ");
}

/** Data exceptions, and syntax errors of casts and text search queries. Their messages quote their input. */
const quotesValues = /^(22|42601)/;

function describeDatabaseError(error: Error): object {
  const { code, severity, schema, table, column, constraint, routine, query } = error as Error &
    Record<string, unknown>;
  const details = Object.entries({ code, severity, schema, table, column, constraint, routine, query });
  return {
    type: error.name,
    ...Object.fromEntries(details.filter(([, value]) => value !== undefined)),
    ...(code !== undefined && !quotesValues.test(String(code)) && { message: mask(error.message) }),
    stack: error.stack
      ?.split("\n")
      .filter((line) => line.startsWith("    at "))
      .join("\n"),
  };
}
