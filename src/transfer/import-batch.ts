/**
 * One step of an import: reads some records of the file, checks them as `create` and `upsert` check their input, and
 * writes them as the run's user. Rows that are refused are returned with the reason.
 * Next hop: `sql/crud/import_rows.sql` writes them.
 */
import { sql } from "drizzle-orm";
import pg from "pg";
import type { ColumnDescription, CrudDefinition } from "../contract/crud.ts";
import type { RequestDatabase } from "../contract/database.ts";
import { visibleColumns, writableColumns } from "../crud/crud-definition.ts";
import type { ImportArgs } from "../crud/crud-import.ts";
import { crudValues } from "../crud/crud-input.ts";
import { functionName } from "../crud/crud-text.ts";
import { emptyInput, type Input, isPlain } from "../kit/input-checks.ts";
import { didYouMean } from "../kit/nearest.ts";
import { type Issue, SvcError } from "../kit/svc-error.ts";
import { databaseError } from "../postgres/errors.ts";
import { identityOfUser } from "../postgres/identity.ts";
import { cellValue, csvCells, jsonIn } from "./csv.ts";
import { type FilePlace, readRecords } from "./records.ts";

/** Of one step, in rows and in bytes of the file. */
const batchRows = 1_000;
const batchBytes = 1_048_576;

/** In UTF-16 units: the reasons of a batch must fit a step's result. */
const longestReason = 200;

/** What has been read of a file. */
export interface OpenFile {
  /** In bytes. */
  size: number;
  /** The properties that the cells of CSV belong to; null for NDJSON. */
  header: string[] | null;
  /** Of the first row. */
  place: FilePlace;
}

/** Where the file's bytes come from. */
export type ImportSource = {
  requireOwned(id: string): Promise<{ size: number }>;
  /** @param from in bytes */
  read(id: string, from?: number): Promise<AsyncIterable<Uint8Array>>;
};

/** The line of a row, an error code, and the reason. */
export type Refused = [line: number, code: string, reason: string];

export const refusedHeader = "line,code,reason\r\n";

/** As CSV. */
export const refusedLines = (refused: readonly Refused[]): string =>
  refused.map(([line, code, reason]) => `${line},${code},"${reason.replaceAll('"', '""')}"\r\n`).join("");

export interface BatchResult {
  /** Behind the batch. */
  place: FilePlace;
  written: number;
  refused: Refused[];
}

/** @throws SvcError NOT_FOUND for a file that is gone; BAD_REQUEST for a header that names other columns */
export async function openFile(crud: CrudDefinition, files: ImportSource, args: ImportArgs): Promise<OpenFile> {
  const { size } = await files.requireOwned(args.storageId);
  const place = { offset: 0, line: 1 };
  if (args.format === "ndjson") return { size, header: null, place };
  let header: string[] | undefined;
  await readRecords(await files.read(args.storageId), place, true, ({ text, openQuote }) => {
    if (openQuote !== null) throw unclosed(openQuote);
    if (text === null) throw notUtf8();
    header = headerOf(crud, text);
    return false;
  });
  if (header) return { size, header, place };
  throw new SvcError("BAD_REQUEST", "The file is empty. The first line of CSV names the columns.");
}

/** @throws SvcError BAD_REQUEST for other names than those of columns that the caller sees, each once */
export function headerOf(crud: CrudDefinition, text: string): string[] {
  const names = (csvCells(text) ?? []).map((cell) => cell ?? "");
  const wrong = wrongHeader(crud, names);
  if (wrong === undefined) return names;
  throw new SvcError("BAD_REQUEST", `The first line ${wrong}`, {
    hint: `It names columns, such as ${writableColumns(crud)
      .map(({ property }) => property)
      .join(",")}.`,
  });
}

function wrongHeader(crud: CrudDefinition, names: string[]): string | undefined {
  if (names.length === 0) return "is not CSV.";
  // Spreadsheets write it where a comma stands in numbers.
  const other = names.length === 1 ? /[;\t]/.exec(names[0] ?? "")?.[0] : undefined;
  if (other) return `separates columns by ${other === ";" ? "semicolons" : "tabs"}, and CSV by commas.`;
  const empty = names.indexOf("");
  if (empty >= 0) return `has an empty cell: cell ${empty + 1}.`;
  const before = new Set<string>();
  const twin = names.find((name) => before.size === before.add(name).size);
  return twin === undefined ? unknownName(crud, names) : `names "${twin}" twice.`;
}

const notUtf8 = () =>
  new SvcError("BAD_REQUEST", "The first line is not UTF-8.", { hint: 'Save the file as "CSV UTF-8".' });

/** Such a record reaches to the end of the file: the rows behind the quote are read as its text. */
const unclosed = (line: number) =>
  new SvcError("BAD_REQUEST", `The quote that opens at line ${line} is not closed: nothing behind it was read.`);

