/**
 * CSV as RFC 4180 has it, with `null` told from an empty text as PostgreSQL's COPY does: an empty cell is null, a quoted
 * empty cell is the empty text. A cell holds the text of a value's wire form; arrays, JSON and vectors hold JSON.
 * Next hop: `sql/crud/csv_sql.sql` writes it, `import-batch.ts` reads it.
 */
import type { ColumnDescription } from "../contract/crud.ts";
import { requireShallowJson } from "../http/body.ts";

const holdsJson = ({ kind, isArray }: ColumnDescription) => isArray || kind === "json" || kind === "vector";

/**
 * How svc_hidden.csv_sql() makes the cells of each column.
 *
 * @param spreadsheet whether cells that a spreadsheet would compute begin with an apostrophe
 */
export const cellKinds = (columns: readonly ColumnDescription[], spreadsheet: boolean): string[] =>
  columns.map((column) => {
    if (holdsJson(column)) return "json";
    if (plain.includes(column.kind)) return "plain";
    if (column.kind === "timestamp") return "time";
    const isText = ["enum", "bytes"].includes(column.kind) || ["text", "varchar"].includes(column.castType);
    return `${isText ? "text" : "wire"}${spreadsheet ? "!" : ""}`;
  });

/** Kinds whose texts need no quotes. */
const plain: readonly string[] = ["integer", "bigint", "number", "numeric", "boolean", "uuid"];

/** Properties with other characters are quoted. */
export const csvHeader = (columns: readonly ColumnDescription[]) =>
  `${columns.map(({ property }) => (/^\w+$/.test(property) ? property : `"${property.replaceAll('"', '""')}"`)).join(",")}\r\n`;

/**
 * The cells of one record, without its line end.
 *
 * @returns null for a record that is not CSV: text before or behind a quoted cell
 */
export function csvCells(record: string): (string | null)[] | null {
  const cells: (string | null)[] = [];
  for (let at = 0; ; at++) {
    if (record[at] === '"') {
      let text = "";
      for (;;) {
        const end = record.indexOf('"', at + 1);
        if (end < 0) return null;
        text += record.slice(at + 1, end);
        at = end + 1;
        if (record[at] !== '"') break;
        text += '"';
      }
      cells.push(text);
    } else {
      const comma = record.indexOf(",", at);
      const end = comma < 0 ? record.length : comma;
      const text = record.slice(at, end);
      if (text.includes('"')) return null;
      cells.push(text === "" ? null : text);
      at = end;
    }
    if (at === record.length) return cells;
    if (record[at] !== ",") return null;
  }
}

/** The value that a cell stands for; a cell of another form stays text, which the checks of the column refuse. */
export function cellValue(column: ColumnDescription, text: string): unknown {
  if (holdsJson(column)) return jsonIn(text);
  if (column.kind === "boolean") return booleans.get(text) ?? booleans.get(text.toLowerCase()) ?? text;
  if (column.kind !== "integer" && column.kind !== "number") return text;
  // Number() also reads 0x10.
  return /^\s*[-+.\d]+(e[-+]?\d+)?\s*$/i.test(text) && !Number.isNaN(Number(text)) ? Number(text) : text;
}

const booleans = new Map(Object.entries({ true: true, t: true, false: false, f: false }));

/** @returns for another text no JSON value: the checks of every kind refuse it */
export function jsonIn(text: string): unknown {
  requireShallowJson(text);
  try {
    return JSON.parse(text);
  } catch {
    return notJson;
  }
}
const notJson = Symbol("not JSON");
