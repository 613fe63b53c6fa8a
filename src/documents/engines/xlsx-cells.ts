/**
 * Reads the parts of a workbook: sheets in order, shared strings, number formats for dates, merged cells, comments. The
 * package was scanned before (`package.ts`); the XML reader expands no entities of a document.
 */
import { DOMParser, type Element } from "@xmldom/xmldom";
import { readPart } from "./package.ts";

/** Text by position, as "row,column" from 0, in reading order. Cells without text are omitted. */
export type Cells = Map<string, string>;

export interface Sheet {
  name: string;
  cells: Cells;
  /** Ranges of one row that are merged: how many columns, by the position of the first. */
  banners: Map<string, number>;
  /** One sentence each. */
  comments: string[];
}

const mostCells = 500_000;
const mostCovered = 10_000;

export function openWorkbook(bytes: Buffer): Sheet[] {
  const workbook = parsePart(bytes, "xl/workbook.xml");
  if (!workbook) throw new Error("There is no workbook.");
  const links = relations(bytes, "xl/_rels/workbook.xml.rels");
  const strings = all(parsePart(bytes, "xl/sharedStrings.xml"), "si").map(textOf);
  const isDate = dateStyles(parsePart(bytes, "xl/styles.xml"));
  const starts1904 = /^(1|true)$/.test(all(workbook, "workbookPr")[0]?.getAttribute("date1904") ?? "");
  return all(workbook, "sheet").map((sheet) => {
    const path = links.find((link) => link.id === sheet.getAttribute("r:id"))?.path ?? "";
    const root = parsePart(bytes, path);
    const read = readCells(root, (cell) => cellValue(cell, strings, isDate, starts1904));
    return { name: literal(sheet.getAttribute("name") ?? ""), ...read, comments: readComments(bytes, path) };
  });
}

function readCells(root: Element | null, value: (cell: Element) => string): Pick<Sheet, "cells" | "banners"> {
  const found: { row: number; column: number; text: string }[] = [];
  const banners: Sheet["banners"] = new Map();
  for (const cell of all(root, "c")) {
    const place = placeOf(cell.getAttribute("r") ?? "");
    const text = value(cell).trim();
    if (!place || text === "") continue;
    if (found.push({ ...place, text }) > mostCells) throw new Error("There are too many cells.");
  }
  const texts = new Map(found.map((cell) => [keyOf(cell), cell.text]));
  for (const merge of all(root, "mergeCell")) {
    const [from, to] = (merge.getAttribute("ref") ?? "").split(":").map(placeOf);
    const text = from && texts.get(keyOf(from));
    if (!from || !to || !text || (to.row - from.row + 1) * (to.column - from.column + 1) > mostCovered) continue;
    if (from.row === to.row) banners.set(keyOf(from), to.column - from.column + 1);
    for (let row = from.row; row <= to.row; row++) {
      for (let column = from.column; column <= to.column; column++) {
        if (row !== from.row || column !== from.column) found.push({ row, column, text });
      }
    }
  }
  found.sort((one, other) => one.row - other.row || one.column - other.column);
  return { cells: new Map(found.map((cell) => [keyOf(cell), cell.text])), banners };
}

const keyOf = ({ row, column }: { row: number; column: number }) => `${row},${column}`;

function cellValue(cell: Element, strings: string[], isDate: boolean[], starts1904: boolean): string {
  const type = cell.getAttribute("t");
  const stored = all(cell, "v")[0]?.textContent ?? "";
  if (type === "s") return literal(strings[Number(stored)] ?? "");
  if (type === "inlineStr") return literal(textOf(cell));
  if (type === "b") return stored === "1" ? "TRUE" : "FALSE";
  if (type === "str" || type === "e" || type === "d" || stored === "") return literal(stored);
  if (isDate[Number(cell.getAttribute("s") ?? 0)]) return dateOf(Number(stored), starts1904);
  // As a person sees it, without binary rounding noise.
  return Number.isFinite(Number(stored)) ? String(Number(Number(stored).toPrecision(15))) : literal(stored);
}

