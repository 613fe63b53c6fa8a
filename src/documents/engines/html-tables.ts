/**
 * Converts HTML tables, written because of merged cells, to Markdown tables. A short merged cell is repeated in every
 * place that it covers, so that each row can be read, cited and searched alone.
 */

const largestSpan = 200;
/** Longer cells are text of a form, not labels, and are not repeated. */
const longestRepeated = 24;
/** Wider tables are forms on a fine grid, whose merged cells mean nothing. */
const widestRepeated = 12;

export function flattenTables(markdown: string): string {
  let text = markdown.replace(/<img\b[^>]*>/g, "");
  // The innermost first: a table in a cell becomes lines of that cell.
  for (let depth = 0; depth < 8 && text.includes("<table>"); depth++) {
    text = text.replace(/<table>((?:(?!<table>)[\s\S])*?)<\/table>/g, (_, body: string, at: number, all: string) => {
      const before = all.slice(0, at);
      const isNested = before.split("<table>").length > before.split("</table>").length;
      return isNested ? lines(place(body, false)) : `\n${pipeTable(withoutBlanks(place(body, true)))}\n`;
    });
  }
  return text;
}

const lines = (grid: string[][]) =>
  grid
    .map((row) => row.filter((cell) => cell.trim() !== "").join(" "))
    .filter(Boolean)
    .join("<br>");

function place(body: string, repeats: boolean): string[][] {
  const rows = [...body.matchAll(/<tr>([\s\S]*?)<\/tr>/g)].map(([, row = ""]) =>
    [...row.matchAll(/<t[hd]([^>]*)>([\s\S]*?)<\/t[hd]>/g)].map(([, attributes = "", content = ""]) => {
      const again = repeats && content.length <= longestRepeated ? content : "";
      return { content, again, wide: span(attributes, "col"), high: span(attributes, "row") };
    }),
  );
  const isForm = rows.some((row) => row.reduce((sum, { wide }) => sum + wide, 0) > widestRepeated);
  return gridOf(isForm ? rows.map((row) => row.map((cell) => ({ ...cell, again: "" }))) : rows);
}

interface Cell {
  content: string;
  /** In the other places that it covers. */
  again: string;
  wide: number;
  high: number;
}

/** Puts the cells of rows into all places that they cover, up to the last row with one. */
export function gridOf(rows: readonly Cell[][]): string[][] {
  const grid: string[][] = [];
  rows.forEach((row, y) => {
    let x = 0;
    for (const { content, again, wide, high } of row) {
      while (grid[y]?.[x] !== undefined) x++;
      for (let down = 0; down < Math.min(high, rows.length - y); down++) {
        grid[y + down] ??= [];
        for (let right = 0; right < wide; right++) {
          (grid[y + down] as string[])[x + right] = down === 0 && right === 0 ? content : again;
        }
      }
      x += wide;
    }
  });
  return Array.from(grid, (row) => Array.from(row ?? [], (cell) => cell ?? ""));
}

/** Removes empty columns, which forms use for layout. */
function withoutBlanks(grid: string[][]): string[][] {
  const width = Math.max(0, ...grid.map((row) => row.length));
  if (width <= widestRepeated) return grid;
  const kept = Array.from({ length: width }, (_, at) => at).filter((at) => grid.some((row) => row[at]?.trim()));
  return grid.map((row) => kept.map((at) => row[at] ?? "")).filter((row) => row.some((cell) => cell.trim()));
}

const span = (attributes: string, name: string) =>
  Math.min(Math.max(Number(new RegExp(`${name}span="(\\d+)"`).exec(attributes)?.[1] ?? 1), 1), largestSpan);

/** A Markdown table. The first row is its header. */
export function pipeTable(rows: string[][]): string {
  const width = Math.max(0, ...rows.map((row) => row.length));
  if (width === 0) return "";
  const line = (cells: string[]) => `| ${cells.join(" | ")} |`;
  const [head = [], ...rest] = rows.map((row) => Array.from({ length: width }, (_, at) => cellText(row[at] ?? "")));
  return [line(head), line(head.map(() => "---")), ...rest.map(line)].join("\n");
}

/** One line, with signs escaped that would end the cell. */
const cellText = (text: string) =>
  text
    .trim()
    .replace(/(?<!\\)\|/g, "\\|")
    .replace(/\s*\n\s*/g, "<br>");

/** Escapes a cell's text: none of its signs are Markdown. */
export const literal = (text: string) => text.replace(/[\\`*_[\]<]/g, "\\$&");
