/**
 * Every row of a resource that a caller may see, as text, in pieces of about 32 KiB: one read-only transaction and one
 * snapshot. PostgreSQL makes the lines, of CSV too, and this process passes them on: it parses nothing, and keeps no piece
 * long enough for V8 to move it to the heap's old part.
 * Next hop: `sql/crud/open_export.sql`; `src/server/export.ts` sends the pieces.
 */
import type { CrudDefinition } from "../contract/crud.ts";
import { visibleColumns } from "../crud/crud-definition.ts";
import { toFilterJson } from "../crud/crud-filters.ts";
import { listArguments } from "../crud/crud-list.ts";
import { checkExact, checkSearch } from "../crud/many-arguments.ts";
import { check, type Input } from "../kit/input-checks.ts";
import { preparedName } from "../postgres/packet.ts";
import type { RequestTransaction } from "../postgres/transaction.ts";
import { cellKinds, csvHeader } from "./csv.ts";

export const formats = ["csv", "ndjson"] as const;
export type Format = (typeof formats)[number];

export const isFormat = (text: unknown): text is Format => formats.includes(text as Format);

export const mediaTypes: Record<Format, string> = {
  csv: "text/csv; charset=utf-8; header=present",
  ndjson: "application/x-ndjson; charset=utf-8",
};

/** In characters. */
const pieceLength = 32_768;

export interface ExportOptions {
  format: Format;
  /** Of the list: filters, search, orderBy, orderDir. */
  args: Input;
  /** CSV for spreadsheets: a byte order mark, and cells that they would compute begin with an apostrophe. */
  spreadsheet: boolean;
}

/** What a list would ignore is refused, for less conditions export more rows. */
function exportArguments(crud: CrudDefinition, { filters, ...others }: Input): object {
  return check((issues) => {
    if (filters !== undefined) checkExact(crud, filters, issues);
    checkSearch(crud, others.search, issues);
    return {
      ...listArguments(crud, others),
      ...(filters !== undefined && { filters: toFilterJson(filters, crud) ?? {} }),
    };
  });
}

/**
 * Checks the arguments, then reads as the transaction's caller. The caller of this ends the transaction.
 *
 * @throws SvcError VALIDATION_FAILED
 */
export function exportRows(crud: CrudDefinition, transaction: RequestTransaction, options: ExportOptions) {
  const args = JSON.stringify(exportArguments(crud, options.args));
  const columns = visibleColumns(crud);
  const isCsv = options.format === "csv";
  return pieces();

  async function* pieces(): AsyncGenerator<string, void, undefined> {
    const given = [args, ...(isCsv ? [JSON.stringify(cellKinds(columns, options.spreadsheet))] : [])];
    const cells = isCsv ? ", 'cells', $2::jsonb" : "";
    const text = `select svc.open_export(svc_crud.${crud.prefix}_resource() || jsonb_build_object('args', $1::jsonb${cells}))`;
    await transaction.query({ name: preparedName(`svc_export_${options.format}_${crud.prefix}`), text }, given);
    // Without the mark Excel reads the file in the code page of its computer: é becomes Ã©.
    const mark = options.spreadsheet ? "\ufeff" : "";
    let head = isCsv ? mark + csvHeader(columns) : "";
    for (;;) {
      const read = { name: "svc_read_export", text: "select svc.read_export($1) as lines" };
      const { rows } = await transaction.query(read, [pieceLength]);
      // Taken out of the driver's result: V8 moves results to the heap's old part with all that they still refer to.
      const lines: string | null = rows.pop().lines;
      if (lines !== null) yield `${head}${lines}\n`;
      else if (head) yield head;
      if (lines === null) return;
      head = "";
    }
  }
}
