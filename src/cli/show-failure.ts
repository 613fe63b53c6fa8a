/**
 * Prints what the author of a failed handler needs while developing: the place in the code, and PostgreSQL's message,
 * statement and hint. It may contain values of rows, so it is for `svc dev` only.
 */
import pg from "pg";
import { statementOf } from "../postgres/errors.ts";
import { say } from "./command.ts";
import { placeIn } from "./explain.ts";
import { printable } from "./table.ts";

/** Prints it, and returns it. @param cwd the application's folder */
export function showFailure(thrown: unknown, cwd: string): string {
  const errors = [...causesOf(thrown)];
  const place = errors.map(({ stack }) => placeIn(stack ?? "", cwd)).find((one) => one !== null);
  const database = errors.find((error) => error instanceof pg.DatabaseError);
  const text = [
    ...(place ? [place] : []),
    ...(database ? describe(database) : [errors[0] ? `${errors[0].name}: ${errors[0].message}` : String(thrown)]),
  ].join("\n");
  say(`\n${printable(text)}`);
  return text;
}

/** The error and its causes; at most ten, since they may be circular. */
function* causesOf(thrown: unknown): Generator<Error> {
  let error = thrown;
  for (let depth = 0; depth < 10 && error instanceof Error; depth++) {
    yield error;
    error = error.cause;
  }
}

function describe(error: pg.DatabaseError): string[] {
  const { code, message, detail, hint, where } = error;
  const rows = { Statement: statementOf(error)?.slice(0, 2_000), Detail: detail, Hint: hint, Where: where };
  const lines = Object.entries(rows).filter(([, value]) => value !== undefined);
  return [`PostgreSQL: ${message} (${code})`, ...lines.map(([name, value]) => `  ${name}: ${value}`)];
}
