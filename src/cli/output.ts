/**
 * What commands print: progress to standard error, results to standard output or, as lines, to standard error. With
 * --json, standard output holds one JSON document; commands that run until they are stopped print one document a line.
 */

import { type Columns, printable, tableOf } from "./table.ts";

/** One process runs one command. The parser sets it. */
export const output = { json: false };

/** Progress, and notes for the person at the terminal. They may name what users have written: ids, errors. */
export const say = (line: string): void => void process.stderr.write(`${printable(line)}\n`);

export const printJson = (value: unknown): void => void process.stdout.write(`${JSON.stringify(value, null, 2)}\n`);

/** A result that is text on standard output. @param value the result for --json */
export function print(value: unknown, text: () => string): void {
  if (output.json) printJson(value);
  else process.stdout.write(printable(text()));
}

/** A result that is a list. */
export const printRows = <Row>(rows: readonly Row[], columns: Columns<Row>): void =>
  print(rows, () => tableOf(columns, rows));

/** A result that is said. @param value the result for --json */
export function conclude(value: unknown, ...lines: readonly string[]): void {
  if (output.json) printJson(value);
  else for (const line of lines) say(line);
}

/** An error that ends the command. */
export function printError(message: string): void {
  if (output.json) printJson({ error: message });
  say(`\n${message}`);
  process.exitCode = 1;
}

/** In milliseconds. */
const noticed = 1_000;

/** Says what takes time, when it takes longer than a second. @param what such as "Comparing the rows" */
export async function during<T>(what: string, work: () => Promise<T>): Promise<T> {
  const timer = setTimeout(() => say(`${what} …`), noticed);
  try {
    return await work();
  } finally {
    clearTimeout(timer);
  }
}

/** @returns a function that says how far the work is, at most once a second */
export function counter(): (line: () => string) => void {
  let last = performance.now();
  return (line) => {
    if (performance.now() - last < noticed) return;
    last = performance.now();
    say(line());
  };
}
