/**
 * Finds tables in rows: rows below each other whose parts stand in the same columns. Column heads may have several lines,
 * and span columns.
 * Next hop: `pdf.ts` makes Markdown of the page.
 */
import { pipeTable } from "./html-tables.ts";
import { joinRuns, type Row, type Segment } from "./pdf-rows.ts";

export interface Table {
  /** Of the rows that it was made of. */
  length: number;
  cells: string[][];
}

interface Column {
  x: number;
  right: number;
}

const fewestRows = 3;
/** Two columns are labels and values: lines are as good. */
const fewestColumns = 3;
/** Rows at the start of a table whose parts may span columns. */
const headRows = 3;
/** The largest distance of rows, in heights of letters. */
const farthest = 3.5;
/** The usual gap between cells, in heights of letters. Justified lines have smaller ones. */
const leastGap = 1.2;
/** How far sides of a column's cells may be apart, in points. */
const aligned = 2;

export function tableAt(rows: Row[], start: number): Table | null {
  if ((rows[start] as Row).length < fewestColumns) return null;
  let columns: Column[] = [];
  const table: Row[] = [];
  let end = 0;
  for (let at = start; at < rows.length; at++) {
    const row = split(rows[at] as Row, columns);
    if (isJustified(row) || (at > start && !isNear(table.at(-1) as Row, row))) break;
    const wider = placed(columns, row, at - start < headRows);
    if (!wider && !(row.length === 1 && fits(rows[at + 1], row, columns))) break;
    columns = wider ?? columns;
    table.push(row);
    if (row.length > 1 || isRest(table, columns)) end = table.length;
  }
  table.length = end;
  columns.sort((one, other) => one.x - other.x);
  const wide = table.filter((row) => row.length >= fewestColumns).length;
  const several = table.filter((row) => row.length > 1).length;
  if (end < fewestRows || wide < 2 || several < end * 0.6 || columns.length < fewestColumns) return null;
  return areAligned(table, columns) && medianGap(table) >= leastGap
    ? { length: end, cells: written(table, columns) }
    : null;
}

const headOf = (row: Row) => row[0] as Segment;
const yOf = (row: Row) => headOf(row).y;

function isNear(last: Row, row: Row): boolean {
  const drop = yOf(row) - yOf(last);
  return drop > 0 && drop < farthest * Math.max(headOf(row).height, headOf(last).height);
}

/** Whether the last row is the rest of a cell that is not in the first column. */
function isRest(table: Row[], columns: Column[]): boolean {
  const [row, last] = [table.at(-1) as Row, table.at(-2)];
  const isClose = last && yOf(row) - yOf(last) < 1.4 * headOf(row).height;
  return isClose === true && columns.findIndex((column) => overlap(column, headOf(row)) > 0) > 0;
}

/** In heights of letters. */
function gapsOf(row: Row): number[] {
  const sorted = [...row].sort((one, other) => one.x - other.x);
  return sorted.slice(1).map(({ x, height }, at) => (x - (sorted[at] as Segment).right) / height);
}

function medianGap(rows: Row[]): number {
  const gaps = rows.flatMap(gapsOf).sort((one, other) => one - other);
  return gaps[Math.floor(gaps.length / 2)] ?? 0;
}

/** Whether these are the words of one line, with the same gap between all of them. */
function isJustified(row: Row): boolean {
  if (row.length < 3 || row.some(({ text }) => /\s/.test(text))) return false;
  const gaps = gapsOf(row);
  return Math.max(...gaps) < Math.min(2, 1.25 * Math.min(...gaps));
}

/** Whether a table continues below a line across it. */
function fits(next: Row | undefined, row: Row, columns: Column[]): boolean {
  return (
    next !== undefined && next.length > 1 && isNear(row, next) && placed(columns, split(next, columns), false) !== null
  );
}

/** Parts that lie in several columns are cut where a column begins. */
function split(row: Row, columns: Column[]): Row {
  return row.flatMap((segment) => {
    const starts = segment.runs.flatMap(({ x }, at) =>
      at > 0 && columns.some((column) => Math.abs(column.x - x) < aligned) ? [at] : [],
    );
    if (starts.length === 0 || columns.filter((column) => overlap(column, segment) > 0).length < 2) return [segment];
    return [0, ...starts].map((from, at) => joinRuns(segment.runs.slice(from, starts[at]), false));
  });
}

