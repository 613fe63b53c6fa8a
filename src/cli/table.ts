/** Tables and colours of commands that list things. */
import { stripVTControlCharacters } from "node:util";

/** Columns as wide as their widest cell; the last one ends where it ends. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [head, ...rows];
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

const lengthOf = (text: string) => stripVTControlCharacters(text).length;
