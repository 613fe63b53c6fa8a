/**
 * The second parser for XLSX. Splits every sheet into tables (islands of adjacent cells), repeats merged cells in every
 * place that they cover, and appends comments. A row above a table that is merged as a whole is its caption. Reads cells
 * as stored. Visits only existing cells, whatever size the sheet declares.
 * Next hop: `xlsx-cells.ts` reads the parts.
 */

import type { Converted } from "./converted.ts";
import { pipeTable } from "./html-tables.ts";
import { type Cells, openWorkbook } from "./xlsx-cells.ts";

export async function convertXlsx(bytes: Buffer): Promise<Converted> {
  const sheets = openWorkbook(bytes);
  const pages = sheets.map(({ name, cells, banners, comments }) => {
    const tables = islands(cells).flatMap((island) => captionAndTable(island, banners));
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

/** A first row that is one merged range, as wide as the table, is its caption. */
function captionAndTable(island: Cells, banners: Map<string, number>): string[] {
  const rows = grid(island);
  const [start = ""] = island.keys();
  const [[caption = "", ...covered] = []] = rows;
  if (rows.length === 1 || covered.length === 0 || banners.get(start) !== covered.length + 1) return [pipeTable(rows)];
  return [`**${caption}**`, pipeTable(rows.slice(1))];
}

/** The smallest rectangle around the cells. */
function grid(island: Cells): string[][] {
  const places = [...island.keys()].map((key) => key.split(",").map(Number) as [number, number]);
  const rows = [...new Set(places.map(([row]) => row))].sort((one, other) => one - other);
  const columns = [...new Set(places.map(([, column]) => column))].sort((one, other) => one - other);
  return rows.map((row) => columns.map((column) => island.get(`${row},${column}`) ?? ""));
}