/**
 * The columns with those of one more row.
 * @param isHead whether a part may span several columns
 * @returns null if the row does not stand in columns
 */
function placed(columns: Column[], row: Row, isHead: boolean): Column[] | null {
  const next = columns.map((column) => ({ ...column }));
  for (const { x, right } of row) {
    const over = next.filter((column) => overlap(column, { x, right }) > 0);
    const [column] = over;
    if (over.length > 1) {
      if (!isHead || row.length === 1) return null;
    } else if (column) {
      column.x = Math.min(column.x, x);
      column.right = Math.max(column.right, right);
    } else if (row.length === 1 && !isHead) return null;
    else next.push({ x, right });
  }
  // Columns that grow into each other are none.
  next.sort((one, other) => one.x - other.x);
  return next.some((column, at) => at > 0 && overlap(column, next[at - 1] as Column) > 0) ? null : next;
}

const overlap = (one: Column, other: Column) => Math.min(one.right, other.right) - Math.max(one.x, other.x);

const columnOf = (columns: Column[], segment: Segment) => {
  const overlaps = columns.map((column) => overlap(column, segment));
  return overlaps.indexOf(Math.max(...overlaps));
};

/** Whether the cells of most columns share a side or the middle. Gaps in justified lines stand anywhere. */
function areAligned(rows: Row[], columns: Column[]): boolean {
  const cells = columns.map((): Segment[] => []);
  for (const segment of rows.flat()) cells[columnOf(columns, segment)]?.push(segment);
  const shared = cells.filter((column) => {
    const sides = [({ x }: Segment) => x, ({ right }: Segment) => right, ({ x, right }: Segment) => (x + right) / 2];
    return column.length < 2 || sides.some((side) => mostAt(column.map(side)) >= 0.6 * column.length);
  });
  return shared.length >= 0.75 * columns.length;
}

function mostAt(places: number[]): number {
  const near = (place: number) => places.filter((other) => Math.abs(other - place) <= aligned).length;
  return Math.max(...places.map(near));
}

function written(rows: Row[], columns: Column[]): string[][] {
  const lines = rows.map((row) => {
    const cells = columns.map(() => "");
    for (const segment of row) {
      const isAcross = row.length === 1;
      const at = isAcross ? columns.findIndex((column) => overlap(column, segment) > 0) : columnOf(columns, segment);
      cells[at] = `${cells[at] ?? ""} ${segment.text}`.trim();
    }
    return cells;
  });
  return joined(rows, lines);
}

/**
 * Lines that stand much closer to the last one than rows do, and do not begin in the first column or have nothing else,
 * continue its cells; so do cells that are set between two lines.
 */
function joined(rows: Row[], lines: string[][]): string[][] {
  const drops = rows.map((row, at) => (at === 0 ? 0 : yOf(row) - yOf(rows[at - 1] as Row)));
  const begins = lines.map((cells) => cells[0] !== "" && cells.filter(Boolean).length > 1);
  const between = drops.filter((_, at) => at > 0 && begins[at]).sort((one, other) => one - other);
  const usual = between[Math.floor(between.length / 2)] ?? 0;
  const result: string[][] = [];
  lines.forEach((cells, at) => {
    const last = result.at(-1);
    const drop = drops[at] as number;
    const isFree = cells.every((cell, column) => !cell || !last?.[column]);
    const isBetween = isFree && drop < 0.8 * headOf(rows[at] as Row).height;
    if (last && (isBetween || (!begins[at] && drop < 0.8 * usual))) {
      cells.forEach((cell, column) => {
        if (cell !== "") last[column] = `${last[column] ?? ""} ${cell}`.trim();
      });
    } else result.push(cells);
  });
  return result;
}

export const writeTable = (cells: string[][], escaped: (text: string) => string) =>
  pipeTable(cells.map((row) => row.map(escaped)));