/** Days since the workbook's epoch. The 1900 epoch includes a 29 February that did not exist. */
function dateOf(days: number, starts1904: boolean): string {
  const epoch = starts1904 ? Date.UTC(1904, 0, 1) : Date.UTC(1899, 11, days < 60 ? 31 : 30);
  const date = new Date(epoch + Math.round(days * 86_400) * 1000);
  if (Number.isNaN(date.getTime())) return String(days);
  const text = date.toISOString();
  if (days > 0 && days < 1) return text.slice(11, 19);
  return Number.isInteger(days) ? text.slice(0, 10) : text.slice(0, 19).replace("T", " ");
}

function dateStyles(styles: Element | null): boolean[] {
  const own = new Map(
    all(styles, "numFmt").map((one) => [one.getAttribute("numFmtId"), one.getAttribute("formatCode")]),
  );
  return all(all(styles, "cellXfs")[0] ?? null, "xf").map((style) => {
    const id = Number(style.getAttribute("numFmtId"));
    const code = (own.get(String(id)) ?? "").replace(/"[^"]*"|\[[^\]]*\]|\\./g, "");
    return (id >= 14 && id <= 22) || (id >= 45 && id <= 47) || /[ymdhs]/i.test(code);
  });
}

function readComments(bytes: Buffer, sheetPath: string): string[] {
  const rels = sheetPath.replace(/([^/]+)$/, "_rels/$1.rels");
  const path = relations(bytes, rels).find((link) => link.type.endsWith("/comments"))?.path;
  const root = path ? parsePart(bytes, path) : null;
  const authors = all(root, "author").map((author) => author.textContent ?? "");
  return all(root, "comment").map((comment) => {
    const author = authors[Number(comment.getAttribute("authorId"))] ?? "";
    const by = author === "" || author.startsWith("tc=") ? "" : `, ${literal(author)}`;
    return `Comment (${comment.getAttribute("ref")}${by}): ${literal(withoutNotice(textOf(comment)))}`;
  });
}

/** Excel puts a notice for older versions in front of threaded comments. */
const withoutNotice = (text: string) =>
  text
    .replace(/^\[Threaded comment\][\s\S]*?\bComment:\s*/, "")
    .replace(/\s*\n\s*/g, " ")
    .trim();

function relations(bytes: Buffer, path: string): { id: string; type: string; path: string }[] {
  const folder = path.replace(/_rels\/[^/]+$/, "");
  return all(parsePart(bytes, path), "Relationship").map((link) => {
    const target = link.getAttribute("Target") ?? "";
    const resolved = new URL(target, `file:///${folder}`).pathname.slice(1);
    return { id: link.getAttribute("Id") ?? "", type: link.getAttribute("Type") ?? "", path: resolved };
  });
}

function parsePart(bytes: Buffer, path: string): Element | null {
  const text = readPart(bytes, path).replace(/^\ufeff/, "");
  return text === "" ? null : new DOMParser({ onError: onXmlError }).parseFromString(text, "text/xml").documentElement;
}

function onXmlError(level: string, message: string): void {
  if (level !== "warning") throw new Error(message);
}

const all = (root: Element | null, name: string): Element[] =>
  root ? [...root.getElementsByTagNameNS("*", name)] : [];

/** The text of its runs, without phonetic runs. */
const textOf = (root: Element): string =>
  all(root, "t")
    .filter((run) => (run.parentNode as Element | null)?.localName !== "rPh")
    .map((run) => run.textContent ?? "")
    .join("");

function placeOf(reference: string): { row: number; column: number } | null {
  const [, letters = "", digits = ""] = /^([A-Z]{1,3})(\d{1,7})$/.exec(reference) ?? [];
  if (letters === "") return null;
  const column = [...letters].reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0) - 1;
  return { row: Number(digits) - 1, column };
}

/** Escapes a cell's text: none of its signs are Markdown. */
const literal = (text: string) => text.replace(/[\\`*_[\]<]/g, "\\$&");