/** Why names are not all columns that the caller sees; a misspelled one would lose its values. */
function unknownName(crud: CrudDefinition, names: string[]): string | undefined {
  const name = names.find((one) => !crud.visible.has(one));
  return name === undefined
    ? undefined
    : `names "${name}", which is not a column. ${didYouMean(name, [...crud.visible])}`;
}

/** Reads and writes the rows from `place` on: as many as fit in a batch. */
export async function importBatch(
  crud: CrudDefinition,
  { files, db }: { files: ImportSource; db: () => RequestDatabase },
  args: ImportArgs,
  { header }: OpenFile,
  from: FilePlace,
): Promise<BatchResult> {
  const place = { ...from };
  const columns = header && columnsOf(crud, header);
  const operation = args.mode === "upsert" ? "upsert" : "create";
  const values = crudValues(crud, operation);
  const refused: Refused[] = [];
  const calls: string[] = [];
  const lines: number[] = [];
  let rows = 0;
  const bytes = await files.read(args.storageId, place.offset);
  await readRecords(bytes, place, header !== null, ({ text, line, openQuote }) => {
    if (text !== "") {
      try {
        if (openQuote !== null) throw unclosed(openQuote);
        const row = rowOf(crud, text, columns);
        const [first, ...others] = values(args.mode === "upsert" ? { by: args.by, row } : row);
        // The arguments are JSON texts, except for the key of an upsert.
        calls.push(others.length > 0 ? `[${JSON.stringify(first)},${others.join(",")}]` : `[${first}]`);
        lines.push(line);
      } catch (error) {
        if (!(error instanceof SvcError)) throw error;
        refused.push(refusal(line, error));
      }
    }
    rows++;
    return rows < batchRows && place.offset - from.offset < batchBytes;
  });
  if (calls.length === 0) return { place, written: 0, refused };
  const written = await write(db(), functionName(crud, operation), calls, lines);
  return { place, written: written.written, refused: [...refused, ...written.refused].sort(([a], [b]) => a - b) };
}

/** @throws SvcError BAD_REQUEST where a release has renamed or removed a column since the file was opened */
const columnsOf = (crud: CrudDefinition, header: string[]) => {
  const wrong = unknownName(crud, header);
  if (wrong !== undefined) throw new SvcError("BAD_REQUEST", `The first line ${wrong}`);
  const known = new Map(visibleColumns(crud).map((column) => [column.property, column]));
  return header.map((name) => known.get(name) as ColumnDescription);
};

/** @throws SvcError BAD_REQUEST for a record that is not a row */
function rowOf(crud: CrudDefinition, text: string | null, columns: ColumnDescription[] | null): Input {
  if (text === null) throw new SvcError("BAD_REQUEST", "It is not UTF-8.");
  if (!columns) {
    const row = jsonIn(text);
    if (!isPlain(row)) throw new SvcError("BAD_REQUEST", "It is not a JSON object.");
    const wrong = unknownName(crud, Object.keys(row));
    if (wrong !== undefined) throw new SvcError("BAD_REQUEST", `It ${wrong}`);
    return row;
  }
  const cells = csvCells(text);
  if (!cells) throw new SvcError("BAD_REQUEST", "It is not CSV: a quote stands inside a cell.");
  if (cells.length !== columns.length) {
    throw new SvcError("BAD_REQUEST", `It has ${cells.length} cells, and the first line has ${columns.length}.`);
  }
  const row = emptyInput();
  for (let index = 0; index < columns.length; index++) {
    const column = columns[index] as ColumnDescription;
    const cell = cells[index] ?? null;
    // An empty cell of a column that takes no null leaves the value to the column's default.
    if (cell !== null) row[column.property] = cellValue(column, cell);
    else if (!column.notNull) row[column.property] = null;
  }
  return row;
}

interface Written {
  written: number;
  refused: { index: number; state: string; message: string; detail: string }[];
}

async function write(db: RequestDatabase, operation: string, calls: string[], lines: number[]) {
  const json = `[${calls.join(",")}]`;
  // A request's database has no execute(): this calls the function for one row.
  const call = sql<Written>`svc.import_rows(${operation}, ${json}::jsonb)`;
  const [answer] = await db.select({ it: call }).from(sql`(select) as one`);
  const { written, refused } = answer?.it ?? { written: 0, refused: [] };
  return {
    written,
    refused: refused.map(({ index, state, message, detail }): Refused => {
      // A syntax error is of a value: 22P02 says so.
      const code = state === "42601" ? "22P02" : state;
      const error = Object.assign(new pg.DatabaseError(message, 0, "error"), { code, detail });
      return refusal(lines[index] ?? 0, databaseError(error, identityOfUser("")));
    }),
  };
}

function refusal(line: number, { code, message, issues }: SvcError): Refused {
  const reason = (issues?.map(said).join("; ") ?? message).slice(0, longestReason);
  return [line, code, reason.toWellFormed().replaceAll(/\p{Cc}/gu, " ")];
}

const said = ({ path, message }: Issue) => `${path.filter((part) => part !== "row").join(".")} ${message}`.trim();
