/**
 * Every row of a resource that a caller may see, as text, in pieces of about 256 KiB: one read-only transaction and one
 * snapshot. Memory does not depend on the number of rows.
 * Next hop: `sql/crud/open_export.sql`; `src/server/export.ts` sends the pieces.
 */
import type { ColumnDescription, CrudDefinition } from "../contract/crud.ts";
import { toFilterJson } from "../crud/crud-filters.ts";
import { listArguments } from "../crud/crud-list.ts";
import { checkExact } from "../crud/many-arguments.ts";
import { check, type Input } from "../kit/input-checks.ts";
import type { RequestTransaction } from "../postgres/transaction.ts";
import { csvHeader, csvLine } from "./csv.ts";

export const formats = ["csv", "ndjson"] as const;
export type Format = (typeof formats)[number];

export const isFormat = (text: unknown): text is Format => formats.includes(text as Format);

/** The media types of files. */
export const mediaTypes: Record<Format, string> = {
  csv: "text/csv; charset=utf-8; header=present",
  ndjson: "application/x-ndjson; charset=utf-8",
};

/** In characters. */
const pieceLength = 262_144;

export interface ExportOptions {
  format: Format;
  /** Of the list: filters, search, orderBy, orderDir. */
  args: Input;
  /** CSV for spreadsheets: cells that they would compute begin with an apostrophe. */
  spreadsheet: boolean;
}

/** The columns of an export, in the order of their declaration. */
export const exportedColumns = ({ columns, visible }: CrudDefinition): ColumnDescription[] =>
  columns.filter(({ property }) => visible.has(property));

/** What a list would ignore is refused, for less conditions export more rows. */
function exportArguments(crud: CrudDefinition, { filters, ...others }: Input): object {
  return check((issues) => {
    if (filters !== undefined) checkExact(crud, filters, issues);
    if (others.search !== undefined && crud.searchFields.length === 0) {
      issues.push({ path: ["search"], message: "is not offered: this resource has no searchFields" });
    }
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
  const columns = exportedColumns(crud);
  return pieces();

  async function* pieces(): AsyncGenerator<string, void, undefined> {
    const text = `select svc.open_export(svc_crud.${crud.prefix}_resource() || jsonb_build_object('args', $1::jsonb))`;
    await transaction.query({ name: `svc_export_${crud.prefix}`, text }, [args]);
    let head = options.format === "csv" ? csvHeader(columns) : "";
    for (;;) {
      const read = { name: "svc_read_export", text: "select svc.read_export($1) as lines" };
      const { rows } = await transaction.query(read, [pieceLength]);
      const lines: string | null = rows[0].lines;
      if (lines !== null) yield head + formatted(lines);
      else if (head) yield head;
      if (lines === null) return;
      head = "";
    }
  }

  function formatted(lines: string): string {
    if (options.format === "ndjson") return `${lines}\n`;
    let text = "";
    for (const line of lines.split("\n")) text += csvLine(columns, JSON.parse(line), options.spreadsheet);
    return text;
  }
}
