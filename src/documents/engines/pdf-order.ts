/**
 * The order in which the rows of a page are read: columns one after the other, tables and forms row by row. Columns are
 * separated by a vertical gap that all of their rows share.
 * Next hop: `pdf-tables.ts` finds the tables in the rows.
 */
import { leaning, type Row, type Segment, wideGap } from "./pdf-rows.ts";

type Gap = readonly [from: number, to: number];

/** Maximum nesting of columns. Pages are not laid out with deeper nesting. */
const maxDepth = 4;

/** Blocks of rows; the rows of a block lie below each other. */
export function inReadingOrder(rows: Row[], depth = 0): Row[][] {
  if (depth === maxDepth) return [rows];
  const blocks: Row[][] = [];
  let plain: Row[] = [];
  const flush = () => {
    if (plain.length > 0) blocks.push(plain);
    plain = [];
  };
  for (let at = 0; at < rows.length; at++) {
    const band = columnsAt(rows, at);
    if (!band) {
      plain.push(rows[at] as Row);
      continue;
    }
    flush();
    blocks.push(...band.columns.flatMap((column) => inReadingOrder(column, depth + 1)));
    at = band.end - 1;
  }
  flush();
  return blocks;
}

/** The columns that begin here: down to the end of their gap, or to the first large distance of rows. */
function columnsAt(rows: Row[], at: number): { end: number; columns: Row[][] } | null {
  const band = bandAt(rows, at);
  if (!band || isAlone(rows, at, band.gaps)) return null;
  const nearEnd = rows.findIndex((row, below) => below > at && yOf(row) - yOf(rows[below - 1]) > 1.8 * heightOf(row));
  for (const end of nearEnd > at && nearEnd < band.end ? [band.end, nearEnd] : [band.end]) {
    const columns = cut(
      rows.slice(at, end),
      end === band.end ? band.gaps : (bandAt(rows.slice(0, end), at)?.gaps ?? []),
    );
    if (columns) return { end, columns };
  }
  return null;
}

const yOf = (row: Row | undefined) => row?.[0]?.y ?? 0;
const heightOf = (row: Row) => row[0]?.height ?? 0;

/** The rows from here on that have a gap in common, with text on both sides of it. */
function bandAt(rows: Row[], start: number): { end: number; gaps: Gap[] } | null {
  let gaps: Gap[] = [[Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY]];
  let found: { end: number; gaps: Gap[] } | null = null;
  let [left, right] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (let at = start; at < rows.length; at++) {
    const row = rows[at] as Row;
    gaps = gaps.flatMap((gap) => without(gap, row));
    for (const segment of row) {
      left = Math.min(left, segment.x);
      right = Math.max(right, segment.right);
    }
    const inner = gaps.filter(([from, to]) => from > left && to < right);
    if (inner.length > 0) found = { end: at + 1, gaps: inner };
    // Before the first row with text beside other text, there is no gap to keep.
    else if (found || at > start + 3) return found;
  }
  return found;
}

/** Whether the next rows begin on the other side of the gap, as below a line that stands to the right above columns. */
function isAlone(rows: Row[], at: number, gaps: Gap[]): boolean {
  const sides = (row: Row | undefined) => new Set(row?.map(({ x }) => gaps.filter(([from]) => from <= x).length));
  const here = sides(rows[at]);
  const below = [rows[at + 1], rows[at + 2]].map(sides);
  return here.size === 1 && !here.has(0) && below.some((row) => row.has(0));
}

/** The parts of a gap that the row leaves free. */
function without([from, to]: Gap, row: Row): Gap[] {
  const left: Gap[] = [];
  let start = from;
  for (const { x, right, height } of [...row].sort((one, other) => one.x - other.x)) {
    if (right <= start || x >= to) continue;
    if (x - start >= wideGap * height) left.push([start, x]);
    start = Math.max(start, right);
  }
  if (to - start > 5) left.push([start, to]);
  return left;
}

/** The columns of the rows between gaps, or null if they are a table, a form, or lines with gaps. */
function cut(rows: Row[], gaps: Gap[]): Row[][] | null {
  for (const chosen of gaps.length > 1 ? [gaps, ...gaps.map((gap) => [gap])] : [gaps]) {
    const columns = columnsOf(rows, chosen);
    if (columns.every((column) => column.length > 1) && areColumns(columns)) {
      const isBackward = leaning(rows.flat().reduce((text, segment) => text + segment.text, "")) < 0;
      return isBackward ? columns.reverse() : columns;
    }
  }
  return null;
}

function columnsOf(rows: Row[], gaps: Gap[]): Row[][] {
  const columns: Row[][] = [];
  const edges = [...gaps.map(([from]) => from).sort((one, other) => one - other), Number.POSITIVE_INFINITY];
  let left = Number.NEGATIVE_INFINITY;
  for (const edge of edges) {
    const from = left;
    const isInside = ({ x }: Segment) => x >= from - 1 && x < edge - 0.01;
    columns.push(rows.map((row) => row.filter(isInside)).filter((row) => row.length > 0));
    left = edge;
  }
  return columns;
}

/**
 * Whether these are columns of prose, or two blocks, as in the head of a letter. The lines of two blocks are at different
 * heights, or those of the right block have their own labels.
 */
function areColumns(columns: Row[][]): boolean {
  if (columns.every(isProse)) return true;
  const [one, other] = columns as [Row[], Row[]];
  if (columns.length !== 2 || !columns.every(isBlock)) return false;
  const isLabel = ([line]: Row) => /:$/.test(line?.text ?? "");
  const isLabelled = ([line]: Row) => /^[^:]{2,30}:\s+\S/.test(line?.text ?? "");
  if (!one.some(isLabel) && other.every(isLabelled)) return true;
  const [sparse, dense] = one.length < other.length ? [one, other] : [other, one];
  const beside = sparse.filter((row) => dense.some((another) => isBeside(row, another))).length;
  return beside <= sparse.length / 2;
}

const isBeside = ([one]: Row, [other]: Row) =>
  one !== undefined && other !== undefined && Math.abs(one.y - other.y) < 0.15 * one.height;

/** Whether these are lines of words, each close below the last. */
function isBlock(rows: Row[]): boolean {
  if (rows.length < 3 || rows.some((row) => row.length > 1)) return false;
  const lines = rows.flat();
  const isDense = lines.every((line, at) => at === 0 || line.y - (lines[at - 1] as Segment).y < 2 * line.height);
  return isDense && lines.filter(({ text }) => /\p{L}{2}/u.test(text)).length > 0.7 * lines.length;
}

/** Whether most lines are long and fill their column. */
function isProse(column: Row[]): boolean {
  if (column.length < 3) return false;
  const left = Math.min(...column.map((row) => Math.min(...row.map(({ x }) => x))));
  const right = Math.max(...column.map((row) => Math.max(...row.map((segment) => segment.right))));
  const full = column.filter((row) => {
    const filled = row.reduce((sum, segment) => sum + segment.right - segment.x, 0);
    return filled > 0.6 * (right - left) && row.reduce((sum, { text }) => sum + text.length, 0) >= 20;
  });
  return full.length >= column.length / 2;
}
