/**
 * Reads the sheets of a workbook in order: shared strings, number formats for dates, merged cells.
 * Next hop: `xlsx-comments.ts` and `xlsx-drawings.ts` read what lies on a sheet.
 */
import type { Element } from "@xmldom/xmldom";
import { unreadable } from "../../text/refusals.ts";
import { literal } from "./html-tables.ts";
import { all, parsePart, relations, textOf } from "./xml-parts.ts";

/** Text by position, as "row,column" from 0, in reading order. Cells without text are omitted. */
export type Cells = Map<string, string>;

export interface Sheet {
  name: string;
  /** Hidden sheets are not read. */
  isHidden: boolean;
  /** The name of its part. */
  path: string;
  cells: Cells;
  /** Merged ranges of several columns: for each of their rows, by the position of its first cell, how many. */
  banners: Map<string, number>;
}

const mostCells = 500_000;
/** Larger ranges are decoration: their text stands once. */
const mostCovered = 10_000;

export function openWorkbook(bytes: Buffer): Sheet[] {
  const workbook = parsePart(bytes, "xl/workbook.xml");
  if (!workbook) throw new Error("There is no workbook.");
  const links = relations(bytes, "xl/_rels/workbook.xml.rels");
  const strings = all(parsePart(bytes, "xl/sharedStrings.xml"), "si").map(textOf);
  const times = timeStyles(parsePart(bytes, "xl/styles.xml"));
  const starts1904 = /^(1|true)$/.test(all(workbook, "workbookPr")[0]?.getAttribute("date1904") ?? "");
  return all(workbook, "sheet").map((sheet) => {
    const path = links.find((link) => link.id === sheet.getAttribute("r:id"))?.path ?? "";
    const isHidden = /hidden/i.test(sheet.getAttribute("state") ?? "");
    const root = isHidden ? null : parsePart(bytes, path);
    const read = readCells(root, (cell) => cellValue(cell, strings, times, starts1904));
    return { name: literal(sheet.getAttribute("name") ?? ""), isHidden, path, ...read };
  });
}

function readCells(root: Element | null, value: (cell: Element) => string): Pick<Sheet, "cells" | "banners"> {
  const found: Cell[] = [];
  const add = (cell: Cell) => {
    if (found.push(cell) > mostCells) throw unreadable(`A sheet has more than ${mostCells} cells. Split it.`);
  };
  for (const cell of storedCells(root, value)) add(cell);
  const texts = new Map(found.map((cell) => [keyOf(cell), cell.text]));
  const banners: Sheet["banners"] = new Map();
  for (const merge of all(root, "mergeCell")) {
    const [from, to] = (merge.getAttribute("ref") ?? "").split(":").map(placeOf);
    const text = from && texts.get(keyOf(from));
    if (!from || !to || !text || (to.row - from.row + 1) * (to.column - from.column + 1) > mostCovered) continue;
    for (const place of placesIn(from, to)) {
      if (keyOf(place) !== keyOf(from)) add({ ...place, text });
      if (place.column === from.column && to.column > from.column)
        banners.set(keyOf(place), to.column - from.column + 1);
    }
  }
  found.sort((one, other) => one.row - other.row || one.column - other.column);
  return { cells: new Map(found.map((cell) => [keyOf(cell), cell.text])), banners };
}

/** Some programs leave positions out: a row or a cell then follows the last one. */
function* storedCells(root: Element | null, value: (cell: Element) => string): Iterable<Cell> {
  let row = -1;
  for (const line of all(root, "row")) {
    row = Number(line.getAttribute("r") ?? row + 2) - 1;
    let column = -1;
    for (const cell of all(line, "c")) {
      const place = placeOf(cell.getAttribute("r") ?? "") ?? { row, column: column + 1 };
      column = place.column;
      const text = value(cell).trim();
      if (text !== "") yield { ...place, text };
    }
  }
}

function* placesIn(from: CellPlace, to: CellPlace): Iterable<CellPlace> {
  for (let { row } = from; row <= to.row; row++) {
    for (let { column } = from; column <= to.column; column++) yield { row, column };
  }
}

interface CellPlace {
  row: number;
  column: number;
}

interface Cell extends CellPlace {
  text: string;
}

const keyOf = ({ row, column }: CellPlace) => `${row},${column}`;

function cellValue(cell: Element, strings: string[], times: TimeStyle[], starts1904: boolean): string {
  const type = cell.getAttribute("t");
  const stored = all(cell, "v")[0]?.textContent ?? "";
  if (type === "s") return literal(strings[Number(stored)] ?? "");
  if (type === "inlineStr") return literal(textOf(cell));
  if (type === "b") return stored === "1" ? "TRUE" : "FALSE";
  if (type === "str" || type === "e" || type === "d" || stored === "") return literal(stored);
  const time = times[Number(cell.getAttribute("s") ?? 0)] ?? null;
  if (time !== null) return time === "date" ? dateOf(Number(stored), starts1904) : durationOf(Number(stored));
  // As a person sees it, without binary rounding noise.
  return Number.isFinite(Number(stored)) ? String(Number(Number(stored).toPrecision(15))) : literal(stored);
}

/** Days since the workbook's epoch. The 1900 epoch includes a 29 February that did not exist. */
function dateOf(days: number, starts1904: boolean): string {
  const epoch = starts1904 ? Date.UTC(1904, 0, 1) : Date.UTC(1899, 11, days < 60 ? 31 : 30);
  const date = new Date(epoch + Math.round(days * 86_400) * 1000);
  if (Number.isNaN(date.getTime())) return String(days);
  const text = date.toISOString();
  if (days >= 0 && days < 1) return text.slice(11, 19);
  return Number.isInteger(days) ? text.slice(0, 10) : text.slice(0, 19).replace("T", " ");
}

/** Hours, minutes and seconds of a number of days, such as 40:30:00. */
function durationOf(days: number): string {
  const seconds = Math.round(Math.abs(days) * 86_400);
  if (!Number.isFinite(seconds)) return String(days);
  const [minute, second] = [Math.floor(seconds / 60) % 60, seconds % 60].map((part) => String(part).padStart(2, "0"));
  return `${days < 0 ? "-" : ""}${Math.floor(seconds / 3600)}:${minute}:${second}`;
}

/** How a style shows a number of days. Null: as a number. */
type TimeStyle = "date" | "duration" | null;

/** Hours, minutes or seconds in brackets are not cut at a day, an hour or a minute. */
const durationFormat = /\[(h+|m+|s+)\]/i;

function timeStyles(styles: Element | null): TimeStyle[] {
  const own = new Map(
    all(styles, "numFmt").map((one) => [one.getAttribute("numFmtId"), one.getAttribute("formatCode")]),
  );
  return all(all(styles, "cellXfs")[0] ?? null, "xf").map((style) => {
    const id = Number(style.getAttribute("numFmtId"));
    const format = own.get(String(id)) ?? "";
    if (id === 46 || durationFormat.test(format)) return "duration";
    const code = format.replace(/"[^"]*"|\[[^\]]*\]|\\./g, "");
    return (id >= 14 && id <= 22) || (id >= 45 && id <= 47) || /[ymdhs]/i.test(code) ? "date" : null;
  });
}

function placeOf(reference: string): CellPlace | null {
  const [, letters = "", digits = ""] = /^([A-Z]{1,3})(\d{1,7})$/.exec(reference) ?? [];
  if (letters === "") return null;
  const column = [...letters].reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0) - 1;
  return { row: Number(digits) - 1, column };
}
