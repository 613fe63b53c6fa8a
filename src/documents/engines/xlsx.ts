/**
 * The second parser for XLSX. Splits every sheet into tables (islands of adjacent cells), repeats merged cells in every
 * place that they cover, and appends comments. Reads cells as stored. Visits only existing cells, whatever size the
 * sheet declares.
 * Next hop: `xlsx-cells.ts` reads the parts.
 */
import { pipeTable } from "../html-tables.ts";
import type { Converted } from "./converted.ts";
import { type Cells, openWorkbook } from "./xlsx-cells.ts";

export async function convertXlsx(bytes: Buffer): Promise<Converted> {
  const sheets = openWorkbook(bytes);
  const pages = sheets.map(({ name, cells, comments }) => {
    const tables = islands(cells).map((island) => pipeTable(grid(island)));
    return [`## ${name}`, ...tables, ...comments].join("\n\n");
  });
  return { markdown: pages.join("\n\n"), pages };
}

/** Groups of cells that share sides, in reading order. */
function islands(cells: Cells): Cells[] {
  const left = new Map(cells);
  const found: Cells[] = [];
  for (const key of cells.keys()) {
    if (!left.has(key)) continue;
    const island: Cells = new Map();
    const waiting = [key];
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      const text = left.get(next);
      if (text === undefined) continue;
      left.delete(next);
      island.set(next, text);
      const [row = 0, column = 0] = next.split(",").map(Number);
      waiting.push(`${row - 1},${column}`, `${row + 1},${column}`, `${row},${column - 1}`, `${row},${column + 1}`);
    }
    found.push(island);
  }
  return found;
}

/** The smallest rectangle around the cells. */
function grid(island: Cells): string[][] {
  const places = [...island.keys()].map((key) => key.split(",").map(Number) as [number, number]);
  const rows = [...new Set(places.map(([row]) => row))].sort((one, other) => one - other);
  const columns = [...new Set(places.map(([, column]) => column))].sort((one, other) => one - other);
  return rows.map((row) => columns.map((column) => island.get(`${row},${column}`) ?? ""));
}
