/** Formats tables, times and colours for commands that list things. */
import { stripVTControlCharacters } from "node:util";

/** Each column is as wide as its widest cell; the last one is not padded. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [head, ...rows.map((row) => row.map(printable))];
  const widths = head.map((_, column) => Math.max(...all.map((row) => lengthOf(row[column] ?? ""))));
  return all
    .map((row) => {
      const cells = row.map((cell, column) => cell + " ".repeat((widths[column] ?? 0) - lengthOf(cell)));
      return `${cells.join("  ").trimEnd()}\n`;
    })
    .join("");
}

/** Colours only for a terminal. @param colour an SGR number, such as 31 for red */
export function paint(text: string, colour: number): string {
  return !process.stdout.isTTY || process.env.NO_COLOR ? text : `\u001b[${colour}m${text}\u001b[39m`;
}

/** Heads, and what stands below them: a property of the row, or a function of it. */
export type Columns<Row> = Readonly<Record<string, (keyof Row & string) | ((row: Row) => unknown)>>;

export const cellsOf = <Row>(columns: Columns<Row>, row: Row): string[] =>
  Object.values(columns).map((column) => cell(typeof column === "string" ? row[column] : column(row)));

export const tableOf = <Row>(columns: Columns<Row>, rows: readonly Row[]): string =>
  table(
    Object.keys(columns),
    rows.map((row) => cellsOf(columns, row)),
  );

/** As text; "-" for what is not there. */
export const cell = (value: unknown): string => (value instanceof Date ? time(value) : String(value ?? "-"));

/** Properties, one per line. */
export function details(properties: Readonly<Record<string, unknown>>): string {
  const width = Math.max(...Object.keys(properties).map((label) => label.length));
  return Object.entries(properties)
    .map(([label, value]) => `${label.padEnd(width)}  ${printable(cell(value))}\n`)
    .join("");
}

/** The first line of a message, shortened. */
export const firstLine = (text: string | null | undefined): string => text?.split("\n", 1)[0]?.slice(0, 80) ?? "";

/**
 * Removes control characters from foreign text, such as an error's message: a terminal would obey them, set the
 * clipboard or rewrite lines above. Line breaks, tabs and the colours of `paint` stay.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it is about
export const printable = (text: string): string => text.replace(/(?![\n\t]|\u001b\[[39]\d?m)\p{Cc}/gu, "");

/** UTC, to the second; "-" for null. */
export const time = (value: Date | null): string => value?.toISOString().slice(0, 19).replace("T", " ") ?? "-";

const lengthOf = (text: string) => stripVTControlCharacters(text).length;

/** A number of jobs as sql/jobs/queue_state.sql gives it: beyond 10,000 it is an estimate. */
export const about = (count: string): string => (Number(count) > 10_000 ? `about ${count}` : count);
