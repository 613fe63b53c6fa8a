/**
 * Tells the author of a failed handler the place in the code, and PostgreSQL's message, statement and hint. It may
 * contain values of rows, so it is for `svc dev` and @svc/testing only.
 */
import pg from "pg";
import { causesOf } from "../kit/causes.ts";
import { statementOf } from "../postgres/errors.ts";
import { say } from "./command.ts";
import { placeIn } from "./explain.ts";
import { printable } from "./table.ts";

/** Prints it, and returns it. @param cwd the application's folder @param operation shown where the stack names no place */
export function showFailure(thrown: unknown, cwd: string, operation: string): string {
  const text = describeFailure(thrown, cwd, operation);
  say(`\n${printable(text)}`);
  return text;
}

/** Of a promise that nobody awaited: undefined if it is not of a statement. @param cwd the application's folder */
export function describeUnawaited(reason: unknown, cwd: string): string | undefined {
  if (!causesOf(reason).some((error) => statementOf(error) !== undefined)) return undefined;
  return `A statement of ctx.db failed, and nobody awaited it: an await or a return is missing.\n${describeFailure(reason, cwd)}`;
}

/** A statement that a handler returns runs after it: then the stack has no line of the application. */
function describeFailure(thrown: unknown, cwd: string, operation?: string): string {
  const errors = causesOf(thrown);
  const place = errors.map(({ stack }) => placeIn(stack ?? "", cwd)).find((one) => one !== null);
  const database = errors.find((error) => error instanceof pg.DatabaseError);
  const told = errors.find((error) => statementOf(error) !== undefined) ?? errors[0];
  return [
    ...(place ? [place] : operation ? [`In ${operation}:`] : []),
    ...(database ? describe(database) : [told ? `${told.name}: ${told.message}` : String(thrown)]),
    ...(database || !told ? [] : errors.slice(errors.indexOf(told) + 1).map(reasonOf)),
  ].join("\n");
}

/** Node says "fetch failed", and why in the cause: errors of connections have a code, and at times no message. */
const reasonOf = ({ name, message, code }: NodeJS.ErrnoException) => `  Cause: ${name}: ${message || code}`;

function describe(error: pg.DatabaseError): string[] {
  const { code, message, detail, hint, where } = error;
  const rows = { Statement: statementOf(error)?.slice(0, 2_000), Detail: detail, Hint: hint, Where: where };
  const lines = Object.entries(rows).filter(([, value]) => value !== undefined);
  return [`PostgreSQL: ${message} (${code})`, ...lines.map(([name, value]) => `  ${name}: ${value}`)];
}
