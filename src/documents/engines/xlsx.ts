/**
 * The second parser for XLSX. Splits every sheet into tables (islands of adjacent cells), repeats merged cells in every
 * place that they cover, and adds charts, text of shapes, and comments. A row that is merged as a whole stands once: above
 * a table as its caption, inside of it in its first column. Reads cells as stored. Visits only existing cells, whatever
 * size the sheet declares.
 * Next hop: `xlsx-cells.ts` reads the parts.
 */
import type { Converted } from "../types.ts";
import { pipeTable } from "./html-tables.ts";
import { type Cells, openWorkbook, type Sheet } from "./xlsx-cells.ts";
import { readComments } from "./xlsx-comments.ts";
import { type Drawing, readDrawings } from "./xlsx-drawings.ts";

export async function convertXlsx(bytes: Buffer): Promise<Converted> {
  const sheets = openWorkbook(bytes);
  const pages = sheets
    .filter(({ isHidden }) => !isHidden)
    .map((sheet) => {
      const blocks = [...tablesOf(sheet), ...readDrawings(bytes, sheet.path)].sort(inReadingOrder);
      const written = blocks.map(({ markdown }) => markdown);
      return [`## ${sheet.name}`, ...written, ...readComments(bytes, sheet.path)].join("\n\n");
    });
  const hidden = sheets.filter(({ isHidden }) => isHidden);
  const warnings = hidden.map(({ name }) => `The hidden sheet ${JSON.stringify(name)} was left out.`);
  return { markdown: pages.join("\n\n"), pages, warnings };
}

const inReadingOrder = (one: Drawing, other: Drawing) => one.row - other.row || one.column - other.column;

function tablesOf({ cells, banners }: Sheet): Drawing[] {
  return islands(cells).map((island) => {
    const [start = "0,0"] = island.keys();
    const [row = 0, column = 0] = placeOf(start);
    return { row, column, markdown: writeIsland(island, banners).join("\n\n") };
  });
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
      const [row = 0, column = 0] = placeOf(next);
      waiting.push(`${row - 1},${column}`, `${row + 1},${column}`, `${row},${column - 1}`, `${row},${column + 1}`);
    }
    found.push(island);
  }
  return found;
}

/** Captions, and the table below them. */
function writeIsland(island: Cells, banners: Sheet["banners"]): string[] {
  const captions: string[] = [];
  const rows = byRow(island);
  const left = [...island.keys()].reduce((least, key) => Math.min(least, placeOf(key)[1]), Number.POSITIVE_INFINITY);
  let isAbove = true;
  for (const keys of rows) {
    const [first = ""] = keys;
    const isBanner = banners.get(first) === keys.length && placeOf(first)[1] === left;
    isAbove &&= isBanner;
    if (!isBanner) continue;
    const caption = `**${island.get(first)}**`;
    for (const key of keys) island.delete(key);
    if (!isAbove) island.set(first, caption);
    else if (captions.at(-1) !== caption) captions.push(caption);
  }
  return island.size === 0 ? captions : [...captions, pipeTable(grid(island))];
}

/** The positions of an island's cells, row by row. */
function byRow(island: Cells): string[][] {
  const rows = new Map<number, string[]>();
  for (const key of island.keys()) {
    const [row] = placeOf(key);
    const keys = rows.get(row);
    if (keys) keys.push(key);
    else rows.set(row, [key]);
  }
  const first = (keys: string[]) => placeOf(keys[0] as string)[0];
  const column = (key: string) => placeOf(key)[1];
  const sorted = [...rows.values()].map((keys) => keys.sort((one, other) => column(one) - column(other)));
  return sorted.sort((one, other) => first(one) - first(other));
}

/** The smallest rectangle around the cells. */
function grid(island: Cells): string[][] {
  const places = [...island.keys()].map(placeOf);
  const rows = [...new Set(places.map(([row]) => row))].sort((one, other) => one - other);
  const columns = [...new Set(places.map(([, column]) => column))].sort((one, other) => one - other);
  return rows.map((row) => columns.map((column) => island.get(`${row},${column}`) ?? ""));
}

const placeOf = (key: string) => key.split(",").map(Number) as [row: number, column: number];
